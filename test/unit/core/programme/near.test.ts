import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enterNear } from '../../../../src/core/programme/near.ts';
import type { OnAirList } from '../../../../src/core/programme/on-air.ts';
import { describeMoment } from '../../../../src/core/programme/plan.ts';
import { startStanding } from '../../../../src/core/programme/rules.ts';
import type { Programme } from '../../../../src/core/programme/timeline.ts';
import { programme, ruled } from './ruled.ts';

const EPOCH_MS = Date.parse('2026-03-28T20:00:00Z');
const COUNTS = { next: 3, last: 10 };

const listOf = (one: Programme): OnAirList => ({
  track: { mode: one.mode, items: [] },
  programme: one,
  anchor: { round: 0, turn: 0, atMs: EPOCH_MS, standing: startStanding(one, EPOCH_MS) },
  ...{ sinceMs: EPOCH_MS, exactUntilMs: undefined, untilMs: undefined },
});

test('a list that is entered near a moment has the same item then, the same next ones and the same last ones', () => {
  fc.assert(
    fc.property(ruled, fc.array(fc.nat(3_000_000), { minLength: 1, maxLength: 5 }), (one, steps) => {
      const list = listOf(one);
      let atMs = EPOCH_MS;
      for (const step of steps) {
        atMs += step;
        const near = enterNear(list, atMs, COUNTS.last);
        expect(describeMoment(near, atMs, COUNTS)).toEqual(describeMoment(list, atMs, COUNTS));
      }
    }),
    { numRuns: 200 },
  );
});

test('who asks again goes on from where the last one has got to, and begins anew where a length has changed', () => {
  const one = programme([3, 4, 5], [{ when: { everySeconds: 60 }, lengths: [3] }]);
  const [rule] = one.rules ?? [];
  if (!rule) throw new Error('no rule');
  let asked = 0;
  const watched = new Proxy(rule, {
    get: (target, name) => {
      if (name === 'everyMs') asked++;
      return Reflect.get(target, name);
    },
  });
  const list = listOf({ ...one, rules: [watched] });
  const count = (given: OnAirList, atMs: number) => {
    asked = 0;
    enterNear(given, atMs, COUNTS.last);
    return asked;
  };
  const day = EPOCH_MS + 86_400_000;
  const first = count(list, day);
  expect(first).toBeGreaterThan(10_000);
  expect(count(list, day + 5_000)).toBeLessThan(first / 100);
  const longer = { ...list, programme: { ...list.programme, durations: [360_000, 480_000, 720_000] } };
  expect(count(longer, day + 10_000)).toBeGreaterThan(10_000);
});
