import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/core/lib/clock.ts';
import { createUsage } from '../../../../src/service/auth/usage.ts';

test('when keys were used is written once for many uses of many keys, and for each key once a minute', async () => {
  const written: string[][] = [];
  const use = (id: string) => ({ id, address: '203.0.113.7' });
  let now = new Date('2030-01-01T00:00:00Z');
  const usage = createUsage(async (uses) => void written.push(uses.map(({ id }) => id)), {
    ...systemClock,
    now: () => now,
  });
  for (let i = 0; i < 1000; i += 1) for (const id of ['a', 'b']) usage.see(use(id), null);
  await usage.flush();
  await usage.flush();
  expect(written).toEqual([['a', 'b']]);

  // The field may be written by any server.
  const before = now;
  now = new Date(before.getTime() + 59_000);
  usage.see(use('a'), before);
  await usage.flush();
  now = new Date(before.getTime() + 60_000);
  usage.see(use('a'), before);
  await usage.flush();
  expect(written.slice(1)).toEqual([['a']]);
});
