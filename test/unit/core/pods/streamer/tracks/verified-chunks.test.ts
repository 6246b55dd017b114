import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VerifiedChunks } from '../../../../../../src/core/pods/streamer/tracks/verified-chunks.ts';

const chunk = fc.record({ key: fc.nat(4000).map(String), version: fc.constantFrom('a', 'b') });

test('the last two thousand chunks are known in the version that was verified, and no other version is', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 5000, size: 'max' }), (added) => {
      const verified = new VerifiedChunks();
      for (const { key, version } of added) verified.add(key, version, 0);
      const last = new Map(added.slice(-2000).map(({ key, version }) => [key, version]));
      const wrong = [...last].filter(
        ([key, version]) => !verified.has(key, version, 1000) || verified.has(key, version === 'a' ? 'b' : 'a', 1000),
      );
      expect(wrong).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('memory does not grow with the length of a list', () => {
  const verified = new VerifiedChunks();
  const keys = Array.from({ length: 10_000 }, (_, n) => `chunk-${n}`);
  for (const key of keys) verified.add(key, 'a', 0);
  expect(keys.filter((key) => verified.has(key, 'a', 0)).length).toBeLessThan(3000);
});

test('a chunk is verified again after an hour, since a disk may rot', () => {
  const verified = new VerifiedChunks();
  verified.add('chunk', 'a', 0);
  expect(verified.has('chunk', 'a', 3_599_000)).toBe(true);
  expect(verified.has('chunk', 'a', 3_601_000)).toBe(false);
  verified.add('chunk', 'a', 3_601_000);
  expect(verified.has('chunk', 'a', 3_602_000)).toBe(true);
});
