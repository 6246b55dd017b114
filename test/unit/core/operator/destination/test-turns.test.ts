import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TestTurns } from '../../../../../src/core/operator/destination/test-turns.ts';

const make = () => new TestTurns({ total: 20, each: 4, patienceMs: 5000 });

test('forty tests of one account leave places for others at once', () => {
  const turns = make();
  const a = Array.from({ length: 40 }, (_, i) => turns.take(`a${i}`, 'A', 0));
  expect(a.filter(Boolean)).toHaveLength(4);
  expect(turns.take('b0', 'B', 1)).toBe(true);
});

test('a free place goes to the account with the fewest tests, and there to the longest wait', () => {
  const turns = new TestTurns({ total: 4, each: 3, patienceMs: 5000 });
  for (let i = 0; i < 10; i++) turns.take(`a${i}`, 'A', i);
  expect(turns.take('b0', 'B', 100)).toBe(true);
  // All four places are taken; A still asks, and C comes later.
  expect(turns.take('c0', 'C', 200)).toBe(false);
  expect(turns.take('d0', 'D', 300)).toBe(false);
  turns.leave('a0');
  expect(turns.take('a5', 'A', 400)).toBe(false);
  expect(turns.take('d0', 'D', 400)).toBe(false);
  expect(turns.take('c0', 'C', 400)).toBe(true);
});

test('a test that is no longer asked for delays no other', () => {
  const turns = new TestTurns({ total: 1, each: 1, patienceMs: 5000 });
  expect(turns.take('a', 'A', 0)).toBe(true);
  expect(turns.take('b', 'B', 0)).toBe(false);
  turns.leave('a');
  expect(turns.take('c', 'C', 4000)).toBe(false);
  expect(turns.take('c', 'C', 6000)).toBe(true);
});

test('in any order of arrival: never more than the limits, and no test waits while its place is free', () => {
  const events = fc.array(fc.tuple(fc.nat(4), fc.nat(9), fc.boolean()), { maxLength: 200 });
  fc.assert(
    fc.property(events, (list) => {
      const turns = new TestTurns({ total: 5, each: 2, patienceMs: Number.POSITIVE_INFINITY });
      const running = new Map<string, string>();
      const waiting = new Map<string, string>();
      for (const [i, [account, n, leaves]] of list.entries()) {
        const [key, name] = [`${account}/${n}`, `account ${account}`];
        if (leaves) {
          for (const one of [running, waiting]) one.delete(key);
          turns.leave(key);
        } else if (!running.has(key)) waiting.set(key, name);
        // Every waiting test asks again, as the operator does.
        for (const [other, owner] of [...waiting, ...waiting]) {
          if (running.has(other) || !turns.take(other, owner, i)) continue;
          waiting.delete(other);
          running.set(other, owner);
        }
        const count = (owner: string) => [...running.values()].filter((one) => one === owner).length;
        if (running.size > 5 || [...running.values()].some((owner) => count(owner) > 2)) return false;
        if (running.size < 5 && [...waiting.values()].some((owner) => count(owner) < 2)) return false;
      }
      return true;
    }),
  );
});
