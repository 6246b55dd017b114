/** Plays hours of watched streams: the judge raises no false alarm, and finds each fault in time. */
import { describe, expect, test } from 'vitest';
import { LONG_SERIES } from '../../../../kit/film/long-series.ts';
import { CHANGES, makeFilm, makeRandom } from '../../../../kit/film/synthetic.ts';
import { playSeries, type Series, type Shown } from '../../../../kit/film/watch-series.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const movie = makeFilm(11);
const otherMovie = makeFilm(12);
const black = new Uint8Array(576).fill(16);

const falses = (series: Series) => playSeries(series).changes.filter(({ verdict }) => verdict.status === 'False');

/** The same in eight hours: `make bench-watch`. */
test.each(Object.entries(LONG_SERIES))('raises no false alarm: %s', (_, series) => {
  expect(falses({ lengthMs: 40 * MINUTE, ...series })).toEqual([]);
});

describe('says True of a film that viewers get', () => {
  test.each(Object.entries(CHANGES))('with change: %s', (_, change) => {
    const { changes, shares } = playSeries({ lengthMs: HOUR, film: movie.at, change });
    expect(changes.map(({ verdict }) => verdict.status)).toEqual(['Unknown', 'True']);
    expect(shares.True).toBeGreaterThan(0.98);
  });

  test('and decodes a segment every eight seconds', () => {
    const { samples } = playSeries({ lengthMs: HOUR, film: movie.at });
    expect(samples).toBeLessThan(500);
  });
});

const FAULTS: Record<string, { shown: (sinceMs: number) => Shown; reason: string; withinMs?: number }> = {
  'a frozen picture': { shown: (sinceMs) => ({ kind: 'picture', at: () => movie.at(sinceMs) }), reason: 'frozen' },
  'a black picture': { shown: () => ({ kind: 'picture', at: () => black }), reason: 'black' },
  'a stolen name': { shown: () => ({ kind: 'picture', at: otherMovie.at }), reason: 'other_picture' },
  'a stolen name, whose times begin anew': {
    shown: (sinceMs) => ({ kind: 'picture', at: otherMovie.at, ptsBackMs: sinceMs - 20_000 }),
    reason: 'other_picture',
  },
  'old segments in a loop': {
    shown: (sinceMs) => ({ kind: 'old', fromMs: sinceMs - 40_000, lengthMs: 20_000, isRenamed: false }),
    reason: 'old_segments',
  },
  'old segments in a loop under new names': {
    shown: (sinceMs) => ({ kind: 'old', fromMs: sinceMs - 40_000, lengthMs: 12_000, isRenamed: true }),
    reason: 'old_segments',
    // Only the bytes tell, once three of them have come again.
    withinMs: 36_000,
  },
  'a playlist that stops': { shown: (sinceMs) => ({ kind: 'stopped', sinceMs }), reason: 'not_advancing' },
  'a playlist that ends': { shown: () => ({ kind: 'ended' }), reason: 'broadcast_ended' },
  'no playlist': { shown: () => ({ kind: 'fault', fault: 'address_not_found' }), reason: 'address_not_found' },
  'a page instead of the playlist': { shown: () => ({ kind: 'fault', fault: 'not_media' }), reason: 'no_playlist' },
  'a server that fails': { shown: () => ({ kind: 'fault', fault: 'server_failing' }), reason: 'server_failing' },
  'no segments': { shown: () => ({ kind: 'sample', fault: 'segments_missing' }), reason: 'segments_missing' },
  'broken segments': { shown: () => ({ kind: 'sample', fault: 'not_decodable' }), reason: 'not_decodable' },
};

describe('finds in time after it appears at the server, and names once', () => {
  const since = Array.from({ length: 5 }, (_, index) => 10 * MINUTE + Math.round(makeRandom(index)() * 10 * MINUTE));

  test.each(Object.entries(FAULTS))('%s', (_, { shown, reason, withinMs = 30_000 }) => {
    const results = since.map((sinceMs) => {
      const untilMs = sinceMs + 5 * MINUTE;
      const { changes } = playSeries({
        lengthMs: 27 * MINUTE,
        film: movie.at,
        shown: (timeMs) => (timeMs >= sinceMs && timeMs < untilMs ? shown(sinceMs) : { kind: 'ours' }),
      });
      const [found, ...rest] = changes.filter(({ atMs }) => atMs > sinceMs);
      const recovered = rest.find(({ atMs, verdict }) => atMs > untilMs && verdict.status === 'True');
      return {
        verdict: found?.verdict,
        afterMs: (found?.atMs ?? 0) - sinceMs,
        againMs: (recovered?.atMs ?? Number.POSITIVE_INFINITY) - untilMs,
        during: changes.filter(({ atMs }) => atMs > sinceMs && atMs < untilMs).length,
      };
    });
    expect(new Set(results.map(({ verdict }) => `${verdict?.status} ${verdict?.reason}`))).toEqual(
      new Set([`False ${reason}`]),
    );
    expect(Math.max(...results.map(({ afterMs }) => afterMs))).toBeLessThanOrEqual(withinMs);
    expect(Math.max(...results.map(({ againMs }) => againMs))).toBeLessThanOrEqual(90_000);
    expect(Math.max(...results.map(({ during }) => during))).toBe(1);
  });
});
