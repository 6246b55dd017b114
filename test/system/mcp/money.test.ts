/** Tests every tool about money with the stock client, over the real server and Postgres, and a stub of the payment provider. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIssuer } from '../../../src/service/billing/invoices/issue.ts';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { describedTools } from '../../../src/service/server/mcp/tools.ts';
import { OPERATION_SCOPES } from '../../../src/service/server/operations/scopes.ts';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { type StripeStub, startStripeStub, stripeSettings } from '../../kit/fake/stripe.ts';
import { type Agent, connectAgent, withKey } from '../../kit/make/agents.ts';
import { beginScanning, CRYPTO_SETTINGS } from '../../kit/make/crypto-settings.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';

let stripe: StripeStub;
let api: TestApi;
let ada: Client;
let agent: Agent;
beforeAll(async () => {
  stripe = await startStripeStub();
  const required = { LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 'none' };
  const { cards, crypto } = apiConfig({ ...required, ...CRYPTO_SETTINGS, ...stripeSettings(stripe) });
  api = await startTestApi({ billing: true, cards, crypto });
  await beginScanning(api.databaseUrl);
  ada = await api.client('ada');
  await issueAnInvoice();
  agent = await connectAgent(api.url, withKey(ada.key));
});
afterAll(async () => {
  await agent?.close();
  await api?.stop();
  await stripe?.stop();
});

/** Issues an invoice for an hour on air in January. */
async function issueAnInvoice(): Promise<void> {
  const db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
  try {
    const ledger = createLedger(db);
    const details = { streamID: 'str-1', profile: '1080p30', seconds: '3600', creditsPerHour: '1250' };
    const { accountId } = ada;
    const at = new Date('2026-01-15T12:00:00Z');
    await ledger.charge({ key: 'charge:1', accountId, credits: 1250n, at, floor: -10_000n, details });
    const seller = {
      name: 'Loops',
      address: ['Berlin'],
      country: 'DE',
      timeZone: 'UTC',
      taxes: [],
      numberPrefix: 'L-',
    };
    const issuer = createIssuer({ db, ledger, seller, currency: 'USD' });
    await issuer.issueDue(new Date(), new AbortController().signal);
  } finally {
    await db.destroy();
  }
}

type Args = Record<string, unknown>;

const COINS = { asset: 'ETH', network: 'ethereum' };
const CARD = { amountMinor: '2500', currency: 'USD' };

/** The arguments of each tool, from earlier results, and its refusals with their codes. */
const CALLS: Record<string, { good: (ids: Record<string, string>) => Args; bad: [Args, string] }> = {
  get_billing: { good: () => ({}), bad: [{ id: 'x' }, 'validation_failed'] },
  get_prices: { good: () => ({}), bad: [{ currency: 'EUR' }, 'validation_failed'] },
  get_usage: { good: () => ({}), bad: [{ from: 'yesterday' }, 'validation_failed'] },
  list_ledger_entries: { good: () => ({ limit: 1 }), bad: [{ limit: 0 }, 'validation_failed'] },
  get_billing_address: { good: () => ({}), bad: [{ id: 'x' }, 'validation_failed'] },
  update_billing_address: {
    good: () => ({ city: 'Berlin', country: 'DE' }),
    bad: [{ country: 'de' }, 'validation_failed'],
  },
  list_invoices: { good: () => ({}), bad: [{ cursor: 'x' }, 'validation_failed'] },
  get_invoice: { good: ({ list_invoices: id }) => ({ id }), bad: [{ id: 'inv-x' }, 'invoice_not_found'] },
  create_top_up: { good: () => CARD, bad: [{ ...CARD, currency: 'EUR' }, 'validation_failed'] },
  list_top_ups: { good: () => ({}), bad: [{ limit: 101 }, 'validation_failed'] },
  get_top_up: { good: ({ create_top_up: id }) => ({ id }), bad: [{ id: 'top-x' }, 'topup_not_found'] },
  list_crypto_assets: { good: () => ({}), bad: [{ asset: 'ETH' }, 'validation_failed'] },
  create_crypto_deposit: { good: () => COINS, bad: [{ ...COINS, asset: 'BTC' }, 'validation_failed'] },
  list_crypto_deposits: { good: () => ({}), bad: [{ cursor: 'x' }, 'validation_failed'] },
  get_crypto_deposit: {
    good: ({ create_crypto_deposit: id }) => ({ id }),
    bad: [{ id: 'dep-x' }, 'crypto_deposit_not_found'],
  },
};

test('each tool runs its operation, and has a next step for each refusal', async () => {
  const ids: Record<string, string> = {};
  for (const [name, { good, bad }] of Object.entries(CALLS)) {
    const { isError, output, text } = await agent.call(name, good(ids));
    expect(isError, `${name}: ${text}`).toBe(false);
    const first = (output.data as { id?: string }[] | undefined)?.[0]?.id;
    const id = typeof output.id === 'string' ? output.id : first;
    if (id !== undefined) ids[name] = id;
    const refused = await agent.call(name, bad[0]);
    expect(refused, `${name}: ${refused.text}`).toMatchObject({
      isError: true,
      output: { code: bad[1], fix: expect.stringMatching(/\.$/) },
    });
  }
});

test('all tools of money are among them', () => {
  const ofMoney = [...describedTools()].filter(([, { operations }]) =>
    operations.some((id) => OPERATION_SCOPES[id] === 'billing' || id === 'getPrices'),
  );
  expect(Object.keys(CALLS).sort()).toEqual(ofMoney.map(([name]) => name).sort());
});

test('without prices no payment is possible, whatever is set up; earlier payments are still handled', async () => {
  const { url, stop } = await api.replica({ billing: false });
  const free = await connectAgent(url, withKey(ada.key));
  try {
    expect(await free.call('create_top_up', CARD)).toMatchObject({ output: { code: 'topups_disabled' } });
    expect(await free.call('create_crypto_deposit', COINS)).toMatchObject({ output: { code: 'crypto_disabled' } });
    expect(await free.call('list_top_ups')).toMatchObject({ isError: false });
    // A refund of last month's payment may still arrive: the server checks its signature.
    const event = await call(`${url}/v1/webhooks/stripe`, 'POST', {}, { 'stripe-signature': 't=1,v1=00' });
    expect(event.body).toMatchObject({ code: 'webhook_forged' });
  } finally {
    await free.close();
    await stop();
  }
});
