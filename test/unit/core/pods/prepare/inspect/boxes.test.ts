import { expect, test } from 'vitest';
import { listBoxTypes, readBox } from '../../../../../../src/core/pods/prepare/inspect/boxes.ts';

const header = (size: number, type: string) => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(size, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
};

test('a box has a short size, a long one, or reaches to the end', () => {
  expect(readBox(header(24, 'ftyp'))).toEqual({ type: 'ftyp', sizeBytes: 24, headerBytes: 8 });
  const long = header(1, 'mdat');
  long.writeBigUInt64BE(5_000_000_000n, 8);
  expect(readBox(long)).toEqual({ type: 'mdat', sizeBytes: 5_000_000_000, headerBytes: 16 });
  expect(readBox(header(0, 'mdat'))).toEqual({ type: 'mdat', sizeBytes: undefined, headerBytes: 8 });
});

test.each([
  ['a size smaller than the header', header(7, 'mdat')],
  ['a long size that is smaller', header(1, 'mdat')],
  ['less than a header', Buffer.alloc(7)],
  ['half of a long header', header(1, 'mdat').subarray(0, 12)],
])('%s is no box', (_, bytes) => {
  expect(readBox(bytes)).toBeUndefined();
});

test('the boxes in a box are listed up to the first that is none', () => {
  const box = (type: string) => header(16, type);
  expect(listBoxTypes(Buffer.concat([box('mvhd'), box('trak'), box('mvex')]))).toEqual(['mvhd', 'trak', 'mvex']);
  expect(listBoxTypes(Buffer.concat([box('mvhd'), header(3, 'trak'), box('mvex')]))).toEqual(['mvhd']);
});
