/** Tests that the ledger only grows, adds up, and refuses below the floor: the database enforces it for every writer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Charge, LedgerTransaction } from '../../../src/service/billing/ledger/ledger.ts';
import { readLedgerFaults, readStatement } from '../../../src/service/billing/ledger/store.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { query } from '../../kit/real/postgres.ts';

let it: TestLedger;
beforeAll(async () => {
  it = await startTestLedger();
});
afterAll(async () => it?.stop());

const at = new Date('2026-11-01T12:00:00Z');
const grant = (accountId: string, credits: bigint, key = `grant:${accountId}`): LedgerTransaction => ({
  key,
  kind: 'grant',
  accountId,
  at,
  entries: [
    { account: 'grants', credits: -credits },
    { account: `customer:${accountId}`, credits },
  ],
});
const use = (accountId: string, credits: bigint, key: string): Charge => ({
  key,
  accountId,
  credits,
  at,
  details: { streamID: 'str_1' },
});

describe('posting', () => {
  test('moves the balance once for a key, however often it is said', async () => {
    const first = await it.ledger.post(grant('once', 500n));
    expect(first).toMatchObject({ posted: true, balance: 500n });
    const again = grant('once', 500n);
    expect(await it.ledger.post({ ...again, entries: again.entries.toReversed(), at: new Date() })).toEqual({
      ...first,
      posted: false,
    });
    expect(await it.ledger.balance('once')).toBe(500n);
  });

  test('refuses a key that stands for something else', async () => {
    await it.ledger.post(grant('reused', 500n));
    await expect(it.ledger.post(grant('reused', 501n))).rejects.toMatchObject({ code: 'ledger_key_reused' });
    await expect(it.ledger.post({ ...grant('reused', 500n), kind: 'topup' })).rejects.toMatchObject({
      code: 'ledger_key_reused',
    });
    await expect(it.ledger.charge(use('reused', 500n, 'grant:reused'))).rejects.toMatchObject({
      code: 'ledger_key_reused',
    });
    expect(await it.ledger.balance('reused')).toBe(500n);
  });

  test('refuses to go below the floor, unless a floor of its own lets it', async () => {
    const dispute: LedgerTransaction = { ...grant('disputed', -300n, 'dispute:1'), kind: 'dispute' };
    await it.ledger.post(grant('disputed', 200n));
    await expect(it.ledger.post(dispute)).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await it.ledger.balance('disputed')).toBe(200n);
    expect(await it.ledger.post(dispute, { floor: -1_000n })).toMatchObject({ posted: true, balance: -100n });
    // A balance may always rise.
    expect(await it.ledger.post(grant('disputed', 50n, 'grant:disputed:2'))).toMatchObject({ balance: -50n });
  });

  test('goes with the transaction of the caller, or not at all', async () => {
    const giveUp = it.db.transaction().execute(async (trx) => {
      await it.ledger.post(grant('undone', 500n), { trx });
      expect(await it.ledger.balance('undone', { trx })).toBe(500n);
      throw new Error('changed my mind');
    });
    await expect(giveUp).rejects.toThrow('changed my mind');
    expect(await it.ledger.balance('undone')).toBe(0n);
    expect(await it.ledger.post(grant('undone', 500n))).toMatchObject({ posted: true });
  });

  test('keeps numbers far beyond the range of a double', async () => {
    const credits = 10n ** 30n + 1n;
    expect(await it.ledger.post(grant('large', credits))).toMatchObject({ balance: credits });
  });
});

describe('charging', () => {
  test('takes the available credit and writes off the rest, and a retry returns the same', async () => {
    await it.ledger.post(grant('short', 100n));
    const full = await it.ledger.charge(use('short', 60n, 'charge:short:1'));
    expect(full).toMatchObject({ posted: true, balance: 40n, charged: 60n, writtenOff: 0n });
    const part = await it.ledger.charge(use('short', 60n, 'charge:short:2'));
    expect(part).toMatchObject({ posted: true, balance: 0n, charged: 40n, writtenOff: 20n });
    expect(await it.ledger.charge(use('short', 7n, 'charge:short:3'))).toMatchObject({ charged: 0n, writtenOff: 7n });
    await it.ledger.post(grant('short', 5n, 'grant:short:2'));
    expect(await it.ledger.charge(use('short', 60n, 'charge:short:2'))).toEqual({
      ...part,
      posted: false,
      balance: 5n,
    });
    await expect(it.ledger.charge(use('short', 61n, 'charge:short:2'))).rejects.toMatchObject({
      code: 'ledger_key_reused',
    });
    const credits = (await readStatement(it.db, { accountId: 'short', ascending: false }, { skip: 0, limit: 10 })).map(
      (row) => [row.credits, row.balance],
    );
    expect(credits).toEqual([
      [5n, 5n],
      [-40n, 0n],
      [-60n, 40n],
      [100n, 100n],
    ]);
  });

  test('of many postings return in their order, all or none', async () => {
    await it.ledger.post(grant('many-a', 10n));
    await it.ledger.post(grant('many-b', 10n));
    const charges = [use('many-b', 3n, 'many:1'), use('many-a', 4n, 'many:2'), use('many-b', 9n, 'many:3')];
    const answers = await it.ledger.chargeAll(charges);
    expect(answers.map(({ balance, charged, writtenOff }) => [balance, charged, writtenOff])).toEqual([
      [7n, 3n, 0n],
      [6n, 4n, 0n],
      [0n, 7n, 2n],
    ]);
    const mixed = [use('many-a', 1n, 'many:4'), use('many-a', 5n, 'many:2')];
    await expect(it.ledger.chargeAll(mixed)).rejects.toMatchObject({ code: 'ledger_key_reused' });
    expect(await it.ledger.balance('many-a')).toBe(6n);
  });
});

describe('the database refuses, for every user', () => {
  const TRANSACTION = `insert into loopstream.ledger_transactions (key, kind, account_id, at)
    values ('by hand', 'grant', 'hand', now()) returning id`;
  const entry = (credits: number, account = 'customer:hand') =>
    `insert into loopstream.ledger_entries (transaction_id, position, account, credits)
      select id, ${credits + 1000}, '${account}', ${credits} from loopstream.ledger_transactions where key = 'by hand'`;

  beforeAll(async () => void (await it.ledger.post(grant('hand', 500n))));

  test.each([
    ['a changed entry', 'update loopstream.ledger_entries set credits = 1'],
    ['a changed transaction', "update loopstream.ledger_transactions set details = '{}'"],
    ['a deleted entry', 'delete from loopstream.ledger_entries'],
    ['a deleted transaction', 'delete from loopstream.ledger_transactions'],
    ['emptied entries', 'truncate loopstream.ledger_entries'],
    ['an emptied ledger', 'truncate loopstream.ledger_transactions cascade'],
    ['emptied balances', 'truncate loopstream.ledger_balances'],
    ['a deleted balance', 'delete from loopstream.ledger_balances'],
    ['a changed balance', "update loopstream.ledger_balances set balance = 501 where account = 'customer:hand'"],
    ['a balance out of nothing', "insert into loopstream.ledger_balances (account, balance) values ('customer:x', 5)"],
  ])('%s', async (_what, statement) => {
    await expect(query(it.url, statement)).rejects.toMatchObject({ code: 'LS001' });
    // The refusal holds for a user who may switch ordinary triggers off.
    await expect(query(it.url, `set session_replication_role = replica; ${statement}`)).rejects.toMatchObject({
      code: 'LS001',
    });
  });

  test('a transaction that does not sum to 0, when it is committed', async () => {
    for (const entries of ['', entry(5), `${entry(5)}; ${entry(-4, 'grants')}`])
      await expect(query(it.url, `begin; ${TRANSACTION}; ${entries}; commit`)).rejects.toMatchObject({ code: 'LS003' });
    expect(await it.ledger.balance('hand')).toBe(500n);
  });

  test('entries that come after their transaction', async () => {
    await query(it.url, `begin; ${TRANSACTION}; ${entry(5)}; ${entry(-5, 'grants')}; commit`);
    await expect(query(it.url, `begin; ${entry(7)}; ${entry(-7, 'grants')}; commit`)).rejects.toMatchObject({
      code: 'LS002',
    });
    expect(await it.ledger.balance('hand')).toBe(505n);
  });

  test('and all it has kept adds up', async () => expect(await readLedgerFaults(it.db)).toEqual([]));
});
