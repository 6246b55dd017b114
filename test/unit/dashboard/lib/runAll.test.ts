/** Tests that an act on many things is bounded, that each failure is kept, and that the server is given the time that it asks for. */
import { afterEach, expect, test, vi } from 'vitest';
import { runAll } from '../../../../src/dashboard/lib/runAll.ts';
import { problems } from '../../../../src/service/client/index.ts';

afterEach(() => void vi.useRealTimers());

const items = Array.from({ length: 20 }, (_, i) => i);

test('a few are under way at once, and one that fails stops no other', async () => {
  let [running, most] = [0, 0];
  const over: [number, unknown][] = [];
  const refused = new Error('in use');
  const failures = await runAll(items, {
    act: async (item) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running -= 1;
      if (item === 7) throw refused;
    },
    onOver: (item, error) => over.push([item, error]),
  });
  expect(most).toBe(4);
  expect(failures).toEqual([{ item: 7, error: refused }]);
  expect(over.map(([item]) => item).sort((a, b) => a - b)).toEqual(items);
  expect(over.find(([item]) => item === 7)?.[1]).toBe(refused);
});

test('a server that is asked too often gets the time that it asks for, and the act is tried again', async () => {
  vi.useFakeTimers();
  const tooMany = new problems.RateLimited({ code: 'rate_limited', status: 429, detail: 'Wait.' } as never, {
    retryAfterSeconds: 30,
  });
  let tries = 0;
  const act = async () => {
    tries += 1;
    if (tries === 1) throw tooMany;
  };
  const done = runAll(['one'], { act });
  await vi.advanceTimersByTimeAsync(29_000);
  expect(tries).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await done).toEqual([]);
  expect(tries).toBe(2);
});

test('after it is ended nothing else begins, and what waits for the server is a failure', async () => {
  const ending = new AbortController();
  const begun: number[] = [];
  const failures = await runAll(items, {
    act: async (item) => {
      begun.push(item);
      ending.abort();
    },
    signal: ending.signal,
  });
  expect(begun.length).toBeLessThanOrEqual(4);
  expect(failures).toEqual([]);
});
