/** Tests which rules that were left out the status keeps: the first time at once, the next ones counted and not more often than every ten minutes. */
import { describe, expect, test } from 'vitest';
import { describeDropped, findTellTime, followDropped } from '../../../../../src/core/operator/stream/dropped-rules.ts';
import { type DroppedRule, MAX_DROPPED_RULES } from '../../../../../src/core/resources/stream/dropped-rules.ts';

type Reported = Parameters<typeof followDropped>[1][number];
const BEGIN = Date.parse('2027-01-31T18:00:00Z');
const at = (minutes: number) => new Date(BEGIN + minutes * 60_000);
const dropped = (minutes: number, rule = 'news', more: Partial<Reported> = {}): Reported => ({
  ...{ rule, track: 'video', reason: 'late', count: 1 },
  ...{ dueAt: at(minutes).toISOString(), since: at(minutes).toISOString(), ...more },
});
/** A rule that is left out each minute from `since` on. */
const steadily = (minute: number, rule?: string, since = 0): Reported =>
  dropped(minute, rule, { count: minute - since + 1, since: at(since).toISOString() });

/** Returns the entry after each write of an hour whose pod reports these each minute. */
function walk(report: (minute: number) => Reported[]): { known: readonly DroppedRule[]; told: DroppedRule[] } {
  let known: readonly DroppedRule[] = [];
  const told: DroppedRule[] = [];
  for (let minute = 0; minute < 60; minute++) {
    const last = known.at(-1)?.number ?? 0;
    known = followDropped(known, report(minute), at(minute));
    told.push(...known.filter(({ number }) => number > last));
  }
  return { known, told };
}
const minuteOf = (time: string): number => (Date.parse(time) - BEGIN) / 60_000;
const show = (entries: readonly DroppedRule[]) =>
  entries.map((one) => [one.number, minuteOf(one.at), minuteOf(one.dueAt), one.count]);

describe('a rule that was left out', () => {
  test('is written once, however often its pod reports it', () => {
    expect(walk(() => [dropped(0)]).told).toEqual([
      {
        number: 1,
        rule: 'news',
        track: 'video',
        dueAt: '2027-01-31T18:00:00.000Z',
        at: '2027-01-31T18:00:00Z',
        reason: 'RuleLate',
        count: 1,
        since: '2027-01-31T18:00:00.000Z',
      },
    ]);
  });

  test('each minute is written every ten minutes, with its latest moment, and none is missing in its count', () => {
    const { known, told } = walk((minute) => [steadily(minute)]);
    expect(show(told)).toEqual([0, 10, 20, 30, 40, 50].map((minute, i) => [i + 1, minute, minute, minute + 1]));
    expect(known).toHaveLength(1);
  });

  test('again within ten minutes is written when these are over, and the operator looks again by then', () => {
    const report = (minute: number) => [steadily(Math.min(minute, 3))];
    expect(show(walk(report).told)).toEqual([
      [1, 0, 0, 1],
      [2, 10, 3, 4],
    ]);
    const first = followDropped([], report(0), at(0));
    expect(findTellTime(first, report(0), at(1))).toBeUndefined();
    expect(findTellTime(first, report(3), at(3))).toEqual(at(10));
    const second = followDropped(first, report(3), at(10));
    expect(findTellTime(second, report(3), at(10))).toBeUndefined();
  });

  test('is written at once where the pod goes, so that its count is not lost', () => {
    const first = followDropped([], [steadily(0)], at(0));
    expect(followDropped(first, [steadily(3)], at(3))).toBe(first);
    expect(show(followDropped(first, [steadily(3)], at(3), true))).toEqual([[2, 3, 3, 4]]);
  });

  test('is counted anew by another process, which does not tell again what the one before has told', () => {
    const before = followDropped([], [steadily(5)], at(5));
    expect(followDropped(before, [dropped(5)], at(20))).toBe(before);
    expect(show(followDropped(before, [dropped(18)], at(20)))).toEqual([[2, 20, 18, 1]]);
  });

  test('keeps no other rule, and no rule of the other track, from being written', () => {
    const { known } = walk((minute) => [
      dropped(0),
      ...(minute > 2
        ? [dropped(3, 'advert', { reason: 'empty' }), dropped(3, 'news', { track: 'audio' as const })]
        : []),
    ]);
    expect(known.map(({ rule, track, reason }) => `${rule} ${track} ${reason}`)).toEqual([
      'news video RuleLate',
      'advert video RuleEmpty',
      'news audio RuleLate',
    ]);
  });

  test('is forgotten after so many others that the pod reports, and numbers go on', () => {
    let known: readonly DroppedRule[] = [];
    const last = MAX_DROPPED_RULES + 20;
    for (let n = 0; n < last; n++) known = followDropped(known, [dropped(n, `rule-${n}`)], at(n));
    expect(known).toHaveLength(MAX_DROPPED_RULES);
    expect([known[0]?.rule, known.at(-1)?.number]).toEqual(['rule-20', last]);
  });

  test('is one of all that two playlists may have, each of which is written once', () => {
    const all = Array.from({ length: MAX_DROPPED_RULES }, (_, i) => dropped(0, `rule-${i}`));
    const { told } = walk(() => all);
    expect(told).toHaveLength(MAX_DROPPED_RULES);
    expect(new Set(told.map(({ rule }) => rule)).size).toBe(MAX_DROPPED_RULES);
  });

  test('is one of twenty in ten minutes at most, and none of many rules waits for ever', () => {
    const rules = (minute: number) => Array.from({ length: 50 }, (_, i) => steadily(minute, `rule-${i}`));
    const { known, told } = walk(rules);
    expect(told).toHaveLength(6 * 20);
    expect(known).toHaveLength(50);
  });

  test('has an Event with its rule, how often it was left out, and the fix', () => {
    const first = followDropped([], [steadily(0)], at(0));
    const second = followDropped(first, [steadily(12)], at(12));
    expect(describeDropped(first, first)).toEqual([]);
    expect(describeDropped(first, second)).toEqual([
      {
        type: 'Warning',
        reason: 'RuleLate',
        message: expect.stringMatching(/^The rule "news" was left out 13 times since .* larger lateSeconds/),
      },
    ]);
  });
});
