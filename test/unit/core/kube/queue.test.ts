import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createQueue } from '../../../../src/core/kube/queue.ts';
import { silent } from '../../../kit/real/kube.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const backoff = { baseMs: 200, maxMs: 60_000 };

describe('the queue', () => {
  test('runs a key once for many adds, and once more for adds during its run', async () => {
    const gates: (() => void)[] = [];
    const queue = createQueue({
      workers: 4,
      log: silent,
      process: () => new Promise<void>((resolve) => void gates.push(resolve)),
    });
    for (let i = 0; i < 5; i++) queue.add('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(gates).toHaveLength(1);
    for (let i = 0; i < 5; i++) queue.add('a');
    expect(queue.running).toBe(1);
    gates[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(gates).toHaveLength(2);
    gates[1]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect([gates.length, queue.running, queue.depth]).toEqual([2, 0, 0]);
  });

  test('comes back to a key that throws, later each time up to the limit, and at once after success', async () => {
    const runs: number[] = [];
    let broken = true;
    const queue = createQueue({
      workers: 1,
      backoff,
      log: silent,
      process: async () => {
        runs.push(performance.now());
        if (broken) throw new Error('not yet');
      },
    });
    queue.add('a');
    await vi.advanceTimersByTimeAsync(600_000);
    const waits = runs.slice(1).map((at, i) => at - (runs[i] ?? 0));
    for (const [i, wait] of waits.entries()) {
      const ceiling = Math.min(60_000, 200 * 2 ** i);
      expect(wait).toBeGreaterThanOrEqual(ceiling / 2 - 1);
      expect(wait).toBeLessThanOrEqual(ceiling + 2);
    }
    expect(queue.failures).toBe(runs.length);
    broken = false;
    const before = runs.length;
    queue.add('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(runs.length).toBe(before + 1);
    // The pending retry is cancelled: the successful run was that retry.
    await vi.advanceTimersByTimeAsync(120_000);
    expect([runs.length, queue.delayed]).toEqual([before + 1, 0]);
  });

  test('requeues after the time that a run returns, and later runs decide again', async () => {
    const runs: number[] = [];
    const queue = createQueue({
      workers: 1,
      log: silent,
      process: async () => {
        runs.push(Math.round(performance.now()));
        return runs.length < 3 ? { requeueAfterMs: 1000 } : undefined;
      },
    });
    const start = Math.round(performance.now());
    queue.add('a');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs.map((at) => Math.round((at - start) / 1000))).toEqual([0, 1, 2]);
  });

  test('waits for the earliest of several delays, also beyond the range of a timer', async () => {
    const process = vi.fn(async () => {});
    const queue = createQueue({ workers: 1, log: silent, process });
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 9_000);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(process).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(process).toHaveBeenCalledTimes(1);
    const sixtyDays = 60 * 86_400_000;
    queue.addAfter('a', sixtyDays);
    await vi.advanceTimersByTimeAsync(sixtyDays - 1000);
    expect(process).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_002);
    expect(process).toHaveBeenCalledTimes(2);
  });

  test('collects while paused', async () => {
    const process = vi.fn(async () => {});
    const queue = createQueue({ workers: 1, log: silent, process, paused: true });
    queue.add('a');
    queue.add('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect([process.mock.calls.length, queue.depth]).toEqual([0, 1]);
    queue.resume();
    await vi.advanceTimersByTimeAsync(0);
    expect(process).toHaveBeenCalledTimes(1);
  });

  test('stop waits for the running ones and starts nothing more', async () => {
    const gates: (() => void)[] = [];
    const process = vi.fn(() => new Promise<void>((resolve) => void gates.push(resolve)));
    const queue = createQueue({ workers: 1, log: silent, process });
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    await vi.advanceTimersByTimeAsync(0);
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    queue.add('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(stopped).toBe(false);
    gates[0]?.();
    await stopping;
    await vi.advanceTimersByTimeAsync(1000);
    expect(process).toHaveBeenCalledTimes(1);
  });
});

test('property: never two runs of a key at once, never more than the workers, and every add is followed by a run', async () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    how: fc.constantFrom('add', 'add', 'after'),
    ms: fc.nat(50),
    wait: fc.nat(30),
  });
  const work = fc.record({ ms: fc.nat(40), throws: fc.boolean(), requeue: fc.option(fc.nat(40)) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.array(work, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, works, workers) => {
        const inside = new Map<string, number>();
        /** Maps a key to the number of its latest add, or of the latest add that a run saw at its begin. */
        const added = new Map<string, number>();
        const seen = new Map<string, number>();
        let most = 0;
        let twice = 0;
        let calls = 0;
        const queue = createQueue({
          workers,
          backoff: { baseMs: 5, maxMs: 50 },
          log: silent,
          process: async (key) => {
            // Each kind of work once, then plain success, so that the property ends.
            const mine = works[calls++];
            inside.set(key, (inside.get(key) ?? 0) + 1);
            if ((inside.get(key) ?? 0) > 1) twice++;
            most = Math.max(
              most,
              [...inside.values()].reduce((a, b) => a + b, 0),
            );
            const at = added.get(key) ?? 0;
            try {
              if (mine) await new Promise((resolve) => setTimeout(resolve, mine.ms));
              if (mine?.throws) throw new Error('planned');
              seen.set(key, at);
              return mine && mine.requeue !== null ? { requeueAfterMs: mine.requeue } : undefined;
            } finally {
              inside.set(key, (inside.get(key) ?? 0) - 1);
            }
          },
        });
        let number = 0;
        for (const { key, how, ms, wait } of steps) {
          added.set(key, ++number);
          if (how === 'add') queue.add(key);
          else queue.addAfter(key, ms);
          await vi.advanceTimersByTimeAsync(wait);
        }
        await vi.advanceTimersByTimeAsync(10_000);
        expect(twice).toBe(0);
        expect(most).toBeLessThanOrEqual(workers);
        for (const [key, at] of added) expect(seen.get(key)).toBe(at);
        expect([queue.depth, queue.running, queue.delayed]).toEqual([0, 0, 0]);
        await queue.stop();
      },
    ),
    { numRuns: 150 },
  );
});
