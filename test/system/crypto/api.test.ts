/** Tests crypto deposits through the APIs and pages of programs and users. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openCrypto } from '../../../src/service/billing/crypto/open.ts';
import { createCryptoService } from '../../../src/service/billing/crypto/service.ts';
import type { CryptoConfig } from '../../../src/service/billing/crypto/settings.ts';
import { beginScanning, ETHEREUM } from '../../kit/make/crypto-settings.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { buildTestServer, type TestServer } from '../../kit/system/server.ts';

const CONFIG: CryptoConfig = {
  networks: [
    {
      ...ETHEREUM,
      assets: [
        { asset: 'ETH', decimals: 18, minimum: '1000000000000000' },
        { asset: 'PEPE', decimals: 18, contract: `0x${'ab'.repeat(20)}` },
      ],
    },
    { ...ETHEREUM, network: 'holesky', chainId: 17_000 },
  ],
  rates: { currency: 'USD', prices: { ETH: '3000.5' } },
  ratesUrl: undefined,
  quoteSeconds: 600,
  currency: 'USD',
};

let ledger: TestLedger;
let server: TestServer;
let without: TestServer;
let readsOnly: TestServer;
let account: string;
let number = 0;
const now = new Date('2027-01-31T12:00:00Z');
let passed = 0;

beforeAll(async () => {
  ledger = await startTestLedger();
  const { db } = ledger;
  await beginScanning(ledger.url);
  const clock = { now: () => new Date(now.getTime() + passed), monotonicMs: () => passed };
  const crypto = createCryptoService({ db, clock, crypto: await openCrypto(CONFIG) });
  server = await buildTestServer({ db, services: { crypto } });
  readsOnly = await buildTestServer({ db, services: { crypto }, scopes: ['read', 'write'] });
  const off = createCryptoService({ db, crypto: await openCrypto({ ...CONFIG, networks: undefined }) });
  without = await buildTestServer({ db, services: { crypto: off } });
});
afterAll(async () => {
  for (const one of [server, without, readsOnly]) await one?.app.close();
  await ledger?.stop();
});
beforeEach(() => {
  account = `acc${++number}`;
  passed += 1000;
});

const ask = async (method: 'GET' | 'POST', path: string, payload?: object, to = server, key = account) => {
  const answer = await to.app.inject({
    method,
    url: `/v1/crypto${path}`,
    headers: { 'x-api-key': key },
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
};
const ETH = { asset: 'ETH', network: 'ethereum' };
const make = async (more: object = {}, key = account) =>
  (await ask('POST', '/deposits', { ...ETH, ...more }, server, key)).body;

describe('an address to pay to', () => {
  test('has a quote, an expiry and the content of its QR code, and is returned unchanged later', async () => {
    const { status, headers, body } = await ask('POST', '/deposits', { ...ETH, amountMinor: '300050' });
    expect({ status, location: headers.location }).toEqual({ status: 201, location: `/v1/crypto/deposits/${body.id}` });
    expect(body).toMatchObject({
      asset: 'ETH',
      network: 'ethereum',
      state: 'waiting',
      amount: '1000000000000000000',
      receivedAmount: '0',
      decimals: 18,
      neededConfirmations: 3,
      confirmations: null,
      payments: [],
      explanation: null,
      credits: '0',
      quote: { rate: '3000.5', currency: 'USD', credits: '30005000', expiresAt: body.expiresAt },
    });
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(600_000);
    expect(body.paymentUri).toBe(`ethereum:${body.address}@1?value=1000000000000000000`);
    expect((await ask('GET', `/deposits/${body.id}`)).body).toEqual(body);
  });

  test('belongs to one account and one deposit, however many are made at once', async () => {
    const accounts = Array.from({ length: 8 }, (_, n) => `${account}-${n}`);
    const made = await Promise.all(accounts.flatMap((key) => [make({}, key), make({}, key), make({}, key)]));
    expect(new Set(made.map(({ address }) => address)).size).toBe(24);
    const [{ id }] = made;
    expect((await ask('GET', `/deposits/${id}`)).body).toMatchObject({ status: 404, code: 'crypto_deposit_not_found' });
    expect((await ask('GET', '/deposits/%00')).status).toBe(422);
  });

  test('is one of a few that wait to be paid', async () => {
    const answers = await Promise.all(Array.from({ length: 14 }, () => ask('POST', '/deposits', ETH)));
    const codes = answers.map(({ status, body }) => body.code ?? status).sort();
    expect(codes).toEqual([...Array(10).fill(201), ...Array(4).fill('crypto_deposit_quota_exceeded')]);
    passed += 600_000;
    expect((await ask('POST', '/deposits', ETH)).status).toBe(201);
  });

  test.each<[string, object, string]>([
    ['a network that is none', { ...ETH, network: 'bitcoin' }, '/network'],
    ['an asset that is not there', { ...ETH, asset: 'BTC' }, '/asset'],
    ['too little', { ...ETH, amount: '999999999999999' }, '/amount'],
    ['nothing', { ...ETH, amount: '0' }, '/amount'],
    ['a number', { ...ETH, amount: 1 }, '/amount'],
    ['more than all there is', { ...ETH, amount: '9'.repeat(38) }, '/amount'],
    ['two amounts', { ...ETH, amount: '1000000000000000', amountMinor: '1' }, '/amountMinor'],
  ])('%s is refused by its name', async (_what, body, path) => {
    const answer = await ask('POST', '/deposits', body);
    expect(answer.body).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path }] });
  });

  test('is not given while no scanner reads the network, or the price is unknown', async () => {
    const createDeposit = async (more: object) => (await ask('POST', '/deposits', { ...ETH, ...more })).body.code;
    expect(await createDeposit({ network: 'holesky' })).toBe('crypto_unavailable');
    expect(await createDeposit({ asset: 'PEPE' })).toBe('crypto_rate_unavailable');
  });
});

test('assets are listed with their prices, those that are not known as null', async () => {
  const { body } = await ask('GET', '/assets');
  expect(
    body.data.map((one: Record<string, unknown>) => [one.asset, one.network, one.rate, one.minimumAmount]),
  ).toEqual([
    ['ETH', 'ethereum', '3000.5', '1000000000000000'],
    ['PEPE', 'ethereum', null, '0'],
    ['ETH', 'holesky', '3000.5', '0'],
  ]);
});

test('the list is of the account, newest first, in pages', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    passed += 1000;
    ids.unshift((await make()).id);
  }
  const first = (await ask('GET', '/deposits?limit=2')).body;
  const second = (await ask('GET', `/deposits?limit=2&cursor=${first.page.nextCursor}`)).body;
  expect([first, second].map(({ data }) => data.map(({ id }: { id: string }) => id))).toEqual([
    ids.slice(0, 2),
    ids.slice(2),
  ]);
});

test('GraphQL returns the same', async () => {
  const deposit = await make();
  const query = `{ cryptoDeposits(first: 5, where: { state: { eq: waiting } }) { totalCount edges { node { id address } } }
    node(id: "${deposit.id}") { id ... on CryptoDeposit { quote { rate } } } cryptoAssets { asset } }`;
  const answer = await server.app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'x-api-key': account },
    payload: { query },
  });
  const { id, address } = deposit;
  expect(answer.json()).toEqual({
    data: {
      cryptoDeposits: { totalCount: 1, edges: [{ node: { id, address } }] },
      node: { id, quote: { rate: '3000.5' } },
      cryptoAssets: [{ asset: 'ETH' }, { asset: 'PEPE' }, { asset: 'ETH' }],
    },
  });
});

test('it takes the scope of money, and is not there without an xpub', async () => {
  expect((await ask('GET', '/assets', undefined, readsOnly)).body).toMatchObject({ code: 'insufficient_scope' });
  for (const [method, path] of [
    ['GET', '/assets'],
    ['GET', '/deposits'],
    ['GET', '/deposits/dep-1'],
    ['POST', '/deposits'],
  ] as const) {
    const { body } = await ask(method, path, method === 'POST' ? ETH : undefined, without);
    expect(body).toMatchObject({ status: 404, code: 'crypto_disabled' });
  }
});
