import { expect, test } from 'vitest';
import {
  type ListMove,
  MAX_FACTS,
  type ReportedMoves,
  recordFacts,
} from '../../../../../src/core/resources/stream/facts.ts';

const EPOCH = '2026-03-01T00:00:00.000Z';
const anchor = { round: 2, turn: 1, startedAt: '2026-03-02T00:00:00.000Z', move: 'Start' as ListMove };
const clock = { version: 1, epoch: EPOCH, programme: 'abc', anchor };
const first = {
  number: 1,
  from: anchor.startedAt,
  track: 'video',
  version: 1,
  epoch: EPOCH,
  programme: 'abc',
  ...anchor,
};

const report = (video: Partial<typeof clock>, broken: number[] = []): ReportedMoves => ({
  clock: { video: { ...clock, broken, ...video } },
});
const moved = (hour: number, move: ListMove = 'Skip') => ({
  anchor: { round: 2, turn: 1, startedAt: new Date(Date.parse(EPOCH) + hour * 3_600_000).toISOString(), move },
});

test('the first report of a pod is a fact', () => {
  expect(recordFacts(undefined, report({}))).toEqual([first]);
});

test('items that follow as expected are none: a report that says the same, none, or one of an earlier release adds nothing', () => {
  const known = recordFacts(undefined, report({}));
  expect(recordFacts(known, report({}))).toBe(known);
  expect(recordFacts(known, undefined)).toBe(known);
  expect(recordFacts(known, { clock: {} })).toBe(known);
  const { programme: _, ...earlier } = clock;
  expect(recordFacts(undefined, { clock: { video: earlier } })).toBeUndefined();
});

test('a pod that takes over where the last one stood tells nothing new', () => {
  const known = recordFacts(recordFacts(undefined, report({})), report(moved(30)));
  expect(recordFacts(known, report({ anchor: { ...moved(30).anchor, move: 'Start' } }))).toBe(known);
});

test('each move is one fact, with a number of its own over both lists', () => {
  const known = recordFacts(undefined, report({}));
  const both = recordFacts(known, { clock: { video: { ...clock, ...moved(30) }, audio: clock } });
  expect(both?.map(({ number, track, move }) => [number, track, move])).toEqual([
    [1, 'video', 'Start'],
    [2, 'video', 'Skip'],
    [3, 'audio', 'Start'],
  ]);
});

test('an item that breaks, or can be played again, is a fact, as the list goes on without it or with it', () => {
  const broke = recordFacts(recordFacts(undefined, report({})), report({}, [0, 2]));
  expect(broke?.at(-1)).toMatchObject({ number: 2, move: 'Length', broken: [0, 2], startedAt: anchor.startedAt });
  expect(recordFacts(broke, report({}, [0, 2]))).toBe(broke);
  expect(recordFacts(broke, report({}))?.at(-1)).toEqual({ ...first, number: 3, move: 'Length' });
});

test('the latest facts are kept, and fewer where each is long', () => {
  let facts: ReturnType<typeof recordFacts>;
  for (let hour = 0; hour < MAX_FACTS + 5; hour++) facts = recordFacts(facts, report(moved(hour)));
  expect(facts).toHaveLength(MAX_FACTS);
  expect(facts?.at(-1)?.number).toBe(MAX_FACTS + 5);
  const rule = { name: 'r'.repeat(300), round: 0, turn: 0, items: 0, since: EPOCH };
  const standing = { round: 0, turn: 0, items: 0, rules: Array.from({ length: 100 }, () => rule) };
  const long = (hour: number) => ({ clock: { video: { ...clock, ...moved(hour), standing } } });
  for (let hour = 200; hour < 203; hour++) facts = recordFacts(facts, long(hour));
  expect(facts?.map(({ number }) => number)).toEqual([MAX_FACTS + 8]);
});
