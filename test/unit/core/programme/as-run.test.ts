import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AirSpan, listAired, listStretches } from '../../../../src/core/programme/as-run.ts';
import type { PlayedList } from '../../../../src/core/programme/identity.ts';
import type { Fact } from '../../../../src/core/resources/stream/facts.ts';
import type { ProgramItem } from '../../../../src/core/resources/stream/playing.ts';

const BEGIN_MS = Date.parse('2026-03-01T00:00:00.000Z');
const at = (seconds: number) => new Date(BEGIN_MS + seconds * 1000).toISOString();
const item = (id: string): ProgramItem => ({ id, name: id, rendition: `r/${id}` });

const LENGTHS: Record<string, number> = { a: 60, b: 30, c: 90 };
const findLength = ({ id }: ProgramItem) =>
  LENGTHS[id] === undefined ? undefined : { seconds: LENGTHS[id], isExact: true };

const lists: Record<string, PlayedList> = {
  abc: { seed: 1, track: { mode: 'sequential', items: ['a', 'b', 'c'].map(item) } },
  ca: { seed: 1, track: { mode: 'sequential', items: ['c', 'a'].map(item) } },
};
const fact = (number: number, seconds: number, more: Partial<Fact> = {}): Fact => ({
  ...{ number, track: 'video', move: 'Start', version: 1, programme: 'abc', epoch: at(0), round: 0, turn: 0 },
  ...{ startedAt: at(seconds), from: at(seconds), ...more },
});

const FOREVER: AirSpan[] = [{ startMs: 0, endMs: BEGIN_MS + 86_400_000 }];
const span = (from: number, to: number) => ({ startMs: BEGIN_MS + from * 1000, endMs: BEGIN_MS + to * 1000 });

function run(facts: readonly Fact[], from: number, to: number, onAir = FOREVER) {
  const stretches = listStretches(facts, 'video', (hash) => lists[hash]);
  return [...listAired(stretches, span(from, to), { onAir, nowMs: BEGIN_MS + 86_400_000, findLength })];
}
const short = (aired: ReturnType<typeof run>) =>
  aired.map((one) => [one.item.id, (one.startMs - BEGIN_MS) / 1000, one.airedMs / 1000, one.isCut]);

describe('the moves of a list', () => {
  test('without one, the list plays on, and a span has the item that plays at its begin', () => {
    expect(short(run([fact(1, 0)], 70, 200))).toEqual([
      ['b', 60, 30, false],
      ['c', 90, 90, false],
      ['a', 180, 60, false],
    ]);
  });

  test('a skip ends the item before its time, and an edit goes on with another list', () => {
    const facts = [
      fact(1, 0),
      fact(2, 20, { move: 'Skip', turn: 1 }),
      fact(3, 50, { move: 'Edit', programme: 'ca', version: 2, turn: 1 }),
    ];
    expect(short(run(facts, 0, 120))).toEqual([
      ['a', 0, 20, true],
      ['b', 20, 30, false],
      ['a', 50, 60, false],
      ['c', 110, 90, false],
    ]);
  });

  test('a pod that is behind its list plays each item so much later, and an edit comes when the item has ended', () => {
    const edited = fact(2, 61.9, { move: 'Edit', programme: 'ca', version: 2, turn: 0 });
    const facts = [fact(1, 0, { from: at(1.5), lagMs: 1500 }), edited];
    expect(short(run(facts, 0, 100))).toEqual([
      ['a', 1.5, 60.4, false],
      ['c', 61.9, 90, false],
    ]);
    expect(run(facts, 61.7, 100).map(({ item: { id } }) => id)).toEqual(['a', 'c']);
  });

  test('the pod that takes over goes on with the item, as late as it is itself; what it joins is from then on another list', () => {
    const joined = fact(2, 0, { from: at(50), lagMs: 1200 });
    expect(short(run([fact(1, 0), joined], 0, 80))).toEqual([
      ['a', 0, 61.2, false],
      ['b', 61.2, 30, false],
    ]);
    const published = fact(2, 0, { from: at(50), programme: 'ca', version: 2 });
    expect(short(run([fact(1, 0), published], 0, 80))).toEqual([
      ['a', 0, 50, true],
      ['c', 50, 40, true],
    ]);
  });

  test('a fact that begins before an earlier one holds in its place', () => {
    const facts = [fact(1, 0), fact(2, 90, { turn: 2 }), fact(3, 60, { turn: 2 })];
    expect(short(run(facts, 0, 100))).toEqual([
      ['a', 0, 60, false],
      ['c', 60, 90, false],
    ]);
  });

  test('a pod that takes over rounds a border anew: no item is there twice', () => {
    const facts = [fact(1, 0), fact(2, 60.001, { turn: 1 }), fact(3, 89.999, { turn: 2 })];
    expect(short(run(facts, 0, 100)).map(([id]) => id)).toEqual(['a', 'b', 'c']);
    expect(run(facts, 0, 100).every(({ isCut }) => !isCut)).toBe(true);
  });

  test('an item that breaks while it plays itself plays to its end, and takes no time from then on', () => {
    const facts = [fact(1, 0), fact(2, 60, { move: 'Length', turn: 1, broken: [1] })];
    expect(short(run(facts, 0, 400)).map(([id, start]) => [id, start])).toEqual([
      ['a', 0],
      ['b', 60],
      ['c', 90],
      ['a', 180],
      ['c', 240],
      ['a', 330],
      ['c', 390],
    ]);
  });

  test('where facts are missing, or a list was not recorded, no item is exact, or none is known', () => {
    expect(run([fact(1, 0), fact(3, 60, { turn: 1 })], 0, 80).map(({ isExact }) => isExact)).toEqual([false, true]);
    const facts = [fact(1, 0), fact(2, 60, { programme: 'gone' }), fact(3, 120)];
    expect(short(run(facts, 0, 130)).map(([, start]) => start)).toEqual([0, 120]);
    const other = [fact(1, 0), { ...fact(2, 30), track: 'audio' as const }, fact(3, 60, { turn: 1 })];
    expect(run(other, 0, 80).every(({ isExact }) => isExact)).toBe(true);
  });
});

test('only what a destination took was on air: an item says how long, and what nobody saw is left out', () => {
  const onAir = [span(-10, 20), span(50, 70), span(180, 200)];
  expect(short(run([fact(1, 0)], 0, 400, onAir))).toEqual([
    ['a', 0, 30, true],
    ['b', 60, 10, true],
    ['a', 180, 20, true],
  ]);
});

test('an item that plays now is not cut', () => {
  const stretches = listStretches([fact(1, 0)], 'video', (hash) => lists[hash]);
  const nowMs = BEGIN_MS + 20_000;
  const onAir = [{ startMs: BEGIN_MS, endMs: nowMs }];
  const aired = [...listAired(stretches, span(0, 20), { onAir, nowMs, findLength })];
  expect(aired.map(({ endMs, isCut }) => [endMs, isCut])).toEqual([[nowMs, false]]);
});

test('the parts of a span, one behind the other, are that of the whole', () => {
  const facts = [fact(1, 0), fact(2, 500, { turn: 1 }), fact(3, 777, { programme: 'ca', version: 2 })];
  const whole = run(facts, 0, 2000);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1999 }), (split) => {
      const begun = (from: number, to: number) =>
        run(facts, from, to).filter(({ startMs }) => startMs >= BEGIN_MS + from * 1000);
      expect([...begun(0, split), ...begun(split, 2000)]).toEqual(whole);
    }),
  );
});
