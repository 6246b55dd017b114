/** A state that cannot be told is Unknown: never True, and never False. */
import { describe, expect, test } from 'vitest';
import {
  type FetchFault,
  planNext,
  startWatch,
  takeLook,
  type WatchLook,
} from '../../../../../src/core/platform/watch/verdict.ts';
import { makeFilm } from '../../../../kit/film/synthetic.ts';
import { playSeries } from '../../../../kit/film/watch-series.ts';

const MINUTE = 60_000;
const movie = makeFilm(21);
const otherMovie = makeFilm(22);
const slate = makeFilm(23).at(0);

const last = (played: ReturnType<typeof playSeries>) => played.changes.at(-1)?.verdict;

describe('an address that says nothing of viewers stays Unknown', () => {
  test.each([
    'unauthorized',
    'forbidden_address',
    'unreachable',
    'rate_limited',
    'playlist_too_large',
    'no_picture',
    'not_media',
  ] satisfies FetchFault[])('%s', (fault) => {
    const { changes, shares } = playSeries({
      lengthMs: 20 * MINUTE,
      film: movie.at,
      shown: () => ({ kind: 'fault', fault }),
    });
    expect(changes.at(-1)?.verdict).toEqual({ status: 'Unknown', reason: fault });
    expect(shares.Unknown).toBeCloseTo(1);
  });

  test('encrypted media that advance', () => {
    const played = { status: 'Unknown', reason: 'protected' };
    let state = startWatch(0);
    for (let atMs = 0; atMs < 10 * MINUTE; atMs += 4_000) state = takeLook(state, protectedLook(atMs));
    expect(state.verdict).toEqual(played);
  });

  test('a film of ours that cannot be seen', () => {
    expect(last(playSeries({ lengthMs: 20 * MINUTE, film: movie.at, hasOwnPictures: false }))).toEqual({
      status: 'Unknown',
      reason: 'no_own_picture',
    });
  });
});

const protectedLook = (atMs: number): WatchLook => ({
  atMs,
  publishingSinceMs: 0,
  read: {
    kind: 'media',
    playlist: {
      targetMs: 4_000,
      isEnded: false,
      segments: [
        {
          sequence: atMs / 4_000,
          address: `http://watch.example/${atMs}.ts`,
          range: null,
          durationMs: 4_000,
          programAtMs: null,
          keyAddress: null,
          keyIv: null,
          initAddress: null,
          isProtected: true,
        },
      ],
    },
  },
  sample: null,
  ours: [],
});

test('a still of ours never makes another picture False, and never True', () => {
  const { shares } = playSeries({
    lengthMs: 6 * MINUTE,
    film: () => slate,
    shown: () => ({ kind: 'picture', at: otherMovie.at }),
  });
  expect(shares).toEqual({ True: 0, False: 0, Unknown: expect.closeTo(1) });
});

test('a film that never was ours is another picture once a delay of minutes can be excluded', () => {
  const { changes } = playSeries({
    lengthMs: 8 * MINUTE,
    film: movie.at,
    shown: () => ({ kind: 'picture', at: otherMovie.at }),
  });
  expect(changes.at(-1)?.verdict).toEqual({ status: 'False', reason: 'other_picture' });
  expect(changes.at(-1)?.atMs).toBeGreaterThan(4 * MINUTE);
  expect(changes.at(-1)?.atMs).toBeLessThan(8 * MINUTE);
});

test('a film of ours of four minutes ago is ours', () => {
  const { changes } = playSeries({ lengthMs: 7 * MINUTE, film: movie.at, delayMs: 4 * MINUTE });
  expect(
    changes.map(({ verdict }) => verdict.status).filter((status, index, all) => status !== all[index - 1]),
  ).toContain('True');
  expect(last({ changes } as ReturnType<typeof playSeries>)).toEqual({ status: 'True', reason: null });
});

test('nothing is said of a stream that is not sent', () => {
  const look: WatchLook = { ...protectedLook(4_000), publishingSinceMs: null };
  expect(takeLook(startWatch(0), look).verdict).toEqual({ status: 'Unknown', reason: 'not_sending' });
});

test('one look with a fault changes nothing', () => {
  for (const fault of [
    'address_not_found',
    'server_failing',
    'not_media',
    'unreachable',
    'unauthorized',
  ] satisfies FetchFault[]) {
    const { changes } = playSeries({
      lengthMs: 10 * MINUTE,
      film: movie.at,
      shown: (timeMs) =>
        timeMs >= 5 * MINUTE && timeMs < 5 * MINUTE + 4_000 ? { kind: 'fault', fault } : { kind: 'ours' },
    });
    expect(changes.map(({ verdict }) => verdict.status)).toEqual(expect.not.arrayContaining(['False']));
    expect(changes.at(-1)?.verdict.status).toBe('True');
    expect(changes.filter(({ atMs }) => atMs >= 5 * MINUTE)).toEqual([]);
  }
});

describe('without a playlist, samples alone tell of progress', () => {
  /** Plays HTTP-FLV, which takes some seconds for each sample. */
  function play(lengthMs: number, isSilentFromMs = Number.POSITIVE_INFINITY) {
    let state = startWatch(0);
    let [wantsSample, samples] = [true, 0];
    const words = new Set<string>();
    let sentUntilMs = 0;
    for (let atMs = 0; atMs < lengthMs; ) {
      const isSilent = atMs >= isSilentFromMs;
      if (wantsSample) atMs += isSilent ? 12_000 : 5_000;
      const ours = [];
      for (; sentUntilMs <= atMs; sentUntilMs += 2_000) ours.push({ atMs: sentUntilMs, luma: movie.at(sentUntilMs) });
      const newestMs = Math.floor(atMs / 2_000) * 2_000;
      const pictures = [newestMs - 2_000, newestMs].map((ptsMs) => ({ ptsMs, luma: movie.at(ptsMs) }));
      const sample = { kind: 'media' as const, sequence: newestMs, digest: String(newestMs), pictures };
      state = takeLook(state, {
        atMs,
        publishingSinceMs: -1_000_000,
        read: { kind: 'play', ...(wantsSample && isSilent && { isSilent }) },
        sample: wantsSample && !isSilent ? sample : null,
        ours,
      });
      if (wantsSample) samples += 1;
      words.add([state.verdict.status, state.verdict.reason].join(' '));
      const plan = planNext(state, atMs);
      wantsSample = plan.sample;
      atMs += plan.inMs;
    }
    return { words, samples };
  }

  test('and no look between them is a fault, or a reason to look more often', () => {
    const { words, samples } = play(30 * MINUTE);
    expect([...words].filter((word) => !word.startsWith('Unknown'))).toEqual(['True ']);
    expect(samples).toBeLessThan((30 * 60) / 10);
  });

  test('until none comes any more', () => {
    expect([...play(12 * MINUTE, 10 * MINUTE).words]).toContain('False not_advancing');
  });
});
