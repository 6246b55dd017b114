import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VerifiedChunks } from '../../../../../src/media/streamer/tracks/verified-chunks.ts';

const chunk = fc.record({ key: fc.nat(2000).map(String), version: fc.constantFrom('a', 'b') });

test('the last thousand chunks are known in the version that was verified, and no other version is', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 3000, size: 'max' }), (added) => {
      const verified = new VerifiedChunks();
      for (const { key, version } of added) verified.add(key, version);
      const last = new Map(added.slice(-1000).map(({ key, version }) => [key, version]));
      const wrong = [...last].filter(
        ([key, version]) => !verified.has(key, version) || verified.has(key, version === 'a' ? 'b' : 'a'),
      );
      expect(wrong).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('memory does not grow with the length of a list', () => {
  const verified = new VerifiedChunks();
  const keys = Array.from({ length: 10_000 }, (_, n) => `chunk-${n}`);
  for (const key of keys) verified.add(key, 'a');
  expect(keys.filter((key) => verified.has(key, 'a')).length).toBeLessThan(2000);
});
