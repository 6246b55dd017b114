import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readBounded } from '../../../../src/core/lib/read-bounded.ts';

const body = (...chunks: Uint8Array[]) => Readable.from(chunks);

test('a character that is in two chunks is read whole', async () => {
  const bytes = Buffer.from('{"title":"Käse"}');
  const half = bytes.indexOf('ä') + 1;
  expect(await readBounded(body(bytes.subarray(0, half), bytes.subarray(half)), 100)).toBe('{"title":"Käse"}');
});

test('a body of as many bytes as are allowed is read, and no byte more', async () => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.from('x');
    })(),
  );
  expect(await readBounded(body(Buffer.from('four')), 4)).toBe('four');
  await expect(readBounded(endless, 4)).rejects.toThrow('more than 4 bytes');
  expect(endless.destroyed).toBe(true);
});
