/** Tests top-ups by card on a real Postgres, against a stand-in for Stripe's API, through the same APIs as customers. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
import { createTopUpJob } from '../../../src/service/billing/cards/job.ts';
import { openPayments } from '../../../src/service/billing/cards/open.ts';
import type { TopUp } from '../../../src/service/billing/cards/record.ts';
import { createTopUpService } from '../../../src/service/billing/cards/service.ts';
import { cardSettings } from '../../../src/service/billing/cards/settings.ts';
import type { Payments } from '../../../src/service/billing/cards/stripe.ts';
import { createLedger, type Ledger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { type StripeStub, signEvent, startStripeStub, stripeSettings } from '../../kit/fake/stripe.ts';
import { query, shareTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';
import { buildTestServer, type TestServer } from '../../kit/system/server.ts';

let postgres: TestPostgres;
let stripe: StripeStub;
let db: Db;
let ledger: Ledger;
let payments: Payments;
let server: TestServer;
let withoutKey: TestServer;
let wrongKey: TestServer;
let number = 0;
/** Each test has an account of its own: its key is its name. */
let account: string;

const log = createLogger('test', 'silent');
const serviceWith = (provider: Payments | undefined) =>
  createTopUpService({
    db,
    ledger,
    log,
    payments: provider,
    publicUrl: 'http://127.0.0.1:8080',
    limits: { currency: 'USD', minMinor: 500n, maxMinor: 100_000n },
    findEmail: async (id) => `${id}@example.com`,
  });
let service: ReturnType<typeof serviceWith>;

beforeAll(async () => {
  [postgres, stripe] = await Promise.all([shareTestPostgres(), startStripeStub()]);
  db = createDb(createPool(postgres.url, { searchPath: 'loopstream' }));
  ledger = createLedger(db);
  payments = (await openPayments(cardSettings(stripeSettings(stripe)))) as Payments;
  service = serviceWith(payments);
  server = await buildTestServer({ db, services: { topUps: service } });
  withoutKey = await buildTestServer({ db, services: { topUps: serviceWith(undefined) } });
  const other = await openPayments(
    cardSettings({ ...stripeSettings(stripe), LOOPSTREAM_STRIPE_KEY: 'sk_test_of_nobody' }),
  );
  wrongKey = await buildTestServer({ db, services: { topUps: serviceWith(other) } });
});
afterAll(async () => {
  for (const one of [server, withoutKey, wrongKey]) await one?.app.close();
  await db?.destroy();
  await Promise.all([postgres?.stop(), stripe?.stop()]);
});
beforeEach(() => {
  account = `acc${++number}`;
  stripe.breakDown(false);
});

const ask = async (
  method: 'GET' | 'POST',
  url: string,
  payload?: object,
  headers: Record<string, string> = {},
  to = server,
) => {
  const answer = await to.app.inject({
    method,
    url,
    headers: { 'x-api-key': account, ...headers },
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
};
const begin = async (amountMinor = '1000'): Promise<{ id: string; session: string }> => {
  const { status, body } = await ask('POST', '/v1/billing/top-ups', { amountMinor, currency: 'usd' });
  expect({ status, body }).toMatchObject({ status: 201, body: { state: 'open', amountMinor, paidMinor: '0' } });
  const session = String(new URL(body.checkoutUrl).pathname.split('/').at(-1));
  return { id: body.id, session };
};
const deliver = async (event: object, options?: Parameters<typeof signEvent>[1], payload?: string) => {
  const made = signEvent(event, options);
  const { headers } = made;
  const { statusCode, body } = await server.app.inject({
    method: 'POST',
    url: '/v1/webhooks/stripe',
    headers,
    payload: payload ?? made.payload,
  });
  return { status: statusCode, body: JSON.parse(body) };
};
const fetchTopUp = async (id: string): Promise<TopUp> => (await ask('GET', `/v1/billing/top-ups/${id}`)).body;
const balance = () => ledger.balance(account);
const spend = (credits: bigint) =>
  ledger.charge({ key: `charge:${account}:${credits}`, accountId: account, credits, at: new Date() });
/** Sums the entries of all transactions of the account, by account of the ledger. */
const books = async () => {
  const rows = await query(
    postgres.url,
    `select e.account, sum(e.credits)::text as credits from loopstream.ledger_entries e
      join loopstream.ledger_transactions t on t.id = e.transaction_id where t.account_id = '${account}'
      group by e.account having sum(e.credits) <> 0`,
  );
  return Object.fromEntries(rows.map((row) => [String(row.account).replace(`:${account}`, ''), Number(row.credits)]));
};

describe('a page to pay at', () => {
  test('is made once for a request, for any number of retries and lost answers', async () => {
    const before = stripe.made();
    const send = () =>
      ask(
        'POST',
        '/v1/billing/top-ups',
        { amountMinor: '700', currency: 'USD' },
        { 'idempotency-key': `k-${account}` },
      );
    stripe.breakDown(true);
    expect(await send()).toMatchObject({ status: 502, body: { code: 'upstream_unavailable' } });
    stripe.breakDown(false);
    const answers = await Promise.all([send(), send(), send()]);
    expect(new Set(answers.map(({ body }) => body.checkoutUrl)).size).toBe(1);
    expect(stripe.made() - before).toBe(1);
    // The server died before it received the page, and before it answered.
    const where = `where account_id = '${account}'`;
    await query(postgres.url, `update loopstream.topups set session_id = null, checkout_url = null ${where}`);
    await query(postgres.url, `update loopstream.idempotency set status = null, claimed_until = now() ${where}`);
    expect((await send()).body).toMatchObject({ checkoutUrl: answers[0]?.body.checkoutUrl });
    expect(stripe.made() - before).toBe(1);
    expect((await ask('GET', '/v1/billing/top-ups')).body.data).toHaveLength(1);
  });

  test('is for amounts within the limits, in the currency of the service', async () => {
    const wish = (amountMinor: unknown, currency = 'USD') =>
      ask('POST', '/v1/billing/top-ups', { amountMinor, currency });
    const before = stripe.asked();
    for (const wrong of ['499', '100001', '0', '-5', '1.5', 500])
      expect(await wish(wrong)).toMatchObject({ status: 422, body: { errors: [{ path: '/amountMinor' }] } });
    expect(await wish('1000', 'EUR')).toMatchObject({ status: 422, body: { errors: [{ path: '/currency' }] } });
    expect(stripe.asked()).toBe(before);
  });

  test('cannot be made without a payment provider, or with a key that the provider refuses, which no customer sees', async () => {
    const wish = { amountMinor: '1000', currency: 'USD' };
    for (const [other, refusal] of [
      [withoutKey, { status: 404, body: { code: 'topups_disabled' } }],
      [wrongKey, { status: 503, body: { code: 'topups_unavailable' } }],
    ] as const) {
      const answer = await ask('POST', '/v1/billing/top-ups', wish, {}, other);
      expect(answer).toMatchObject(refusal);
      expect(JSON.stringify(answer.body) + other.logs()).not.toMatch(/sk_test|whsec/);
    }
    expect(wrongKey.logs()).toContain('StripeAuthenticationError');
  });

  test('is seen by its account alone', async () => {
    const { id } = await begin();
    expect((await ask('GET', '/v1/billing/top-ups')).body.data).toMatchObject([{ id }]);
    account = 'somebody-else';
    expect(await ask('GET', `/v1/billing/top-ups/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'topup_not_found' },
    });
    expect((await ask('GET', '/v1/billing/top-ups')).body.data).toEqual([]);
  });

  test('is made, listed and read by GraphQL, to the same words', async () => {
    const graphql = async (text: string, variables = {}) =>
      (await ask('POST', '/graphql', { query: text, variables })).body;
    const make = 'mutation($input: TopUpCreateInput!) { createTopUp(input: $input) { topUp { id checkoutUrl } } }';
    const { data } = await graphql(make, { input: { amountMinor: '800', currency: 'USD' } });
    const { id } = data.createTopUp.topUp;
    const read = `{ topUps(first: 5, orderBy: { field: CREATED_AT }) { totalCount edges { node { id state } } }
      topUp(id: "${id}") { amountMinor } node(id: "${id}") { __typename id } }`;
    expect((await graphql(read)).data).toEqual({
      topUps: { totalCount: 1, edges: [{ node: { id, state: 'open' } }] },
      topUp: { amountMinor: '800' },
      node: { __typename: 'TopUp', id },
    });
    const wrong = await graphql(make, { input: { amountMinor: '1', currency: 'USD' } });
    expect(wrong.errors[0].extensions.errors).toMatchObject([{ path: '/input/amountMinor' }]);
  });
});

describe('a payment', () => {
  test('is credited once, however often and late it is reported', async () => {
    const { id, session } = await begin();
    const event = stripe.pay(session);
    const told = await Promise.all([1, 2, 3, 4].map(() => deliver(event)));
    expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await fetchTopUp(id)).toMatchObject({ state: 'paid', paidMinor: '1000', checkoutUrl: null });
    await spend(30_000n);
    expect((await deliver(event)).status).toBe(200);
    expect(await balance()).toBe(70_000n);
    expect(await books()).toEqual({ customer: 70_000, 'cash:card': -100_000, 'revenue:streaming': 30_000 });
  });

  test('has the state that Stripe returns, not that of an event', async () => {
    const { id, session } = await begin();
    const event = structuredClone(stripe.pay(session, { amount: 600 }));
    Object.assign(event.data.object, { amount_total: 99_999_999, payment_status: 'paid' });
    await deliver(event);
    expect(await fetchTopUp(id)).toMatchObject({ state: 'paid', amountMinor: '1000', paidMinor: '600' });
    expect(await balance()).toBe(60_000n);
    const rows = await query(postgres.url, `select review from loopstream.topups where id = '${id}'`);
    expect(rows).toEqual([{ review: 'amount_differs' }]);
  });

  test('in another currency is not credited, and is left to staff', async () => {
    const { id, session } = await begin();
    await deliver(stripe.pay(session, { currency: 'jpy' }));
    expect(await fetchTopUp(id)).toMatchObject({ state: 'review', paidMinor: '0' });
    await deliver(stripe.refund(session, 1000).event);
    expect(await books()).toEqual({});
  });

  test('by a way that takes days is credited when it comes, and an expired page changes nothing', async () => {
    const [slow, never, old] = [await begin(), await begin(), await begin()];
    for (const { session } of [slow, never]) await deliver(stripe.pay(session, { later: true }));
    expect(await fetchTopUp(slow.id)).toMatchObject({ state: 'processing', checkoutUrl: null });
    await deliver(stripe.arrive(slow.session));
    await deliver(stripe.fail(never.session));
    await deliver(stripe.expire(old.session));
    const states = await Promise.all([slow, never, old].map(async ({ id }) => (await fetchTopUp(id)).state));
    expect(states).toEqual(['paid', 'failed', 'expired']);
    expect(await balance()).toBe(100_000n);
  });

  test('is known before its page is: Stripe may be quicker than its own answer', async () => {
    const { id, session } = await begin();
    await query(postgres.url, `update loopstream.topups set session_id = null where id = '${id}'`);
    await deliver(stripe.pay(session));
    expect(await balance()).toBe(100_000n);
  });
});

describe('money that goes back', () => {
  test('refunds come in parts, out of order and before their payment was known', async () => {
    const { id, session } = await begin();
    const payment = stripe.pay(session);
    const first = stripe.refund(session, 300);
    const second = stripe.refund(session, 700, 'pending');
    await deliver(second.event);
    expect(await fetchTopUp(id)).toMatchObject({ state: 'partially_refunded', refundedMinor: '300' });
    await deliver(stripe.refundBecomes(second.id, 'succeeded'));
    for (const event of [first.event, payment, second.event]) await deliver(event);
    expect(await fetchTopUp(id)).toMatchObject({ state: 'refunded', refundedMinor: '1000' });
    expect(await books()).toEqual({});
    await deliver(stripe.refundBecomes(first.id, 'failed'));
    expect(await fetchTopUp(id)).toMatchObject({ state: 'partially_refunded', refundedMinor: '700' });
    expect(await books()).toEqual({ customer: 30_000, 'cash:card': -30_000 });
  });

  test('that was used already is written off, flags the account, and comes back in the same parts', async () => {
    const { id, session } = await begin();
    await deliver(stripe.pay(session));
    await spend(80_000n);
    const { id: dispute, event } = stripe.dispute(session, 1000);
    await Promise.all([deliver(event), deliver(event)]);
    expect(await fetchTopUp(id)).toMatchObject({ state: 'disputed', refundedMinor: '1000' });
    expect(await books()).toEqual({
      'revenue:streaming': 80_000,
      writeoff: -80_000,
      disputes: 100_000,
      'cash:card': -100_000,
    });
    expect(
      await query(postgres.url, `select * from loopstream.account_flags where account_id = '${account}'`),
    ).toMatchObject([{ reason: 'unpaid_credits_used', subject: dispute }]);
    const won = stripe.disputeBecomes(dispute, 'won');
    for (const one of [won, event, won]) await deliver(one);
    expect(await fetchTopUp(id)).toMatchObject({ state: 'paid', refundedMinor: '0' });
    expect(await books()).toEqual({ customer: 20_000, 'cash:card': -100_000, 'revenue:streaming': 80_000 });
  });

  test('in a dispute that is lost stays away, unless an appeal is won; a mere question of the bank takes nothing', async () => {
    const { id, session } = await begin();
    await deliver(stripe.pay(session));
    const { id: dispute, event } = stripe.dispute(session, 1000, 'warning_needs_response');
    await deliver(event);
    expect(await balance()).toBe(100_000n);
    await deliver(stripe.disputeBecomes(dispute, 'needs_response'));
    await deliver(stripe.disputeBecomes(dispute, 'lost'));
    expect(await fetchTopUp(id)).toMatchObject({ state: 'charged_back' });
    expect(await books()).toEqual({});
    await deliver(stripe.disputeBecomes(dispute, 'won'));
    expect(await books()).toEqual({ customer: 100_000, 'cash:card': -100_000 });
  });
});

describe('an event', () => {
  test('that is forged, changed on its way, unsigned or old is refused', async () => {
    const { session } = await begin();
    const event = stripe.pay(session);
    const { payload } = signEvent(event);
    const old = Math.floor(Date.now() / 1000) - 301;
    const forged = { status: 400, body: { code: 'webhook_forged' } };
    expect(await deliver(event, { secret: 'whsec_of_another' })).toMatchObject(forged);
    expect(await deliver(event, { at: old })).toMatchObject(forged);
    // The same JSON in other bytes.
    expect(await deliver(event, {}, JSON.stringify(JSON.parse(payload)))).toMatchObject(forged);
    expect(await ask('POST', '/v1/webhooks/stripe', event)).toMatchObject(forged);
    expect(await balance()).toBe(0n);
    expect((await deliver(event)).status).toBe(200);
    expect(await balance()).toBe(100_000n);
  });

  test('about something else is taken, and forgotten', async () => {
    const asked = stripe.asked();
    const event = {
      id: 'evt_1',
      object: 'event',
      created: 1,
      type: 'customer.created',
      data: { object: { id: 'cus' } },
    };
    expect(await deliver(event)).toMatchObject({ status: 200, body: { received: true } });
    expect(stripe.asked()).toBe(asked);
  });

  test('is to be sent again when Stripe cannot be asked, and is taken then', async () => {
    const { session } = await begin();
    const event = stripe.pay(session);
    stripe.breakDown(true);
    expect(await deliver(event)).toMatchObject({ status: 502, body: { code: 'upstream_unavailable' } });
    stripe.breakDown(false);
    expect((await deliver(event)).status).toBe(200);
    expect(await balance()).toBe(100_000n);
  });
});

test('the job finds events that no webhook delivered: payments, refunds, unpaid pages', async () => {
  const job = createTopUpJob({ db, ledger, payments, log, quietSeconds: -1 });
  const never = new AbortController().signal;
  await job.run(never);
  const [paid, refunded, left, unmade] = [await begin(), await begin(), await begin(), await begin()];
  for (const { session } of [paid, refunded]) stripe.pay(session);
  await job.run(never);
  expect(await balance()).toBe(200_000n);
  stripe.refund(refunded.session, 1000);
  stripe.expire(left.session);
  await query(
    postgres.url,
    `update loopstream.topups set session_id = null, expires_at = now() - interval '1 s' where id = '${unmade.id}'`,
  );
  stripe.breakDown(true);
  await expect(job.run(never)).rejects.toThrow();
  stripe.breakDown(false);
  await job.run(never);
  const states = await Promise.all([paid, refunded, left, unmade].map(async ({ id }) => (await fetchTopUp(id)).state));
  expect(states).toEqual(['paid', 'refunded', 'expired', 'expired']);
  expect(await balance()).toBe(100_000n);
  // No event is fetched twice: the job asks for new events, and for open payments.
  const open = `select count(*)::int as n from loopstream.topups where state in ('open', 'processing')
    and session_id is not null`;
  const [{ n } = {}] = await query(postgres.url, open);
  const asked = stripe.asked();
  await job.run(never);
  expect(stripe.asked() - asked).toBe(1 + Number(n));
});
