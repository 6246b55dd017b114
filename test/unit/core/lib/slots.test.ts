/** Tasks wait for a free slot, in their order. */
import { expect, test } from 'vitest';
import { Slots } from '../../../../src/core/lib/slots.ts';

test('no more than so many run at once, and a task that fails frees its slot', async () => {
  const slots = new Slots(2);
  const ends: PromiseWithResolvers<void>[] = [];
  const begun: number[] = [];
  const runs = [0, 1, 2, 3].map((number) =>
    slots.run(async () => {
      begun.push(number);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
    }),
  );
  const settled = Promise.allSettled(runs);
  expect(begun).toEqual([0, 1]);
  ends[0]?.reject(new Error('failed'));
  await expect(runs[0]).rejects.toThrow('failed');
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  ends[1]?.resolve();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  ends[2]?.resolve();
  ends[3]?.resolve();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});

test('of those that wait, the one with the smallest rank is next, and equals keep their order', async () => {
  const slots = new Slots(1);
  const begun: string[] = [];
  const run = (name: string, rank: number) => slots.run(async () => void begun.push(name), rank);
  await Promise.all([run('first', 9), run('slow', 5), run('quick', 1), run('slower', 7), run('quick too', 1)]);
  expect(begun).toEqual(['first', 'quick', 'quick too', 'slow', 'slower']);
});
