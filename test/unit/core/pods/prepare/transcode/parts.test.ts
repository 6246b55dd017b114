/** Tests that the bytes of a part are written before their memory is used again. */
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { PartOutput } from '../../../../../../src/core/pods/prepare/transcode/parts.ts';
import { fileHeader } from '../../../../../../src/core/pods/prepare/transcode/rewriter.ts';

test('a call resolves when the bytes of the last one are written, also where it brings none', async () => {
  const disk = Promise.withResolvers<void>();
  const part = { firstFrame: 0, endFrame: 24, firstSound: 0, endSound: 47 };
  const object = { append: vi.fn(() => disk.promise) };
  const output = new PartOutput(object, part, 24);
  const headers = { video: undefined, audio: undefined };
  await output.write(fileHeader(24), headers);
  let isDone = false;
  const next = output.write(Buffer.alloc(0), headers).then(() => {
    isDone = true;
  });
  await setImmediate();
  expect(isDone).toBe(false);
  disk.resolve();
  await next;
  expect(object.append).toHaveBeenCalledWith(fileHeader(24));
});
