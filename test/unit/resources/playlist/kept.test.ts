/** Tests how much the versions of a playlist count, without asking Kubernetes for them. */
import { expect, test } from 'vitest';
import {
  HISTORY_LIMIT,
  keepingFirst,
  keepingNext,
  keptBytes,
  versionBytes,
} from '../../../../src/resources/playlist/kept.ts';
import type { Playlist } from '../../../../src/resources/playlist/resource.ts';
import type { PlaylistSpec } from '../../../../src/resources/playlist/spec.ts';

const spec = (items: number): PlaylistSpec => ({
  kind: 'video',
  mode: 'sequential',
  items: Array.from({ length: items }, (_, i) => ({ uploadRef: `upl-${i}` })),
});
const playlist = (items: number, generation: number, annotations: Record<string, string> = {}): Playlist =>
  ({ metadata: { name: 'p', generation, annotations }, spec: spec(items) }) as unknown as Playlist;

test('versions count with their own size, independent of the playlist’s present one', () => {
  let now = playlist(500, 1, keepingFirst(spec(500)));
  for (let version = 2; version <= 10; version += 1) {
    const { annotations, more } = keepingNext(now, spec(version === 10 ? 0 : 500));
    const before = keptBytes(now).total + versionBytes(now.spec);
    now = playlist(version === 10 ? 0 : 500, version, annotations);
    expect(keptBytes(now).total + versionBytes(now.spec)).toBe(before + more);
  }
  expect(keptBytes(now).total).toBe(9 * versionBytes(spec(500)) + versionBytes(spec(0)));
});

test('the oldest version gives its room back when it is dropped', () => {
  let now = playlist(500, 1, keepingFirst(spec(500)));
  for (let version = 2; version <= HISTORY_LIMIT; version += 1)
    now = playlist(500, version, keepingNext(now, spec(500)).annotations);
  expect(keepingNext(now, spec(500)).more).toBe(0);
  expect(keepingNext(now, spec(0)).more).toBeLessThan(0);
});

test('where nothing says how much is kept, or somebody wrote nonsense, the most that can be is counted', () => {
  for (const annotations of [{}, { 'loopstream.dev/version-bytes': 'none' }])
    expect(keptBytes(playlist(500, 90, annotations)).sizes.length).toBe(HISTORY_LIMIT);
});
