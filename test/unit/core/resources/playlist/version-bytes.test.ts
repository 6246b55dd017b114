/** Tests how much the versions of a playlist count, without asking Kubernetes for them. */
import { expect, test } from 'vitest';
import type { Playlist } from '../../../../../src/core/resources/playlist/resource.ts';
import type { PlaylistSpec } from '../../../../../src/core/resources/playlist/spec.ts';
import {
  annotateFirst,
  annotateNext,
  countVersionBytes,
  HISTORY_LIMIT,
  versionBytes,
} from '../../../../../src/core/resources/playlist/version-bytes.ts';

const spec = (items: number): PlaylistSpec => ({
  track: 'video',
  mode: 'sequential',
  items: Array.from({ length: items }, (_, i) => ({ uploadName: `upl-${i}` })),
});
const playlist = (items: number, generation: number, annotations: Record<string, string> = {}): Playlist =>
  ({ metadata: { name: 'p', generation, annotations }, spec: spec(items) }) as unknown as Playlist;

test('versions count with their own size, independent of the playlist’s present one', () => {
  let now = playlist(500, 1, annotateFirst(spec(500)));
  for (let version = 2; version <= 10; version += 1) {
    const { annotations, more } = annotateNext(now, spec(version === 10 ? 0 : 500));
    const before = countVersionBytes(now).total + versionBytes(now.spec);
    now = playlist(version === 10 ? 0 : 500, version, annotations);
    expect(countVersionBytes(now).total + versionBytes(now.spec)).toBe(before + more);
  }
  expect(countVersionBytes(now).total).toBe(9 * versionBytes(spec(500)) + versionBytes(spec(0)));
});

test('the oldest version gives its room back when it is dropped', () => {
  let now = playlist(500, 1, annotateFirst(spec(500)));
  for (let version = 2; version <= HISTORY_LIMIT; version += 1)
    now = playlist(500, version, annotateNext(now, spec(500)).annotations);
  expect(annotateNext(now, spec(500)).more).toBe(0);
  expect(annotateNext(now, spec(0)).more).toBeLessThan(0);
});

test('where nothing says how much is kept, or somebody wrote nonsense, the most that can be is counted', () => {
  for (const annotations of [{}, { 'loopstream.dev/version-bytes': 'none' }])
    expect(countVersionBytes(playlist(500, 90, annotations)).sizes.length).toBe(HISTORY_LIMIT);
});
