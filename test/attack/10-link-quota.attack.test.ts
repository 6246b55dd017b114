/**
 * Attacks storage with links of unknown size, and with long media of few bytes. The operator decides by the account's uploads alone, so
 * that no order of events, and no number of imports at once, exceeds the quota.
 */
import { expect, test } from 'vitest';
import { grantRoom } from '../../src/core/operator/upload/storage-grant.ts';
import type { Upload } from '../../src/core/resources/upload/resource.ts';
import { computePreparedBytes } from '../../src/core/resources/upload/size.ts';

const GIBI = 2 ** 30;
const MAX_SOURCE = 20 * GIBI;
const QUOTA = 2 ** 40;

const link = (n: number, more: Partial<Upload['spec']> = {}): Upload =>
  ({
    metadata: {
      name: `upl-${String(n).padStart(5, '0')}`,
      uid: `uid-${n}`,
      // Several uploads share a second, as a flood of requests makes them.
      creationTimestamp: new Date(Math.floor(n / 10) * 1000).toISOString(),
    },
    spec: { track: 'video', source: { url: 'https://example.com/a.mp4' }, accountMaxBytes: QUOTA, ...more },
  }) as unknown as Upload;
const come = (upload: Upload, sizeBytes: number): Upload => ({
  ...upload,
  status: { ...upload.status, media: { sha256: '0'.repeat(64), sizeBytes, durationSeconds: 1 } },
});
const stored = (all: readonly Upload[]) => all.reduce((sum, { status }) => sum + (status?.media?.sizeBytes ?? 0), 0);

/** Starts imports whenever they may run, in any order; each brings its full grant. Returns the number of refused ones. */
function importAll(all: Upload[], atOnce: number, random: () => number): number {
  const running = new Map<number, number>();
  const waiting = new Set(all.keys());
  let refused = 0;
  while (waiting.size > 0 || running.size > 0) {
    const seen = [...all];
    for (const i of [...waiting].sort(() => random() - 0.5)) {
      if (running.size >= atOnce) break;
      const grant = grantRoom(all[i] as Upload, seen, MAX_SOURCE);
      if (grant === 'wait') continue;
      waiting.delete(i);
      if (grant === 'full') {
        refused += 1;
        all[i] = { ...(all[i] as Upload), status: { error: { code: 'storage_full', message: 'No room.' } } };
      } else running.set(i, grant.maxBytes ?? MAX_SOURCE);
    }
    const ready = [...running].filter(() => random() < 0.5);
    for (const [i, bytes] of ready.length > 0 ? ready : [...running].slice(0, 1)) {
      running.delete(i);
      all[i] = come(all[i] as Upload, bytes);
    }
  }
  return refused;
}

/** mulberry32: the same numbers in each run. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

test.each([1, 4, 50])(
  'of 300 queued links that each bring all they may, %i at once, no byte is kept beyond the quota',
  (atOnce) => {
    for (let seed = 1; seed <= 2; seed += 1) {
      const all = Array.from({ length: 300 }, (_, n) => link(n));
      const refused = importAll(all, atOnce, randoms(seed));
      expect(stored(all)).toBe(QUOTA);
      // The earlier rule allowed 300 × 20 GiB = 6000 GiB against a quota of 1024 GiB.
      expect(refused).toBe(300 - Math.ceil(QUOTA / MAX_SOURCE));
    }
  },
);

test('one large import is not refused because others wait, and small ones all come', () => {
  const all = Array.from({ length: 1000 }, (_, n) => link(n));
  expect(grantRoom(all[0] as Upload, all, MAX_SOURCE)).toEqual({});
  // Each is 100 MiB in truth: as one ends, the next has room, until all have come.
  for (let i = 0; i < all.length; i += 1) {
    expect(grantRoom(all[i] as Upload, all, MAX_SOURCE), String(i)).toEqual({});
    all[i] = come(all[i] as Upload, 100 * 2 ** 20);
  }
});

test('a client’s upload counts from its beginning, so that a queued link cannot have the same room', () => {
  const sent = link(0, { source: { sent: { sizeBytes: QUOTA - GIBI, receivedBytes: 0 } } });
  const first = link(1);
  expect(grantRoom(first, [sent, first], MAX_SOURCE)).toEqual({ maxBytes: GIBI });
  const full = link(0, { source: { sent: { sizeBytes: QUOTA, receivedBytes: 0 } } });
  expect(grantRoom(first, [full, first], MAX_SOURCE)).toBe('full');
});

test('uploads of kubectl, which belong to no account, are not limited', () => {
  const { accountMaxBytes: _, ...spec } = link(0).spec;
  expect(grantRoom({ ...link(0), spec }, [], MAX_SOURCE)).toEqual({});
});

test('prepared media counts with its own bytes, independent of its source', () => {
  const renditions = [
    { profile: '2160p60', state: 'ready' as const, durationSeconds: 3600, bitrateKbps: 40_000 },
    { profile: '720p30', state: 'pending' as const },
  ];
  expect(computePreparedBytes({ status: { renditions } })).toBe(18_000_000_000);
});
