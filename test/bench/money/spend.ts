/**
 * Measures the ledger's charges a second beside a bare UPDATE of a balance, in turns over the same driver, connections and Postgres. The
 * difference is the cost of double entry, keys, the floor, and the triggers.
 */
import { sql } from 'kysely';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { adjustCredit } from '../../kit/make/grant.ts';
import { median, type Row } from '../report.ts';

const CONNECTIONS = 8;
const BATCH = 1_000;
const PLENTY = 10n ** 18n;

interface Shape {
  what: string;
  connections: number;
  /** Whether each connection has an account of its own, or all share one. */
  own: boolean;
  /** Charges in one call of the ledger. */
  batch: number;
}

const SHAPES: Shape[] = [
  { what: 'one after the other', connections: 1, own: true, batch: 1 },
  { what: `${CONNECTIONS} at once, an account each`, connections: CONNECTIONS, own: true, batch: 1 },
  { what: `${CONNECTIONS} at once, all of one account`, connections: CONNECTIONS, own: false, batch: 1 },
  { what: `${BATCH} in one call, beside single UPDATEs`, connections: 1, own: true, batch: BATCH },
];

/** Prepares both sides: accounts of the ledger, and rows of a table without checks. */
async function prepare(db: Db): Promise<void> {
  const ledger = createLedger(db);
  await sql`create table if not exists loopstream.bench_balances (account text primary key, balance numeric(38, 0) not null)
    with (fillfactor = 50)`.execute(db);
  for (let n = 0; n < CONNECTIONS; n++) {
    const accountId = `spender-${n}`;
    await adjustCredit(ledger, accountId, PLENTY);
    await sql`insert into loopstream.bench_balances values (${accountId}, ${PLENTY}) on conflict do nothing`.execute(
      db,
    );
  }
}

/** Returns statements a second; `spend` returns the number of one call. */
async function rate(connections: number, ms: number, spend: (connection: number) => Promise<number>): Promise<number> {
  const since = performance.now();
  let count = 0;
  const work = async (connection: number) => {
    while (performance.now() - since < ms) count += await spend(connection);
  };
  await Promise.all(Array.from({ length: connections }, (_, n) => work(n)));
  return (count * 1000) / (performance.now() - since);
}

export async function spendRows(url: string, { rounds, ms }: { rounds: number; ms: number }): Promise<Row[]> {
  const db = createDb(createPool(url, { searchPath: 'loopstream', max: CONNECTIONS }));
  const ledger = createLedger(db);
  let keys = 0;
  const getAccount = ({ own }: Shape, connection: number) => `spender-${own ? connection : 0}`;
  const ours = (shape: Shape) => async (connection: number) => {
    const accountId = getAccount(shape, connection);
    const details = { streamID: 'str-1', session: '1', seconds: '10', profile: '1080p30' };
    const charges = Array.from({ length: shape.batch }, () => {
      keys += 1;
      return { key: `charge:bench:${keys}`, accountId, credits: 1n, at: new Date(), details };
    });
    return (await ledger.chargeAll(charges)).length;
  };
  const bare = (shape: Shape) => async (connection: number) => {
    const account = getAccount(shape, connection);
    const { rows } = await sql`update loopstream.bench_balances set balance = balance - 1
      where account = ${account} and balance - 1 >= 0 returning balance`.execute(db);
    return rows.length;
  };
  try {
    await prepare(db);
    const found: Row[] = [];
    for (const shape of SHAPES) {
      const rates = { ours: [] as number[], bare: [] as number[] };
      for (let round = 0; round < rounds; round++) {
        rates.bare.push(await rate(shape.connections, ms, bare(shape)));
        rates.ours.push(await rate(shape.connections, ms, ours(shape)));
      }
      const [a, b] = [median(rates.ours), median(rates.bare)];
      found.push({
        what: `charges, ${shape.what}`,
        ours: `${Math.round(a)}/s`,
        peer: `${Math.round(b)}/s`,
        beside: 'a bare UPDATE in a loop',
        result: `${(a / b).toFixed(2)} of it`,
        bar: '–',
      });
    }
    return found;
  } finally {
    await sql`drop table if exists loopstream.bench_balances`.execute(db);
    await db.destroy();
  }
}
