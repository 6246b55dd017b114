/** Compares sequences of pictures of films that are the same, changed, or others. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareSequences,
  isStill,
  movesThroughout,
  showsThroughout,
} from '../../../../../src/core/platform/watch/alignment.ts';
import { CHANGES, type Film, makeFilm } from '../../../../kit/film/synthetic.ts';

const films = Array.from({ length: 8 }, (_, index) => makeFilm(100 + index));
const [film] = films as [Film];
const GOP_MS = 2_000;
const take = (source: Film, fromMs: number, count: number, shiftMs = 0, change = (luma: Uint8Array) => luma) =>
  Array.from({ length: count }, (_, index) => ({
    atMs: fromMs + index * GOP_MS + shiftMs,
    luma: change(source.at(fromMs + index * GOP_MS)),
  }));

const starts = fc.integer({ min: 0, max: 250 }).map((index) => index * GOP_MS);
const sameAs = (delayMs: number, startMs: number, change: (luma: Uint8Array) => Uint8Array, phaseMs = 0) => {
  const found = compareSequences(
    take(film, startMs + 90_000 - delayMs - 12_000 + phaseMs, 6, delayMs, change),
    take(film, startMs, 46),
    null,
  );
  return found.kind === 'same' ? found.share : found.kind;
};

describe('finds our film at any delay', () => {
  test.each(Object.entries(CHANGES).filter(([name]) => name !== 'cutSquare'))('after %s', (_, change) => {
    fc.assert(
      fc.property(starts, fc.integer({ min: 0, max: 70 }), (startMs, seconds) => {
        expect(sameAs(seconds * 1_000, startMs, change)).toBeGreaterThanOrEqual(0.6);
      }),
      { numRuns: 15 },
    );
  });
});

test('six pictures of another film are told from ours four times of five', () => {
  const kinds = Array.from({ length: 40 }, (_, index) => {
    const [ours, other] = [films[index % 8] ?? film, films[(index + 1 + (index % 6)) % 8] ?? film];
    return compareSequences(take(other, index * 11_000, 6, 10_000), take(ours, index * 11_000 - 80_000, 46), null).kind;
  });
  expect(kinds.filter((kind) => kind === 'other').length).toBeGreaterThanOrEqual(32);
});

test('flat pictures and few of them prove nothing', () => {
  const black = { at: () => new Uint8Array(576).fill(16), lengthMs: 1 };
  expect(compareSequences(take(black, 0, 6), take(film, 0, 46), null).kind).toBe('unclear');
  expect(compareSequences(take(film, 0, 4), take(film, 0, 46), null).kind).toBe('unclear');
  expect(compareSequences(take(film, 0, 6), [], null).kind).toBe('unclear');
});

test('a still that is encoded again stands still, and a film does not', () => {
  const still = { at: () => film.at(0), lengthMs: 1 };
  expect(isStill(take(still, 0, 6))).toBe(true);
  expect(isStill(take(film, 0, 6))).toBe(false);
});

test('ours moves only if every part of it does', () => {
  const withStill: Film = {
    lengthMs: 1,
    at: (timeMs) => film.at(timeMs > 20_000 && timeMs < 40_000 ? 20_000 : timeMs),
  };
  const withBlack: Film = {
    lengthMs: 1,
    at: (timeMs) => (timeMs > 20_000 && timeMs < 40_000 ? new Uint8Array(576) : film.at(timeMs)),
  };
  expect(movesThroughout(take(film, 0, 46), 12_000)).toBe(true);
  expect(movesThroughout(take(withStill, 0, 46), 12_000)).toBe(false);
  expect(movesThroughout([], 12_000)).toBe(false);
  expect(showsThroughout(take(film, 0, 46), 12_000)).toBe(true);
  expect(showsThroughout(take(withBlack, 0, 46), 12_000)).toBe(false);
});
