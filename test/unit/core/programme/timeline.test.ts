import fc from 'fast-check';
import { expect, test } from 'vitest';
import { advance, computePlayhead, countTicksBefore, findItem } from '../../../../src/core/programme/playhead.ts';
import { msToTicks, TICKS_PER_MS, ticksToMs } from '../../../../src/core/programme/ticks.ts';
import {
  anchorAt,
  findExactUntil,
  findTurn,
  listTurnsBefore,
  type PlannedTurn,
  type Programme,
  type ProgrammeAnchor,
  timeline,
} from '../../../../src/core/programme/timeline.ts';

const EPOCH_MS = Date.parse('2026-03-01T00:00:00.123Z');
const HOUR_MS = 3_600_000;

/** Items of 10 ms to 20 minutes, and some that cannot be played. */
const durations = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 10 * TICKS_PER_MS, max: 20 * 60_000 * TICKS_PER_MS }) },
  { weight: 1, arbitrary: fc.constant(0) },
);
const programmes: fc.Arbitrary<Programme> = fc.record({
  mode: fc.constantFrom('sequential' as const, 'shuffle' as const),
  seed: fc.nat(4_294_967_295),
  durations: fc.array(durations, { minLength: 1, maxLength: 12 }),
  estimated: fc.uniqueArray(fc.nat(11), { maxLength: 3 }).map((items) => new Set(items)),
});
const anchors = fc.record({ round: fc.nat(1000), turn: fc.nat(11), atMs: fc.constant(EPOCH_MS) });

const limit = (programme: Programme, { turn, ...anchor }: ProgrammeAnchor): ProgrammeAnchor => ({
  ...anchor,
  turn: turn % programme.durations.length,
});
const last = (turns: Iterable<PlannedTurn>, count: number): PlannedTurn[] => {
  const found: PlannedTurn[] = [];
  for (const turn of turns) if (found.push(turn) === count) break;
  return found;
};
/** Enough turns to compare; a random programme may have a hundred thousand in a day. */
const MOST = 8;

test('the timelines of two parts, one behind the other, are that of the whole, wherever it is split', () => {
  const splits = fc.record({ nth: fc.nat(MOST - 1), anywhere: fc.nat() });
  let cases = 0;
  fc.assert(
    fc.property(programmes, anchors, fc.nat(72 * HOUR_MS), splits, (programme, some, from, { nth, anywhere }) => {
      const anchor = limit(programme, some);
      const a = EPOCH_MS + from - 24 * HOUR_MS;
      const c = last(timeline(programme, anchor, a, Number.POSITIVE_INFINITY), MOST).at(-1)?.endMs ?? a + HOUR_MS;
      const all = [...timeline(programme, anchor, a, c)];
      const whole = JSON.stringify(all);
      const border = all[nth % Math.max(1, all.length)]?.startMs ?? a;
      for (const b of [border - 1, border, border + 1, a + (anywhere % (c - a + 1))]) {
        if (b < a || b > c) continue;
        cases++;
        const parts = [...timeline(programme, anchor, a, b), ...timeline(programme, anchor, b, c)];
        if (JSON.stringify(parts) !== whole) expect(parts).toEqual(all);
      }
    }),
    { numRuns: 30_000 },
  );
  expect(cases).toBeGreaterThan(100_000);
});

test('each turn ends where the next one begins', () => {
  fc.assert(
    fc.property(programmes, anchors, fc.nat(72 * HOUR_MS), (programme, some, from) => {
      const turns = last(timeline(programme, limit(programme, some), EPOCH_MS + from, Number.POSITIVE_INFINITY), MOST);
      for (const [index, { startMs }] of turns.entries()) if (index > 0) expect(startMs).toBe(turns[index - 1]?.endMs);
    }),
    { numRuns: 3000 },
  );
});

test('the turn at a moment is the one that a streamer joins then, and the turns behind it are those it advances to', () => {
  fc.assert(
    fc.property(programmes, fc.nat(10_000 * HOUR_MS), (programme, elapsedMs) => {
      const streamer = computePlayhead(programme, msToTicks(elapsedMs));
      const found = findTurn(programme, anchorAt(EPOCH_MS), EPOCH_MS + elapsedMs);
      if (!streamer || !found) {
        expect([streamer, found]).toEqual([undefined, undefined]);
        return;
      }
      // Within the half of a millisecond around a border, the rounded start counts.
      const isAtBorder = found.startMs === EPOCH_MS + elapsedMs && streamer.offsetTicks > 0;
      if (isAtBorder) return;
      expect(found).toMatchObject({ round: streamer.round, turn: streamer.turn, item: findItem(programme, streamer) });
      let at = streamer;
      for (const planned of last(
        timeline(programme, anchorAt(EPOCH_MS), found.startMs, Number.POSITIVE_INFINITY),
        MOST,
      )) {
        while ((programme.durations[findItem(programme, at) ?? -1] ?? 0) === 0) at = advance(programme, at);
        const ticks = countTicksBefore(programme, at);
        expect(planned).toMatchObject({ round: at.round, turn: at.turn, startMs: EPOCH_MS + ticksToMs(ticks) });
        at = advance(programme, at);
      }
    }),
    { numRuns: 3000 },
  );
});

test('an anchor at any turn gives the timeline of the epoch', () => {
  fc.assert(
    fc.property(programmes, fc.nat(1000 * HOUR_MS), (programme, later) => {
      const epoch = anchorAt(EPOCH_MS);
      const at = findTurn(programme, epoch, EPOCH_MS + later);
      if (!at) return;
      // The start of a turn is rounded to a millisecond, so only whole ones compare.
      const ticks = countTicksBefore(programme, at);
      if (ticks % TICKS_PER_MS !== 0) return;
      const anchor = { round: at.round, turn: at.turn, atMs: at.startMs };
      const from = EPOCH_MS + Math.floor(later / 2);
      expect(last(timeline(programme, anchor, from, Number.POSITIVE_INFINITY), MOST)).toEqual(
        last(timeline(programme, epoch, from, Number.POSITIVE_INFINITY), MOST),
      );
    }),
    { numRuns: 3000 },
  );
});

test('a timeline is exact until the first item whose length is an estimate begins', () => {
  const programme: Programme = {
    mode: 'sequential',
    seed: 0,
    durations: [60_000, 30_000, 0, 90_000].map((ms) => ms * TICKS_PER_MS),
    estimated: new Set([2, 3]),
  };
  const anchor = { round: 5, turn: 1, atMs: EPOCH_MS };
  // The third item takes no time, so its length does not matter.
  expect(findExactUntil(programme, anchor)).toBe(EPOCH_MS + 30_000);
  expect(findExactUntil({ ...programme, estimated: new Set([2]) }, anchor)).toBeUndefined();
  expect(findExactUntil({ ...programme, estimated: new Set() }, anchor)).toBeUndefined();
});

test('a later length of an item changes nothing before the moment until which the timeline was exact', () => {
  fc.assert(
    fc.property(programmes, anchors, fc.nat(1e6), (programme, some, longer) => {
      const anchor = limit(programme, some);
      const until = findExactUntil(programme, anchor);
      if (until === undefined) return;
      const known = {
        ...programme,
        durations: programme.durations.map((ticks, item) =>
          ticks > 0 && programme.estimated.has(item) ? ticks + longer : ticks,
        ),
      };
      const list = (one: Programme) =>
        last(timeline(one, anchor, anchor.atMs, until + 1), MOST).map(({ item, startMs }) => [item, startMs]);
      expect(list(known)).toEqual(list(programme));
    }),
    { numRuns: 3000 },
  );
});

test('the turns before a moment are those of the timeline, the latest first, and none from before what is known', () => {
  fc.assert(
    fc.property(programmes, fc.nat(1000 * HOUR_MS), fc.nat(2 * HOUR_MS), (programme, later, known) => {
      const anchor = anchorAt(EPOCH_MS);
      const beforeMs = EPOCH_MS + later;
      const sinceMs = beforeMs - known;
      const found = listTurnsBefore(programme, anchor, { sinceMs, beforeMs, count: 10 });
      const first = found.at(-1)?.startMs ?? beforeMs;
      expect([...timeline(programme, anchor, first, beforeMs)].reverse()).toEqual(found);
      for (const { startMs } of found) expect(startMs).toBeGreaterThanOrEqual(sinceMs);
    }),
    { numRuns: 1000 },
  );
});

test('nothing plays before the first round, and of a list in which nothing can be played', () => {
  const programme: Programme = { mode: 'shuffle', seed: 7, durations: [TICKS_PER_MS, 0], estimated: new Set() };
  const anchor = anchorAt(EPOCH_MS);
  expect(findTurn(programme, anchor, EPOCH_MS - 1)).toBeUndefined();
  expect([...timeline(programme, anchor, EPOCH_MS - HOUR_MS, EPOCH_MS)]).toEqual([]);
  for (const silent of [
    { ...programme, durations: [0, 0] },
    { ...programme, durations: [] },
  ]) {
    expect([...timeline(silent, anchor, EPOCH_MS, EPOCH_MS + HOUR_MS)]).toEqual([]);
    expect(findExactUntil(silent, anchor)).toBeUndefined();
  }
});
