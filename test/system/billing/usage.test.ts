/** Tests that usage and the statement equal the ledger: to the credit, in any zone, on any page. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import { FRAMERATES, QUALITIES } from '../../../src/core/resources/stream/profile.ts';
import type { LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { dayAt } from '../../../src/service/billing/ledger/days.ts';
import { parsePrices, priceAt } from '../../../src/service/billing/ledger/prices.ts';
import type { LedgerEntry } from '../../../src/service/billing/ledger/record.ts';
import { type BillingDeps, createBillingService } from '../../../src/service/billing/ledger/service.ts';
import type { StatementArgs } from '../../../src/service/billing/ledger/statement.ts';
import { createMeter } from '../../../src/service/billing/metering/meter.ts';
import type { Connection } from '../../../src/service/lib/list-page.ts';
import type { Principal } from '../../../src/service/lib/scopes.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';

let it: TestLedger;
beforeAll(async () => {
  it = await startTestLedger();
});
afterAll(async () => it?.stop());

const buildPrincipal = (accountId: string): Principal => ({
  accountId,
  userId: accountId,
  scopes: new Set(),
  via: 'key',
});
const billing = (
  rate = { creditsPerHour: 0n, available: 0n },
  options: Partial<Pick<BillingDeps, 'enabled' | 'prices'>> = {},
) =>
  createBillingService({
    db: it.db,
    enabled: true,
    currency: 'USD',
    currentRate: async () => rate,
    ...options,
    clock: { now: () => new Date('2027-04-10T12:00:00Z'), monotonicMs: () => 0 },
  });

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Los_Angeles', 'Pacific/Kiritimati'];
const ms = (text: string) => Date.parse(text);

test('sums of days and of streams equal the charges, in any zone', async () => {
  const charge = fc.record({
    at: fc.integer({ min: ms('2027-03-20T00:00:00Z'), max: ms('2027-04-05T00:00:00Z') }),
    streamID: fc.constantFrom('str-a', 'str-b', 'str-c'),
    credits: fc.bigInt(1n, 10n ** 20n),
    milliseconds: fc.integer({ min: 1, max: 10_000_000 }),
  });
  const asked = fc.record({
    zone: fc.constantFrom(...ZONES),
    first: fc.integer({ min: 20, max: 31 }),
    last: fc.integer({ min: 1, max: 5 }),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(charge, { minLength: 1, maxLength: 40 }),
      asked,
      async (charges, { zone, first, last }) => {
        run += 1;
        const accountId = `usage-${run}`;
        // The credit is too small for all charges each time: written-off charges are not the customer's.
        const sum = charges.reduce((total, { credits }) => total + credits, 0n);
        await it.give(accountId, run % 2 === 0 ? sum : sum / 2n + 1n);
        const booked = await it.ledger.chargeAll(
          charges.map(({ at, streamID, credits, milliseconds }, n) => ({
            key: `charge:${accountId}:${n}`,
            accountId,
            credits,
            at: new Date(at),
            details: { streamID, seconds: String(milliseconds / 1000) },
          })),
        );
        const [from, to] = [`2027-03-${first}`, `2027-04-0${last}`];
        const inside = charges
          .map((one, n) => ({ ...one, charged: booked[n]?.charged ?? 0n, day: dayAt(new Date(one.at), zone) }))
          .filter(({ day }) => day >= from && day <= to);
        const sumCharges = (charges: typeof inside) => ({
          credits: String(charges.reduce((sum, { charged }) => sum + charged, 0n)),
          onAirSeconds: charges.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000,
        });
        const usage = (groupBy: 'day' | 'stream') =>
          billing().usage(buildPrincipal(accountId), { from, to, groupBy, timeZone: zone });
        const [days, streams] = [await usage('day'), await usage('stream')];
        for (const { credits, onAirSeconds } of [days, streams])
          expect({ credits, onAirSeconds }).toEqual(sumCharges(inside));
        expect(days.lines.length).toBe(31 - first + 1 + last);
        for (const { day, credits, onAirSeconds } of days.lines)
          expect({ credits, onAirSeconds }).toEqual(sumCharges(inside.filter((one) => one.day === day)));
        expect(streams.lines.map(({ streamID }) => streamID).sort()).toEqual(
          [...new Set(inside.map((one) => one.streamID))].sort(),
        );
        for (const { streamID, credits, onAirSeconds } of streams.lines)
          expect({ credits, onAirSeconds }).toEqual(sumCharges(inside.filter((one) => one.streamID === streamID)));
      },
    ),
    { numRuns: 40 },
  );
});

test('a charge over several days counts on each day, in each zone, and adds up to the ledger', async () => {
  const accountId = 'over-midnight';
  await it.give(accountId, 10_000n);
  // Two hours, counted at their end: midnight in Kolkata is half an hour after the start, midnight in Dubai at the end.
  const [startedAt, endedAt] = ['2027-03-20T18:00:00Z', '2027-03-20T20:00:00Z'];
  const stream = {
    metadata: { name: 'str-m', uid: 'uid-m', labels: { [ACCOUNT_LABEL]: accountId } },
    spec: { replicas: 1, quality: '1080p', framerate: 30, destinationNames: ['tv'] },
    status: { sessions: [{ number: 1, podUID: 'p', startedAt, endedAt, onAirSeconds: 7200 }] },
  } as unknown as LoopStream;
  const meter = createMeter({ db: it.db, ledger: it.ledger, prices: parsePrices() });
  await meter.count([stream], new AbortController().signal);
  const days = async (timeZone: string) => {
    const asked = { from: '2027-03-20', to: '2027-03-21', groupBy: 'day', timeZone } as const;
    const { lines } = await billing().usage(buildPrincipal(accountId), asked);
    return lines.map(({ credits, onAirSeconds }) => [Number(credits), onAirSeconds]);
  };
  // 300 credits an hour.
  const [half, rest] = [
    [150, 1800],
    [450, 5400],
  ];
  expect(await days('Asia/Kolkata')).toEqual([half, rest]);
  // A session that ends at midnight belongs to the day before.
  expect(await days('Asia/Dubai')).toEqual([
    [600, 7200],
    [0, 0],
  ]);
  expect(await days('Asia/Kathmandu')).toEqual([
    [75, 900],
    [525, 6300],
  ]);
  expect(await days('UTC')).toEqual([
    [600, 7200],
    [0, 0],
  ]);
  expect(await it.ledger.balance(accountId)).toBe(9_400n);
});

describe('the statement', () => {
  const COUNT = 23;
  const owner = buildPrincipal('statement');
  const list = (args: StatementArgs, where?: Record<string, unknown>) => billing().ledger(owner, args, where);
  const numbers = ({ edges }: Connection<LedgerEntry>) => edges.map(({ node }) => node.number);

  beforeAll(async () => {
    await it.give('other', 1_000n);
    await it.give('statement', 1_000n);
    for (let n = 2; n <= COUNT; n++)
      if (n % 5 === 0) await it.give('statement', BigInt(n));
      else
        await it.ledger.charge({
          key: `charge:statement:${n}`,
          accountId: 'statement',
          credits: BigInt(n),
          at: new Date(ms('2027-03-01T00:00:00Z') + n * 3_600_000),
          details: { streamID: `str-${n % 2}`, seconds: '12.5' },
        });
  });

  test('shows each entry with the balance after it, and no other account’s', async () => {
    const { totalCount, edges } = await list({ first: 100 });
    expect(totalCount).toBe(COUNT);
    let balance = 0n;
    for (const { node } of edges.toReversed()) {
      balance += BigInt(node.credits);
      expect(node.balanceCredits).toBe(String(balance));
    }
    expect(edges[0]?.node).toMatchObject({
      number: COUNT,
      kind: 'charge',
      credits: '-23',
      streamID: 'str-1',
      onAirSeconds: 12.5,
    });
    expect(edges.at(-1)?.node).toMatchObject({
      number: 1,
      kind: 'grant',
      credits: '1000',
      streamID: null,
      reason: null,
    });
  });

  const where = fc.constantFrom(
    undefined,
    { kind: { eq: 'grant' } },
    { not: { kind: { in: ['grant', 'topup'] } } },
    { or: [{ streamID: { eq: 'str-1' } }, { streamID: { isNull: true } }], kind: null },
    { and: [{ at: { gte: '2027-03-01T05:00:00Z', lt: '2027-03-01T20:00:00+01:00' } }, { not: { or: [] } }] },
  );
  const size = fc.option(fc.nat(12), { nil: undefined });

  test('has the pages that a list in memory would have', async () => {
    await fc.assert(
      fc.asyncProperty(
        ...([where, fc.boolean(), size, size, fc.nat(30), fc.nat(30)] as const),
        async (filter, ascending, first, last, a, b) => {
          const orderBy = { by: 'number', descending: !ascending } as const;
          const all = (await list({ first: 100, orderBy }, filter)).edges;
          const [after, before] = [all[a]?.cursor, all[b]?.cursor];
          const page = await list({ first, last, after, before, orderBy }, filter);
          const from = after === undefined ? 0 : a + 1;
          const to = Math.max(from, before === undefined ? all.length : b);
          let part = all.slice(from, to);
          if (first !== undefined || last === undefined) part = part.slice(0, first ?? 20);
          if (last !== undefined) part = last === 0 ? [] : part.slice(-last);
          expect(numbers(page)).toEqual(part.map(({ node }) => node.number));
          expect(page.totalCount).toBe(all.length);
          if (part.length > 0) expect(page.pageInfo.hasNextPage).toBe(part.at(-1)?.cursor !== all.at(-1)?.cursor);
          if (part.length > 0) expect(page.pageInfo.hasPreviousPage).toBe(part[0]?.cursor !== all[0]?.cursor);
        },
      ),
      { numRuns: 60 },
    );
    expect(numbers(await list({ first: 100 }, { kind: { eq: 'grant' } }))).toEqual([20, 15, 10, 5, 1]);
    expect(numbers(await list({ first: 100 }, { streamID: { eq: 'str-0' } }))).toHaveLength(9);
  });

  test('refuses a cursor of another list', async () => {
    await expect(list({ after: 'c3RyIDE' })).rejects.toMatchObject({ code: 'validation_failed' });
  });
});

describe('the balance', () => {
  const readBalance = (rate: { creditsPerHour: bigint; available: bigint }) =>
    billing(rate).get(buildPrincipal('other'));

  test('says how long it lasts, and when that is not long', async () => {
    expect(await readBalance({ creditsPerHour: 300n, available: 900_000n })).toEqual({
      state: 'active',
      hadCredit: true,
      balanceCredits: '1000',
      availableCredits: '900000',
      creditsPerHour: '300',
      secondsLeft: 10_800_000,
      currency: 'USD',
      currencyDigits: 2,
      creditsPerMinorUnit: '100',
      paymentMethods: [],
      supportUrl: null,
      topUp: null,
    });
    expect(await readBalance({ creditsPerHour: 300n, available: 900n })).toMatchObject({
      state: 'low',
      secondsLeft: 10_800,
    });
    expect(await readBalance({ creditsPerHour: 0n, available: 900n })).toMatchObject({
      state: 'active',
      secondsLeft: null,
    });
    expect(await readBalance({ creditsPerHour: 300n, available: -1n })).toMatchObject({
      state: 'exhausted',
      secondsLeft: 0,
    });
  });
});

describe('the prices', () => {
  test('are those by which usage is charged, with the next one if it is set', async () => {
    const from = '2999-01-01T00:00:00.000Z';
    const profiles = QUALITIES.flatMap((quality) => FRAMERATES.map((framerate) => ({ quality, framerate })));
    const list = profiles.map((profile, n) => ({ ...profile, creditsPerHour: 100 + n }));
    const prices = parsePrices(
      JSON.stringify([...list, { quality: '1080p', framerate: 30, creditsPerHour: 999, from }]),
    );
    const { onAir, ...rest } = await billing(undefined, { prices }).prices();
    expect(rest).toEqual({
      currency: 'USD',
      currencyDigits: 2,
      creditsPerMinorUnit: '100',
      free: ['preparation', 'storage', 'destinations'],
    });
    const now = new Date();
    for (const [n, { quality, framerate }] of profiles.entries())
      expect(onAir[n]).toEqual({
        quality: `q_${quality}`,
        framerate: `f_${framerate}`,
        creditsPerHour: String(priceAt(prices, { quality, framerate }, now)),
        next: quality === '1080p' && framerate === 30 ? { creditsPerHour: '999', from } : null,
      });
  });

  test('are none where nothing costs anything', async () => {
    await expect(billing(undefined, { enabled: false }).prices()).rejects.toMatchObject({ code: 'billing_disabled' });
  });
});

describe('invalid requests are refused', () => {
  const day = { groupBy: 'day', timeZone: 'UTC' } as const;
  test.each([
    ['a zone that is none', { ...day, timeZone: 'Mars/Base' }, '/timeZone'],
    ['a day that is none', { ...day, from: '2027-02-30' }, '/from'],
    ['a day of long ago', { ...day, to: '1999-12-31' }, '/to'],
    ['an end before the beginning', { ...day, from: '2027-02-02', to: '2027-02-01' }, '/from'],
    ['more than a year', { ...day, from: '2026-01-01', to: '2027-02-01' }, '/from'],
  ])('%s', async (_what, asked, path) => {
    await expect(billing().usage(buildPrincipal('other'), asked)).rejects.toMatchObject({
      code: 'validation_failed',
      extras: { errors: [{ path }] },
    });
  });

  test('and everything where billing is off', async () => {
    const off = billing(undefined, { enabled: false });
    const owner = buildPrincipal('other');
    for (const asked of [off.get(owner), off.usage(owner, day), off.ledger(owner, {})])
      await expect(asked).rejects.toMatchObject({ code: 'billing_disabled' });
  });
});

test('the last thirty days are the default period', async () => {
  const { from, to, lines } = await billing().usage(buildPrincipal('other'), {
    groupBy: 'day',
    timeZone: 'Pacific/Kiritimati',
  });
  expect([from, to, lines.length]).toEqual(['2027-03-13', '2027-04-11', 30]);
});
