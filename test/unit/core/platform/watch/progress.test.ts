/** Follows playlists of servers that advance, stall, restart, or play old segments. */
import { describe, expect, test } from 'vitest';
import {
  followPlaylist,
  followSample,
  isStalled,
  playsOldSegments,
  startProgress,
  type WatchProgress,
} from '../../../../../src/core/platform/watch/progress.ts';

const TARGET_MS = 2_000;
const SEGMENT = {
  range: null,
  durationMs: TARGET_MS,
  programAtMs: null,
  keyAddress: null,
  keyIv: null,
  initAddress: null,
  isProtected: false,
};
type Entry = [sequence: number, name: number, programAtMs?: number];
const look = (progress: WatchProgress, atMs: number, entries: readonly Entry[]) =>
  followPlaylist(
    progress,
    {
      targetMs: TARGET_MS,
      isEnded: false,
      segments: entries.map(([sequence, name, programAtMs]) => ({
        ...SEGMENT,
        sequence,
        address: `http://watch.example/${name}.ts`,
        programAtMs: programAtMs ?? null,
      })),
    },
    atMs,
  );

/** Looks once a target duration for a minute. */
const follow = (entry: (index: number) => Entry, digest?: (index: number) => string) => {
  let progress = startProgress(0);
  const seen = { stalled: false, old: false };
  for (let index = 6; index < 36; index += 1) {
    const atMs = index * TARGET_MS;
    const entries = Array.from({ length: 6 }, (_, back) => entry(index - 5 + back));
    progress = look(progress, atMs, entries);
    if (digest) progress = followSample(progress, { sequence: entries.at(-1)?.[0] ?? 0, digest: digest(index) }, atMs);
    seen.stalled ||= isStalled(progress, atMs);
    seen.old ||= playsOldSegments(progress, atMs);
  }
  return seen;
};

const FINE = { stalled: false, old: false };

describe('is fine with a server that', () => {
  test('numbers its segments', () => expect(follow((index) => [index, index])).toEqual(FINE));
  test('uses few names in turn', () => expect(follow((index) => [index, index % 10], String)).toEqual(FINE));
  test('counts anew after a restart, under the same names', () =>
    expect(follow((index) => [index % 16, index % 16], String)).toEqual(FINE));
  test('sets its clock back', () =>
    expect(follow((index) => [index, index, (index < 20 ? index : index - 10) * TARGET_MS])).toEqual(FINE));
  test('has a cache beside it that is three segments behind', () => {
    let progress = startProgress(0);
    for (let index = 10; index < 60; index += 1) {
      const last = index % 4 === 0 ? index : index - 3;
      progress = look(progress, index * TARGET_MS, [[last, last, last * TARGET_MS]]);
      expect(playsOldSegments(progress, index * TARGET_MS)).toBe(false);
      expect(isStalled(progress, index * TARGET_MS)).toBe(false);
    }
  });
  test('shows one filler twice', () =>
    expect(
      follow(
        (index) => [index, index],
        (index) => (index === 20 || index === 21 ? 'filler' : String(index)),
      ),
    ).toEqual(FINE));
});

describe('finds a server that', () => {
  test('stands still', () => expect(follow(() => [1, 1]).stalled).toBe(true));
  test('lists nothing', () => {
    expect(isStalled(look(startProgress(0), 20_000, []), 20_000)).toBe(true);
  });
  test('plays old segments in turn under their numbers', () =>
    expect(follow((index) => [index % 8, index % 8, (index % 8) * TARGET_MS]).stalled).toBe(true));
  test('numbers old segments anew', () =>
    expect(follow((index) => [index, index % 8, (index % 8) * TARGET_MS]).old).toBe(true));
  test('gives old bytes new names', () =>
    expect(
      follow(
        (index) => [index, index],
        (index) => String(index % 8),
      ).old,
    ).toBe(true));
});

test('however long the addresses of a playlist are, little of them is remembered', () => {
  const long = followPlaylist(
    startProgress(0),
    {
      targetMs: TARGET_MS,
      isEnded: false,
      segments: [{ ...SEGMENT, sequence: 1, address: `http://watch.example/${'a'.repeat(8_000)}` }],
    },
    TARGET_MS,
  );
  for (const key of [...long.entries.keys(), ...long.segments.keys()]) expect(key.length).toBeLessThan(100);
});
