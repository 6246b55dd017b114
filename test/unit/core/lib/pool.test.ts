import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { forEachConcurrently } from '../../../../src/core/lib/pool.ts';

const never = new AbortController().signal;

test('no more tasks run at once than the limit allows', async () => {
  let running = 0;
  let most = 0;
  const task = async () => {
    most = Math.max(most, ++running);
    await setImmediate();
    running--;
  };
  await forEachConcurrently([1, 2, 3, 4, 5, 6, 7], task, never, 3);
  expect(most).toBe(3);
});

test('a task that fails keeps no other one from running; the first error is thrown at the end', async () => {
  const done: number[] = [];
  const task = async (item: number) => {
    if (item % 2 === 0) throw new Error(`failed: ${item}`);
    done.push(item);
  };
  await expect(forEachConcurrently([1, 2, 3, 4, 5], task, never, 2)).rejects.toThrow('failed: 2');
  expect(done).toEqual([1, 3, 5]);
});

test('after an abort no task starts, and the running ones are waited for', async () => {
  const controller = new AbortController();
  const ended: number[] = [];
  const task = async (item: number) => {
    controller.abort(new Error('over'));
    await setImmediate();
    ended.push(item);
  };
  await expect(forEachConcurrently([1, 2, 3], task, controller.signal, 1)).rejects.toThrow('over');
  expect(ended).toEqual([1]);
});
