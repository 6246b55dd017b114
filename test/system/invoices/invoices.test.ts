/** Tests invoices on a real Postgres: every charge is on exactly one of them, numbers have no gaps, and nothing changes later. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runAdmin } from '../../../src/service/billing/audit/admin/command.ts';
import { reconcile } from '../../../src/service/billing/audit/reconcile.ts';
import { createIssuer, type Issuer } from '../../../src/service/billing/invoices/issue.ts';
import { createInvoiceJob } from '../../../src/service/billing/invoices/job.ts';
import { createInvoiceService } from '../../../src/service/billing/invoices/service.ts';
import type { Seller } from '../../../src/service/billing/invoices/settings.ts';
import { createLedger, customer, type Ledger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { readEvents } from '../../../src/service/domain/events/store.ts';
import { adjustCredit } from '../../kit/make/grant.ts';
import { query, shareTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';
import { buildTestServer, type TestServer } from '../../kit/system/server.ts';

let postgres: TestPostgres;
let db: Db;
let ledger: Ledger;
let server: TestServer;
let number = 0;
/** Each test has an account, and a series of numbers, of its own. */
let account: string;
let issuer: Issuer;

const never = new AbortController().signal;
const at = (time: string) => new Date(`${time}:00Z`);
const seller = (more: Partial<Seller> = {}): Seller => ({
  name: 'Loops',
  address: ['Berlin'],
  country: 'DE',
  timeZone: 'Europe/Berlin',
  taxes: [{ name: 'VAT', ratePercent: '19' }],
  numberPrefix: `T${number}-`,
  ...more,
});
const openIssuer = (on: Db, more?: Partial<Seller>) =>
  createIssuer({ db: on, ledger: createLedger(on), seller: seller(more), currency: 'EUR' });

beforeAll(async () => {
  postgres = await shareTestPostgres();
  db = createDb(createPool(postgres.url, { searchPath: 'loopstream' }));
  ledger = createLedger(db);
  server = await buildTestServer({ db, services: { invoices: createInvoiceService({ db }) } });
});
afterAll(async () => {
  await server?.app.close();
  await db?.destroy();
  await postgres?.stop();
});
beforeEach(() => {
  account = `acc${++number}`;
  issuer = openIssuer(db);
});

let charges = 0;
const charge = (when: string, credits: bigint, more: Record<string, string> = {}, accountId = account) =>
  ledger.charge({
    key: `charge:${++charges}`,
    accountId,
    credits,
    at: at(when),
    floor: -(10n ** 15n),
    details: {
      streamID: 'str-1',
      streamName: 'Fireplace',
      profile: '1080p30',
      seconds: '3600',
      creditsPerHour: '1250',
      ...more,
    },
  });
const ask = async (method: 'GET' | 'PATCH' | 'POST', url: string, payload?: object, as = account) => {
  const answer = await server.app.inject({ method, url, headers: { 'x-api-key': as }, ...(payload && { payload }) });
  const isJson = /json/.test(String(answer.headers['content-type']));
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: answer.rawPayload,
    body: isJson ? answer.json() : {},
  };
};
/** Returns the account's invoices, oldest first. */
const invoices = async (as = account) =>
  (await ask('GET', '/v1/billing/invoices?limit=100', undefined, as)).body.data.toReversed();
const get = async (id: string) => (await ask('GET', `/v1/billing/invoices/${id}`)).body;
/** Returns the ledger's charges of the account, less its refunds. */
const sumCharges = async (accountId = account) => {
  const [row] = await query(
    postgres.url,
    `select coalesce(-sum(e.credits), 0)::text as n from loopstream.ledger_entries e
      join loopstream.ledger_transactions t on t.id = e.transaction_id
      where e.account = 'customer:${accountId}' and t.kind in ('charge', 'correction')`,
  );
  return String(row?.n);
};
const total = (list: { totalCredits: string }[]) =>
  String(list.reduce((sum, one) => sum + BigInt(one.totalCredits), 0n));

describe('months', () => {
  test('that were missed are billed one by one, in the seller’s zone, to the unit of the ledger, and once', async () => {
    await adjustCredit(ledger, account, 10_000n, { at: at('2027-01-01T00:00') });
    // The last hour of January in Berlin is not the one in UTC.
    await charge('2027-01-31T22:59', 1_250n);
    await charge('2027-01-05T12:00', 1_250n, { streamName: 'Old name' });
    await charge('2027-01-20T12:00', 777n, { creditsPerHour: '2000', seconds: '1398.6' });
    await charge('2027-01-31T23:00', 50n, { streamID: 'str-2', streamName: 'Radio' });
    await charge('2027-04-02T12:00', 99n);
    const job = createInvoiceJob({
      issuer,
      log: { info: () => undefined },
      clock: { now: () => at('2027-04-01T12:00'), monotonicMs: () => 0 },
    });
    await job.run(never);
    const made = await invoices();
    expect(
      made.map((one: Record<string, unknown>) => [one.number, one.periodFrom, one.periodTo, one.totalCredits]),
    ).toEqual([
      [`T${number}-2027-00001`, '2027-01-01', '2027-01-31', '3277'],
      [`T${number}-2027-00002`, '2027-02-01', '2027-02-28', '50'],
    ]);
    expect((await get(made[0].id)).lines).toMatchObject([
      { name: 'Fireplace', seconds: '7200', creditsPerHour: '1250', credits: '2500', amountMinor: '25' },
      { name: 'Fireplace', seconds: '1398.6', creditsPerHour: '2000', credits: '777', amountMinor: '8' },
    ]);
    expect(made[0]).toMatchObject({ totalMinor: '33', netMinor: '28', issuedOn: '2027-04-01', kind: 'invoice' });
    await job.run(never);
    expect(await invoices()).toHaveLength(2);
    const readTold = () => readEvents(db, account, undefined, { limit: 100 });
    await expect.poll(readTold).toHaveLength(2);
    const told = await readTold();
    expect(told.map(({ type, objectID, data, snapshot }) => [type, objectID, data.name, snapshot])).toEqual(
      made.map((one: { id: string; number: string }) => ['invoice.issued', one.id, one.number, one]),
    );
    expect(told.map(({ id }) => id)).toEqual([
      `evt_${account}_invoice_2027_01_31T23_00_00_000Z`,
      `evt_${account}_invoice_2027_02_28T23_00_00_000Z`,
    ]);
    await issuer.issueDue(at('2027-05-01T12:00'), never);
    expect(total(await invoices())).toBe(await sumCharges());
  });

  test('are billed when they are over, and later charges stand on the next invoice', async () => {
    await charge('2027-01-10T12:00', 100n);
    await issuer.issueDue(at('2027-01-31T23:30'), never);
    expect(await invoices()).toEqual([]);
    await issuer.issueDue(at('2027-02-01T03:00'), never);
    await charge('2027-02-10T12:00', 20n);
    await charge('2027-01-11T12:00', 3n);
    await issuer.issueDue(at('2027-02-20T03:00'), never);
    expect(await invoices()).toHaveLength(1);
    await issuer.issueDue(at('2027-03-02T03:00'), never);
    expect((await invoices()).map((one: { totalCredits: string }) => one.totalCredits)).toEqual(['100', '23']);
    expect(total(await invoices())).toBe(await sumCharges());
  });

  test('in which more was given back than charged make a credit note', async () => {
    await charge('2027-01-10T12:00', 300n);
    await issuer.issueDue(at('2027-02-02T00:00'), never);
    await ledger.post({
      key: `back:${account}`,
      kind: 'correction',
      accountId: account,
      at: at('2027-02-10T00:00'),
      entries: [
        { account: customer(account), credits: 250n },
        { account: 'revenue:streaming', credits: -250n },
      ],
      details: { reason: 'Outage' },
    });
    await issuer.issueDue(at('2027-03-02T00:00'), never);
    const [, note] = await invoices();
    expect(note).toMatchObject({ kind: 'credit_note', totalCredits: '-250', totalMinor: '-2' });
    expect((await get(note.id)).lines).toMatchObject([{ name: 'Outage', streamID: null, seconds: null }]);
  });
});

test('many accounts, several processes at once and connections that are cut: numbers have no gap, and nothing is billed twice', async () => {
  const accounts = Array.from({ length: 24 }, (_, index) => `many${number}-${index}`);
  for (const one of accounts) for (const month of ['01', '02']) await charge(`2027-${month}-10T12:00`, 1_000n, {}, one);
  const others = [1, 2, 3].map(() => createDb(createPool(postgres.url, { searchPath: 'loopstream', max: 2 })));
  const cut = async () => {
    await query(
      postgres.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and query like '%invoice%' limit 1`,
    );
  };
  let running = true;
  const cutting = (async () => {
    for (let n = 0; n < 25 && running; n++) await cut();
  })();
  const until = async (on: Db) => {
    for (let n = 0; ; n++)
      try {
        return await openIssuer(on).issueDue(at('2027-03-02T00:00'), never);
      } catch (error) {
        if (n > 200) throw error;
      }
  };
  await Promise.all(others.map(until));
  running = false;
  await cutting;
  await Promise.all(others.map((other) => other.destroy()));
  const rows = await query(
    postgres.url,
    `select sequence::int as n from loopstream.invoices where series = 'T${number}-2027' order by sequence`,
  );
  expect(rows.map(({ n }) => n)).toEqual(rows.map((_, index) => index + 1));
  for (const one of accounts) {
    const list = await invoices(one);
    expect(list).toHaveLength(2);
    expect(total(list)).toBe(await sumCharges(one));
    // An invoice and its event are there together, or not at all.
    const told = async () => (await readEvents(db, one, undefined, { limit: 100 })).map(({ objectID }) => objectID);
    await expect.poll(told).toEqual(list.map(({ id }: { id: string }) => id));
  }
});

describe('an invoice', () => {
  const issued = async () => {
    await charge('2027-01-10T12:00', 12_345n);
    await issuer.issueDue(at('2027-02-02T00:00'), never);
    return (await invoices())[0] as { id: string; number: string };
  };

  test('cannot be changed, taken away or numbered otherwise by anybody', async () => {
    const { id } = await issued();
    for (const text of [
      `update loopstream.invoices set total_minor = 0 where id = '${id}'`,
      `delete from loopstream.invoices where id = '${id}'`,
      'truncate loopstream.invoices cascade',
    ])
      await expect(query(postgres.url, text)).rejects.toThrow('stay as they were issued');
  });

  test('is corrected by a credit note of the same series, which the ledger has too, once for a key', async () => {
    const { id, number: corrected } = await issued();
    const before = await ledger.balance(account);
    const correct = (credits: bigint, key: string) =>
      issuer.correct({ invoiceId: id, credits, reason: 'Outage of 10 January', key }, at('2027-02-03T12:00'));
    const [note, again] = await Promise.all([correct(2_345n, `k-${account}`), correct(2_345n, `k-${account}`)]);
    expect(again.id).toBe(note.id);
    expect(await ledger.balance(account)).toBe(before + 2_345n);
    expect(await get(note.id)).toMatchObject({
      kind: 'credit_note',
      number: corrected.replace('00001', '00002'),
      correctsID: id,
      correctsNumber: corrected,
      totalCredits: '-2345',
      totalMinor: '-23',
      periodFrom: null,
      reason: 'Outage of 10 January',
    });
    const said: string[] = [];
    const recordLine = (text: string) => void said.push(text);
    const staff = (...args: string[]) =>
      runAdmin(['credit-note', corrected, '--reason', 'Goodwill', ...args], {
        open: () => createDb(createPool(postgres.url, { searchPath: 'loopstream', max: 1 })),
        currency: 'EUR',
        seller: { text: JSON.stringify(seller()) },
        print: recordLine,
        complain: recordLine,
      });
    expect(await staff('--credits', '345', '--key', account)).toBe(0);
    expect(await staff('--credits', '345', '--key', account)).toBe(0);
    expect(await staff('--amount', '1.00')).toBe(1);
    expect(said.join('')).toMatch(
      /Issued (T\S+): returned 345 credits.*Issued \1: returned 345 credits.*must be from 1 to 9655/s,
    );
    await expect(correct(10_001n, 'too much')).rejects.toThrow('/credits must be from 1 to 9655');
    await expect(
      issuer.correct({ invoiceId: note.id, credits: 1n, reason: 'x', key: 'y' }, new Date()),
    ).rejects.toThrow('does not exist');
    await issuer.issueDue(at('2027-03-02T00:00'), never);
    expect(total(await invoices())).toBe(await sumCharges());
  });

  test('is a PDF with the same bytes each time, for its account alone', async () => {
    const { id, number: called } = await issued();
    const path = `/v1/billing/invoices/${id}.pdf`;
    const [one, again] = [await ask('GET', path), await ask('GET', path)];
    expect(one.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${called}.pdf"`,
    });
    expect(one.bytes.subarray(0, 5).toString()).toBe('%PDF-');
    expect(one.bytes.equals(again.bytes)).toBe(true);
    for (const url of [path, `/v1/billing/invoices/${id}`])
      expect(await ask('GET', url, undefined, 'eve')).toMatchObject({
        status: 404,
        body: { code: 'invoice_not_found' },
      });
  });

  test('is sent to the address that was set before it, and says the same by GraphQL', async () => {
    const address = { name: 'Ada Films', line1: '8 rue du Port', city: 'Paris', country: 'FR' };
    expect((await ask('PATCH', '/v1/billing/address', address)).body).toEqual(address);
    expect((await ask('PATCH', '/v1/billing/address', { city: 'Lyon', line1: '' })).body).toMatchObject({
      name: 'Ada Films',
      city: 'Lyon',
    });
    expect(await ask('PATCH', '/v1/billing/address', {})).toMatchObject({ status: 422 });
    expect(await ask('PATCH', '/v1/billing/address', { country: 'France' })).toMatchObject({ status: 422 });
    const { id } = await issued();
    await ask('PATCH', '/v1/billing/address', { city: 'Nice' });
    const { buyer } = await get(id);
    expect(buyer).toMatchObject({ name: 'Ada Films', address: ['Lyon', 'France'], country: 'FR' });
    const text = `{ billingAddress { city } node(id: "${id}") { __typename }
      invoices(where: { kind: { eq: invoice } }) { totalCount edges { node { id totalCredits lines { credits } } } } }`;
    expect((await ask('POST', '/graphql', { query: text })).body).toEqual({
      data: {
        billingAddress: { city: 'Nice' },
        node: { __typename: 'Invoice' },
        invoices: { totalCount: 1, edges: [{ node: { id, totalCredits: '12345', lines: [{ credits: '12345' }] } }] },
      },
    });
  });
});

test('all of them equal the ledger’s charges, as reconciling finds', async () => {
  const found = (await reconcile(db)).find(({ name }) => name === 'invoices');
  expect(found?.differences).toEqual([]);
  expect(found?.checked).toBeGreaterThan(24);
  const [one] = await query(postgres.url, 'select account_id from loopstream.invoices limit 1');
  await ledger.post({
    key: 'nobody billed it',
    kind: 'correction',
    accountId: String(one?.account_id),
    at: new Date(),
    entries: [
      { account: customer(String(one?.account_id)), credits: 7n },
      { account: 'revenue:streaming', credits: -7n },
    ],
    details: { invoiceKey: 'of no note' },
  });
  const after = (await reconcile(db)).find(({ name }) => name === 'invoices');
  expect(after?.differences).toMatchObject([{ what: 'invoiced', subject: one?.account_id }]);
});
