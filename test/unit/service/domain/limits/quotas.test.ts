/** Tests that limits hold while many requests come at once, and cost a request nothing while an account is far from them. */
import { expect, test } from 'vitest';
import type { Leases } from '../../../../../src/service/db/leases.ts';
import { createQuotas } from '../../../../../src/service/domain/limits/quotas.ts';
import type { LimitUsage } from '../../../../../src/service/domain/limits/usage.ts';
import { withOverrides } from '../../../../../src/service/settings/limits.ts';

function place({ full = 100, trial = 2, column = 'full' as 'full' | 'trial' } = {}) {
  const made: string[] = [];
  let leased = 0;
  const leases: Leases = {
    take: async () => {
      leased += 1;
      return { note: undefined, isHeld: () => true, release: async () => undefined };
    },
  };
  const usage = {
    claims: () => [{ name: 'streams', used: made.length, wanted: 1 }],
    recordBytes: () => 10,
  } as unknown as LimitUsage;
  const standing = { column };
  const quotas = createQuotas({
    limits: withOverrides({ full: { streams: full, recordBytes: 20 }, trial: { streams: trial } }),
    leases,
    usage,
    kinds: {},
    findClass: async () => standing.column,
  });
  const make = (): Promise<unknown> =>
    quotas.make('ada', 'streams', {}, async () => {
      await new Promise(setImmediate);
      made.push('one');
      return {};
    });
  return { made, make, quotas, standing, leased: () => leased };
}

const getCodes = (results: PromiseSettledResult<unknown>[]) =>
  results.map((one) => (one.status === 'fulfilled' ? 'made' : one.reason.code));

test('of many at once, exactly as many are made as there is room for', async () => {
  const { made, make } = place();
  const codes = getCodes(await Promise.allSettled(Array.from({ length: 250 }, make)));
  expect(made.length).toBe(100);
  expect(codes.filter((code) => code === 'quota_exceeded').length).toBe(150);
});

test('far from the limit no lease is taken; close to it each request takes one', async () => {
  const { make, leased } = place({ full: 1000 });
  for (let i = 0; i < 800; i += 1) await make();
  expect(leased()).toBe(0);
  for (let i = 800; i < 1000; i += 1) await make();
  expect(leased()).toBe(199);
});

test('a failed request leaves its place to the next', async () => {
  const { quotas, make, made } = place({ full: 1 });
  const failing = quotas.make('ada', 'streams', {}, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  await make();
  expect(made.length).toBe(1);
});

test('an account that is no longer on trial has the other limit at once', async () => {
  const { make, standing, made } = place({ column: 'trial' });
  await make();
  await make();
  await expect(make()).rejects.toMatchObject({ code: 'quota_exceeded', extras: { class: 'trial', allowed: 2 } });
  standing.column = 'full';
  await make();
  expect(made.length).toBe(3);
});

test('a change that takes no more room is possible beyond a limit, and one that takes more is not', async () => {
  const { quotas } = place();
  await expect(quotas.grow('ada', 11, async () => 'done')).rejects.toMatchObject({ extras: { limit: 'recordBytes' } });
  await expect(quotas.grow('ada', 10, async () => 'done')).resolves.toBe('done');
  await expect(quotas.grow('ada', -3, async () => 'done')).resolves.toBe('done');
});

test('accounts beyond a trial’s share grow only while the server has room for the records of all', async () => {
  let room = 100;
  const quotas = createQuotas({
    limits: withOverrides({ trial: { recordBytes: 1000 }, full: { recordBytes: 5000 } }),
    leases: { take: () => Promise.reject(new Error('far from the limit')) },
    usage: { recordBytes: (accountId: string) => (accountId === 'large' ? 2000 : 100) } as unknown as LimitUsage,
    kinds: {},
    findClass: async () => 'full',
    getRoom: () => room,
  });
  const grow = (accountId: string, bytes: number) => quotas.grow(accountId, bytes, async () => 'grown');
  expect(await grow('large', 50)).toBe('grown');
  room = 40;
  await expect(grow('large', 50)).rejects.toMatchObject({
    code: 'quota_exceeded',
    extras: { limit: 'recordBytes', used: 2000, allowed: 2000 },
  });
  expect(await grow('large', -50)).toBe('grown');
  expect(await grow('small', 15)).toBe('grown');
});
