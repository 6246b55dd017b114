/** Tests that a payment page charges the sum that the ledger books, in currencies that Stripe counts in other units. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
import { openPayments } from '../../../src/service/billing/cards/open.ts';
import { createTopUpService } from '../../../src/service/billing/cards/service.ts';
import { cardSettings } from '../../../src/service/billing/cards/settings.ts';
import type { Payments } from '../../../src/service/billing/cards/stripe.ts';
import { createLedger, type Ledger } from '../../../src/service/billing/ledger/ledger.ts';
import { readCurrencyDigits } from '../../../src/service/billing/ledger/store.ts';
import { MIGRATIONS } from '../../../src/service/db/migrations.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { type StripeStub, startStripeStub, stripeSettings } from '../../kit/fake/stripe.ts';
import { query, shareTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';

let postgres: TestPostgres;
let stripe: StripeStub;
let db: Db;
let ledger: Ledger;
let payments: Payments;
let number = 0;
let accountId: string;

beforeAll(async () => {
  [postgres, stripe] = await Promise.all([shareTestPostgres(), startStripeStub()]);
  payments = (await openPayments(cardSettings(stripeSettings(stripe)))) as Payments;
});
afterAll(async () => {
  await Promise.all([postgres?.stop(), stripe?.stop()]);
});
beforeEach(() => {
  accountId = `acc${++number}`;
  stripe.refuse(undefined);
  // Each test has a ledger that knows of no digits yet.
  db = createDb(createPool(postgres.url, { searchPath: 'loopstream' }));
  ledger = createLedger(db);
});
afterEach(async () => {
  await db.destroy();
  await query(postgres.url, 'delete from loopstream.ledger_currencies');
});

const serve = (currency: string) =>
  createTopUpService({
    db,
    ledger,
    payments,
    log: createLogger('test', 'silent'),
    publicUrl: 'http://127.0.0.1:8080',
    limits: { currency, minMinor: 0n, maxMinor: 0n },
    findEmail: async (id) => `${id}@example.com`,
  });
type Service = ReturnType<typeof serve>;
const begin = (service: Service, amountMinor: string, currency: string) =>
  service.create({ accountId, userId: 'u' } as Parameters<Service['create']>[0], { amountMinor, currency });
const getSession = (checkoutUrl: string | null) => {
  const id = String(new URL(checkoutUrl ?? '').pathname.split('/').at(-1));
  const session = stripe.sessions.find((one) => one.id === id);
  return { id, charged: session?.amount_total };
};
const readEvent = (event: object) => event as unknown as Parameters<Service['handleEvent']>[0];
const asEvent = ({ data, ...event }: { data: { object: object } }) => readEvent({ ...event, object: data.object });

test.each([
  ['HUF', 2, '500000', 500_000],
  ['IDR', 0, '50000', 5_000_000],
  ['ISK', 0, '1000', 100_000],
  ['UGX', 0, '20000', 2_000_000],
  ['JPY', 0, '2500', 2500],
  ['MGA', 2, '1000000', 10_000],
  ['KWD', 3, '25000', 25_000],
])(
  'a top-up in %s with %i digits is charged, credited and taken back to the unit',
  async (currency, digits, amount, charge) => {
    await query(postgres.url, `insert into loopstream.ledger_currencies values ('${currency}', ${digits})`);
    const service = serve(currency);
    const topUp = await begin(service, amount, currency);
    expect(topUp).toMatchObject({ amountMinor: amount, currencyDigits: digits });
    const { id, charged } = getSession(topUp.checkoutUrl);
    expect(charged).toBe(charge);
    await service.handleEvent(asEvent(stripe.pay(id)));
    expect(await service.get({ accountId }, topUp.id)).toMatchObject({ state: 'paid', paidMinor: amount });
    expect(await ledger.balance(accountId)).toBe(BigInt(amount) * 100n);
    await service.handleEvent(asEvent(stripe.refund(id, charge).event));
    expect(await service.get({ accountId }, topUp.id)).toMatchObject({ state: 'refunded', refundedMinor: amount });
    expect(await ledger.balance(accountId)).toBe(0n);
  },
);

test('an amount that cannot be charged exactly is refused with the amounts that can', async () => {
  await expect(begin(serve('MGA'), '1000001', 'MGA')).rejects.toMatchObject({
    code: 'validation_failed',
    extras: { errors: [{ path: '/amountMinor', message: 'must be a multiple of 100, which is 1.00 MGA' }] },
  });
  await expect(begin(serve('HUF'), '5000', 'HUF')).rejects.toMatchObject({
    extras: { errors: [{ message: expect.stringMatching(/which is 500\.00 HUF to 100000\.00 HUF/) }] },
  });
});

test.each([
  [
    { code: 'amount_too_small', message: 'Amount must convert to at least 50 cents.' },
    'validation_failed',
    /must be more/,
  ],
  [{ code: 'amount_too_large', message: 'Amount must be no more.' }, 'validation_failed', /must be less/],
  [
    { param: 'line_items[0][price_data][currency]', message: 'Invalid currency: huf.' },
    'topups_unavailable',
    /does not charge the currency of this service.*LOOPSTREAM_CURRENCY/,
  ],
  [{ message: 'Your account cannot currently make charges.' }, 'topups_unavailable', /administrator/],
])('a refusal of Stripe (%j) is %s', async (error, code, message) => {
  stripe.refuse({ type: 'invalid_request_error', ...error });
  await expect(begin(serve('HUF'), '500000', 'HUF')).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});

test('a ledger of an earlier version goes on in the digits that it has', async () => {
  const { url } = postgres;
  await query(url, 'drop table loopstream.ledger_currencies');
  await query(url, 'alter table loopstream.topups drop column paid_as_sent');
  await ledger.post({
    key: 'before',
    kind: 'topup',
    accountId,
    at: new Date(),
    entries: [
      { account: `customer:${accountId}`, credits: 500_000n },
      { account: 'cash:card', credits: -500_000n },
    ],
  });
  // Shown as 5000 HUF, and charged as 50.00 HUF then.
  const session = (
    await payments.createSession({
      topUpId: `top-${accountId}`,
      accountId,
      charge: 5000n,
      currency: 'HUF',
      email: 'a@example.com',
      expiresAt: new Date(Date.now() + 3_600_000),
      returnUrl: 'http://127.0.0.1:8080/',
    })
  ).sessionId;
  const paid = stripe.pay(session);
  await query(
    url,
    `insert into loopstream.topups (id, account_id, amount_minor, currency, state, paid_minor, session_id, created_at, expires_at)
      values ('top-${accountId}', '${accountId}', 5000, 'HUF', 'paid', 5000, '${session}', now(), now() + interval '1 h')`,
  );
  await MIGRATIONS['0018-ledger-currencies']?.up(db);
  expect(await readCurrencyDigits(db, 'HUF')).toBe(0);
  const service = serve('HUF');
  await service.handleEvent(asEvent(paid));
  expect(await ledger.balance(accountId)).toBe(500_000n);
  // All that was credited goes back with all that was paid.
  await service.handleEvent(asEvent(stripe.refund(session, 5000).event));
  expect(await ledger.balance(accountId)).toBe(0n);
  const next = await begin(service, '5000', 'HUF');
  expect(getSession(next.checkoutUrl).charged).toBe(500_000);
});
