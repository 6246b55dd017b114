import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startStanding, takeTurn, takeTurns } from '../../../../src/core/programme/rules.ts';
import { TICKS_PER_SECOND, ticksToMs } from '../../../../src/core/programme/ticks.ts';
import {
  anchorAt,
  findExactUntil,
  findTurn,
  type Programme,
  timeline,
} from '../../../../src/core/programme/timeline.ts';
import type { RuleTerms } from '../../../../src/core/resources/playlist/rules.ts';
import { programme, ruled, takeFirst, tryParts } from './ruled.ts';

const EPOCH_MS = Date.parse('2026-03-01T00:00:00Z');
const HOUR_MS = 3_600_000;

/** The turns of a span as text: `start second: item`, with the rule in front. */
function tell(one: Programme, lastSeconds: number, epochMs = EPOCH_MS): string[] {
  const turns = timeline(one, anchorAt(epochMs), epochMs, epochMs + lastSeconds * 1000);
  return [...turns].map(
    ({ rule, item, startMs }) => `${(startMs - epochMs) / 1000}: ${rule === null ? '' : `r${rule}.`}${item}`,
  );
}
function listDropped(one: Programme, lastSeconds: number): string[] {
  const found: string[] = [];
  for (const { startTicks, dropped } of takeTurns(one, startStanding(one, EPOCH_MS), EPOCH_MS)) {
    if (startTicks > lastSeconds * TICKS_PER_SECOND) break;
    for (const { rule, reason, dueMs } of dropped) found.push(`r${rule} ${reason} ${(dueMs - EPOCH_MS) / 1000}`);
  }
  return found;
}

test('a rule with a period plays at the first border after it, and its items take turns', () => {
  const one = programme([4, 6], [{ when: { everySeconds: 15 }, lengths: [1, 2] }]);
  expect(tell(one, 45)).toEqual([
    '0: 0',
    '4: 1',
    '10: 0',
    '14: 1',
    '20: r0.0',
    '21: 0',
    '25: 1',
    '31: 0',
    '35: r0.1',
    '37: 1',
    '43: 0',
  ]);
});

test('a rule of items plays behind each so many items of the list, as many of its own as it says', () => {
  const one = programme([4], [{ when: { eachItems: 2 }, count: 2, lengths: [1, 2, 3] }]);
  expect(tell(one, 24)).toEqual([
    '0: 0',
    '4: 0',
    '8: r0.0',
    '9: r0.1',
    '11: 0',
    '15: 0',
    '19: r0.2',
    '22: r0.0',
    '23: 0',
  ]);
});

test('a cut lands on a keyframe, and the item goes on from there, not at all, or from its beginning', () => {
  const cut = (after: RuleTerms['after']) =>
    tell(programme([20, 5], [{ when: { everySeconds: 11 }, start: 'Cut', after, lengths: [3] }]), 32);
  expect(cut('Resume')).toEqual(['0: 0', '12: r0.0', '15: 0', '23: r0.0', '26: 1', '31: 0']);
  expect(cut('Next')).toEqual(['0: 0', '12: r0.0', '15: 1', '20: 0', '24: r0.0', '27: 1']);
  expect(cut('Restart')).toEqual(['0: 0', '12: r0.0', '15: 0', '23: r0.0', '26: 0']);
});

test('an item that was cut plays the rest of it once', () => {
  const one = programme([20, 5], [{ when: { everySeconds: 11 }, start: 'Cut', lengths: [3] }]);
  const turns = takeFirst(takeTurns(one, startStanding(one, EPOCH_MS), EPOCH_MS), 4);
  expect(
    turns.map(({ offsetTicks, endTicks, startTicks }) =>
      [offsetTicks, endTicks - startTicks].map((ticks) => ticks / TICKS_PER_SECOND),
    ),
  ).toEqual([
    [0, 12],
    [0, 3],
    [12, 8],
    [0, 3],
  ]);
});

test('an item of more than the time that a rule may be late drops it, and the next time holds', () => {
  const one = programme([100], [{ when: { everySeconds: 30 }, lateSeconds: 5, lengths: [1] }]);
  expect(tell(one, 320)).toEqual(['0: 0', '100: 0', '200: 0', '300: r0.0', '301: 0']);
  expect(listDropped(one, 320)).toEqual(['r0 late 30', 'r0 late 120', 'r0 late 210']);
});

test('a window has its own list while it is open; its item plays to its end, unless the rule cuts', () => {
  const window = { cron: '1 0 * * *', timeZone: 'UTC', durationSeconds: 60 };
  const border = programme([25], [{ when: { window }, lengths: [20] }]);
  expect(tell(border, 160)).toEqual(['0: 0', '25: 0', '50: 0', '75: r0.0', '95: r0.0', '115: r0.0', '135: 0']);
  const cut = programme([25], [{ when: { window }, start: 'Cut', lengths: [14] }]);
  expect(tell(cut, 140)).toEqual([
    '0: 0',
    '25: 0',
    '50: 0',
    '60: r0.0',
    '74: r0.0',
    '88: r0.0',
    '102: r0.0',
    '116: r0.0',
    '120: 0',
    '135: 0',
  ]);
});

test('an item that is longer than a window drops that window', () => {
  const window = { cron: '1 0 * * *', timeZone: 'UTC', durationSeconds: 60 };
  const one = programme([300], [{ when: { window }, lengths: [20] }]);
  expect(tell(one, 700)).toEqual(['0: 0', '300: 0', '600: 0']);
  expect(listDropped(one, 700)).toEqual(['r0 late 60']);
});

test('the first of the rules that are due plays first, and the others follow it', () => {
  const one = programme(
    [10],
    [
      { when: { eachItems: 3 }, lengths: [1] },
      { when: { everySeconds: 30 }, lengths: [2] },
    ],
  );
  expect(tell(one, 34)).toEqual(['0: 0', '10: 0', '20: 0', '30: r0.0', '31: r1.0', '33: 0']);
});

test('a rule without items, or whose items cannot be played, is dropped, and the list goes on', () => {
  const one = programme(
    [10],
    [
      { when: { everySeconds: 20 }, lengths: [] },
      { when: { everySeconds: 20 }, lengths: [0, 0] },
    ],
  );
  expect(tell(one, 50)).toEqual(['0: 0', '10: 0', '20: 0', '30: 0', '40: 0']);
  expect(listDropped(programme([10], [{ when: { everySeconds: 20 }, lengths: [] }]), 50)).toEqual([
    'r0 empty 20',
    'r0 empty 40',
  ]);
});

test('a rule that is always due leaves a turn to the list each time', () => {
  const one = programme(
    [1],
    [
      { when: { everySeconds: 10 }, start: 'Cut', lengths: [100] },
      { when: { eachItems: 1 }, lengths: [50] },
    ],
  );
  const items = tell(one, 2000).map((line) => line.split(' ')[1]);
  expect(items.filter((item) => item === '0').length).toBeGreaterThan(10);
});

test('a list of which nothing can be played ends, whatever its rules have', () => {
  expect(tell(programme([0, 0], [{ when: { everySeconds: 10 }, lengths: [5] }]), 100)).toEqual([]);
});

test('a time that never comes, and one that makes no sense, play nothing', () => {
  const at = (cron: string, timeZone = 'UTC') => ({ when: { at: { cron, timeZone } }, lengths: [5] });
  const one = programme([600], [at('0 0 30 2 *'), at('nonsense'), at('0 * * * *', 'Mars/Olympus')]);
  expect(tell(one, 7200)).toHaveLength(12);
});

test.each([
  ['Europe/Berlin', '2026-03-28T23:00:00Z', ['2026-03-29T01:00:00.000Z']],
  ['Europe/Berlin', '2026-10-24T22:00:00Z', ['2026-10-25T00:30:00.000Z']],
  ['America/New_York', '2026-03-08T05:00:00Z', ['2026-03-08T07:00:00.000Z']],
  ['Australia/Lord_Howe', '2026-10-03T13:00:00Z', ['2026-10-03T15:30:00.000Z']],
])('in %s on the day of %s, 2:30 comes once, in spring at the first moment after', (timeZone, from, expected) => {
  const one = programme([10], [{ when: { at: { cron: '30 2 * * *', timeZone } }, lengths: [5] }]);
  const begin = Date.parse(from);
  const played = [...timeline(one, anchorAt(begin), begin, begin + 22 * HOUR_MS)].filter(({ rule }) => rule === 0);
  const due = expected.map((time) => Date.parse(time));
  expect(played).toHaveLength(due.length);
  for (const [index, ms] of due.entries())
    expect(Math.abs((played[index]?.startMs ?? 0) - ms)).toBeLessThanOrEqual(10_000);
});

test('with rules, the timelines of two parts are that of the whole, from an anchor of any turn between, too', () => {
  expect(tryParts(1000)).toBeGreaterThan(500);
});

test('a list without rules plays the same turns by rules as without', () => {
  fc.assert(
    fc.property(ruled, (one) => {
      const plain = { ...one, rules: [] };
      const standing = startStanding(plain, EPOCH_MS);
      const turns = takeFirst(takeTurns(plain, standing, EPOCH_MS), 20).map(({ item, startTicks }) => [
        item,
        EPOCH_MS + ticksToMs(startTicks),
      ]);
      const end = turns.at(-1)?.[1] ?? EPOCH_MS;
      expect(
        [...timeline(plain, anchorAt(EPOCH_MS), EPOCH_MS, end + 1)].map(({ item, startMs }) => [item, startMs]),
      ).toEqual(turns);
    }),
    { numRuns: 300 },
  );
});

test('a length that is not known makes the timeline an estimate from the first turn on that needs it', () => {
  const one = programme([10], [{ when: { everySeconds: 25 }, lengths: [5] }]);
  const [known] = one.rules ?? [];
  if (!known) throw new Error('no rule');
  const estimated = { ...one, rules: [{ ...known, estimated: new Set([0]) }] };
  expect(findExactUntil(one, anchorAt(EPOCH_MS))).toBeUndefined();
  expect(findExactUntil(estimated, anchorAt(EPOCH_MS))).toBe(EPOCH_MS + 30_000);
  expect(findTurn(one, anchorAt(EPOCH_MS), EPOCH_MS + 31_000)).toMatchObject({ rule: 0, item: 0 });
});

test('a turn that is taken as a whole is not cut', () => {
  const one = programme([20], [{ when: { everySeconds: 11 }, start: 'Cut', lengths: [3] }]);
  const { isCut, endTicks, after } = takeTurn(one, startStanding(one, EPOCH_MS), EPOCH_MS, true);
  expect({ isCut, seconds: endTicks / TICKS_PER_SECOND, offset: after.offsetTicks }).toEqual({
    isCut: false,
    seconds: 20,
    offset: 0,
  });
});
