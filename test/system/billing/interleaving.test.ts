/**
 * Tests the ledger's promise with 1,000 operations in any order over eight connections, which are cut again and again.
 * Every transaction sums to 0, each balance is the sum of its entries, none was ever below its floor, and nothing is
 * there twice.
 */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLedger, LedgerError, type Posted } from '../../../src/service/billing/ledger/ledger.ts';
import { readLedgerFaults } from '../../../src/service/billing/ledger/store.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { query } from '../../kit/real/postgres.ts';

const OPERATIONS = 1_000;
const CONNECTIONS = 8;
const ACCOUNTS = ['anna', 'bert', 'cleo'];
/** One of the connections is cut after so many operations. */
const CUT_EVERY = 5;

let it: TestLedger;
beforeAll(async () => {
  it = await startTestLedger();
});
afterAll(async () => it?.stop());

interface Operation {
  what: 'topup' | 'spend' | 'charge' | 'charges' | 'pass';
  /** A small number, so that most operations come more than once. */
  n: number;
}

/** The kind and number define an operation, so that every retry is the same. */
const getAmount = ({ n }: Operation) => BigInt(1 + ((n * 37) % 50));
const getAccount = ({ n }: Operation, step = 0) => ACCOUNTS[(n + step) % ACCOUNTS.length] as string;
const getKey = ({ what, n }: Operation) => `${what}:${n}`;
const at = new Date('2026-11-01T12:00:00Z');

function perform(ledger: TestLedger['ledger'], operation: Operation): Promise<Posted | Posted[]> {
  const key = getKey(operation);
  const accountId = getAccount(operation);
  const credits = getAmount(operation);
  const mine = `customer:${accountId}`;
  const post = (kind: 'topup' | 'refund', entries: { account: string; credits: bigint }[]) =>
    ledger.post({ key, kind, accountId, entries, at });
  if (operation.what === 'topup')
    return post('topup', [{ account: 'cash:card', credits: -credits }].concat({ account: mine, credits }));
  if (operation.what === 'spend')
    return post('refund', [{ account: mine, credits: -credits }].concat({ account: 'refunds', credits }));
  if (operation.what === 'charge') return ledger.charge({ key, accountId, credits, at });
  const charge = (step: number) => ({ key: `${key}:${step}`, accountId: getAccount(operation, step), credits, at });
  if (operation.what === 'charges') return ledger.chargeAll([2, 0, 1].map(charge));
  // Two customers in one transaction, in either order.
  const entries = [
    { account: mine, credits: -credits },
    { account: `customer:${getAccount(operation, 1)}`, credits },
  ];
  return ledger.post({ key, kind: 'correction', entries, at });
}

async function interleave(operations: Operation[]): Promise<{ done: Set<string>; refused: number; cuts: number }> {
  const queue = operations.values();
  const done = new Set<string>();
  let [count, refused, cuts] = [0, 0, 0];
  const killer = new pg.Client({ connectionString: it.url });
  await killer.connect();
  let cutting: Promise<unknown> = Promise.resolve();
  const cut = () => {
    cutting = cutting.then(async () => {
      const { rowCount } = await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity where
        application_name = 'worker' and datname = current_database() order by state = 'active' desc, random() limit 1`);
      cuts += rowCount ?? 0;
    });
    return cutting;
  };
  const worker = async () => {
    const pool = createPool(`${it.url}?application_name=worker`, { searchPath: 'loopstream', max: 1 });
    const db = createDb(pool);
    const ledger = createLedger(db);
    // Retries until there is an answer, as a client does that was cut off and cannot know the result.
    const insist = async (operation: Operation): Promise<void> => {
      try {
        await perform(ledger, operation);
        done.add(getKey(operation));
      } catch (error) {
        if (!(error instanceof LedgerError)) return insist(operation);
        expect(error.code).toBe('insufficient_credits');
        refused += 1;
      }
    };
    for (const operation of queue) {
      count += 1;
      await Promise.all([insist(operation), count % CUT_EVERY === 0 ? cut() : undefined]);
    }
    await db.destroy();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await killer.end();
  return { done, refused, cuts };
}

test('nothing is lost, doubled or overdrawn by any interleaving with cut connections', {
  timeout: 180_000,
}, async () => {
  const operation = fc.record<Operation>({
    what: fc.constantFrom('topup', 'spend', 'charge', 'charges', 'pass'),
    n: fc.nat(120),
  });
  const [operations = []] = fc.sample(fc.array(operation, { minLength: OPERATIONS, maxLength: OPERATIONS }), 1);
  const { done, refused, cuts } = await interleave(operations);
  // The test was as hard as intended.
  expect(cuts).toBeGreaterThan(OPERATIONS / CUT_EVERY / 2);
  expect(refused).toBeGreaterThan(0);
  expect(done.size).toBeGreaterThan(100);

  expect(await readLedgerFaults(it.db)).toEqual([]);
  const [below] = await query(it.url, 'select count(*)::int from loopstream.ledger_entries where balance < 0');
  expect(below).toEqual({ count: 0 });
  // Confirmed postings exist once and with their amounts; no other posting exists.
  const rows = await query(
    it.url,
    `select t.key, sum(abs(e.credits))::int as moved from loopstream.ledger_transactions t
      join loopstream.ledger_entries e on e.transaction_id = t.id group by t.id order by t.key`,
  );
  const expected = operations
    .filter((operation) => done.has(getKey(operation)))
    .flatMap((operation) =>
      operation.what === 'charges' ? [0, 1, 2].map((step) => `${getKey(operation)}:${step}`) : [getKey(operation)],
    );
  expect(rows.map(({ key }) => key)).toEqual([...new Set(expected)].sort());
  const amounts = new Map(operations.map((operation) => [getKey(operation), Number(getAmount(operation))]));
  for (const { key, moved } of rows)
    expect(moved).toBe(2 * (amounts.get(String(key).split(':').slice(0, 2).join(':')) ?? 0));
  // Customers have the received credits, less the used ones.
  const [sums] = await query(
    it.url,
    `select (select sum(balance) from loopstream.ledger_balances)::int as customers,
      -sum(credits) filter (where account not like 'customer:%')::int as others from loopstream.ledger_entries`,
  );
  expect(sums?.customers).toBe(sums?.others);
});
