/** Queries the ledger with SQL. db/migrations/ledger.ts enforces its rules. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import { compileWhere, type RowWhere, type WhereColumns } from '../../db/where.ts';
import { isoDigits } from './currencies.ts';

export interface PostRow {
  id: string;
  posted: boolean;
  balance: bigint;
}

export interface ChargeRow extends PostRow {
  charged: bigint;
  written_off: bigint;
}

/** Codes of the database's errors that have a meaning here: those of the ledger's triggers, and of a deadlock. */
export const BELOW_FLOOR = 'LS402';
export const KEY_REUSED = 'LS409';
export const DEADLOCK = '40P01';

/** Returns the SQLSTATE of a database error. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

export interface PostArgs {
  key: string;
  kind: string;
  accountId: string | null;
  at: Date;
  details: Readonly<Record<string, string>>;
  /** In the order in which they are kept, the same for the same entries. */
  accounts: string[];
  credits: bigint[];
  floor: bigint | null;
}

const numbers = (list: readonly bigint[]) => list.map(String);

export async function postTransaction(db: Db, args: PostArgs): Promise<PostRow> {
  const { rows } = await sql<PostRow>`select * from loopstream.ledger_post(
    ${args.key}, ${args.kind}, ${args.accountId}, ${args.at}, ${JSON.stringify(args.details)}::jsonb,
    ${args.accounts}::text[], ${numbers(args.credits)}::numeric[], ${args.floor})`.execute(db);
  return rows[0] as PostRow;
}

export interface ChargeArgs {
  key: string;
  accountId: string;
  credits: bigint;
  at: Date;
  details: Readonly<Record<string, string>>;
  floor: bigint | null;
}

/** All in one transaction, in the order given; so are the results. */
export async function chargeAll(db: Db, charges: readonly ChargeArgs[]): Promise<ChargeRow[]> {
  const column = <K extends keyof ChargeArgs>(name: K) => charges.map((charge) => charge[name]);
  const { rows } = await sql<ChargeRow>`select c.* from unnest(
      ${column('key')}::text[], ${column('accountId')}::text[], ${numbers(column('credits'))}::numeric[],
      ${column('at').map((at) => at.toISOString())}::timestamptz[],
      ${column('details').map((details) => JSON.stringify(details))}::text[],
      ${column('floor').map((floor) => (floor === null ? null : String(floor)))}::numeric[]
    ) with ordinality as w (key, account_id, credits, at, details, floor, position),
    lateral loopstream.ledger_charge(w.key, w.account_id, w.credits, w.at, w.details::jsonb, w.floor) c
    order by w.position`.execute(db);
  return rows;
}

/** `entries`: how many the account has; 0 for one that never had credit. */
export async function readBalance(
  db: Db,
  accountId: string,
): Promise<{ balance: bigint; floor: bigint; entries: bigint }> {
  const { rows } = await sql<{ balance: bigint; floor: bigint; entries: bigint }>`select balance, floor, entries
    from loopstream.ledger_balances where account = ${`customer:${accountId}`}`.execute(db);
  return rows[0] ?? { balance: 0n, floor: 0n, entries: 0n };
}

/** The beginning of the keys of welcome grants (welcome.ts); the index of the migration says the same. */
export const WELCOME_KEYS = 'welcome:';

/** Whether the account ever had credit of its own: bought (by card or crypto), or given by staff. A welcome grant is none. */
export async function wasEverCredited(db: Db, accountId: string): Promise<boolean> {
  // Little is charged before that, so it is among the account's first transactions.
  const { rows } = await sql`select 1 from loopstream.ledger_transactions
    where account_id = ${accountId} and kind in ('topup', 'deposit', 'grant') and key not like ${`${WELCOME_KEYS}%`}
    order by at limit 1`.execute(db);
  return rows.length > 0;
}

/** Any number that no other transaction locks: the letters "welc". */
const WELCOME_LOCK = 0x77656c63;

/** Counts the welcome grants of the last 24 hours. No other transaction counts them until this one ends. */
export async function countWelcomeGrants(trx: Db): Promise<number> {
  await sql`select pg_advisory_xact_lock(${WELCOME_LOCK})`.execute(trx);
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from loopstream.ledger_transactions
    where key like 'welcome:%' and posted_at > now() - interval '1 day'`.execute(trx);
  return Number(rows[0]?.count ?? 0n);
}

export interface StatementRow {
  transaction_id: string;
  kind: string;
  at: Date;
  posted_at: Date;
  details: Record<string, string>;
  credits: bigint;
  /** The number of the entry within the customer's account: 1, 2, 3 … */
  number: bigint;
  /** After it. */
  balance: bigint;
}

const COLUMNS: WhereColumns = {
  kind: sql`t.kind`,
  at: sql`t.at`,
  postedAt: sql`t.posted_at`,
  streamID: sql`(t.details ->> 'streamID')`,
};

export interface EntryRange {
  accountId: string;
  where?: RowWhere | undefined;
  ascending: boolean;
}

const selectEntries = ({
  accountId,
  where,
}: Pick<EntryRange, 'accountId' | 'where'>) => sql`from loopstream.ledger_entries e
  join loopstream.ledger_transactions t on t.id = e.transaction_id
  where e.account = ${`customer:${accountId}`} and e.number is not null and ${where ? compileWhere(where, COLUMNS) : sql`true`}`;

/** How many of a customer's entries there are, or how many of them stand before `number`, and with `itself` at it. */
export async function countEntries(
  db: Db,
  range: EntryRange,
  place?: { number: bigint; itself: boolean },
): Promise<number> {
  const compare = sql.raw(`${range.ascending ? '<' : '>'}${place?.itself ? '=' : ''}`);
  const { rows } = await (range.where
    ? sql<{ count: bigint }>`select count(*) as count ${selectEntries(range)}
        and ${place ? sql`e.number ${compare} ${place.number}` : sql`true`}`
    : // They are numbered without a gap: nothing has to be counted.
      sql<{ count: bigint }>`select case
          when ${place === undefined} then b.entries
          when ${range.ascending} then least(b.entries, greatest(0, ${place?.number ?? 0n}::bigint - ${place?.itself ? 0 : 1}::int))
          else greatest(0, least(b.entries, b.entries - ${place?.number ?? 0n}::bigint + ${place?.itself ? 1 : 0}::int))
        end as count from loopstream.ledger_balances b where b.account = ${`customer:${range.accountId}`}`
  ).execute(db);
  return Number(rows[0]?.count ?? 0n);
}

/** A customer's entries in the order in which they were booked, or the latest first: `limit` of them after the first `skip`. */
export async function readStatement(
  db: Db,
  range: EntryRange,
  { skip, limit }: { skip: number; limit: number },
): Promise<StatementRow[]> {
  const numbered =
    range.where === undefined && skip > 0
      ? // Without a gap, numbers identify the entries to skip.
        range.ascending
        ? sql`e.number > ${skip}::bigint`
        : sql`e.number <= (select b.entries from loopstream.ledger_balances b where b.account = e.account) - ${skip}::bigint`
      : undefined;
  const { rows } = await sql<StatementRow>`select e.transaction_id, t.kind, t.at, t.posted_at, t.details,
      e.credits, e.number, e.balance
    ${selectEntries(range)} and ${numbered ?? sql`true`}
    order by e.number ${sql.raw(range.ascending ? 'asc' : 'desc')}
    limit ${limit} offset ${numbered ? 0 : skip}`.execute(db);
  return rows;
}

/** Sums of what was charged: of each day by its place (1 for the first), or of each stream. */
export interface UsageRow {
  day: number | null;
  stream_id: string | null;
  credits: bigint;
  seconds: string;
}

/** Sums of an account's charges from the first of `starts` to the last one, of each day between two of them or of each stream. */
export async function readUsage(
  db: Db,
  accountId: string,
  { starts, groupBy }: { starts: readonly Date[]; groupBy: 'day' | 'stream' },
): Promise<UsageRow[]> {
  const times = starts.map((at) => at.toISOString());
  const [day, stream] =
    groupBy === 'day'
      ? [sql`width_bucket(t.at, ${times}::timestamptz[])`, sql`null::text`]
      : [sql`null::int`, sql`t.details ->> 'streamID'`];
  const { rows } = await sql<UsageRow>`select ${day} as day, ${stream} as stream_id,
      -coalesce(sum(e.credits), 0)::numeric(38, 0) as credits,
      coalesce(sum(case when t.details ->> 'seconds' ~ '^[0-9]{1,15}([.][0-9]+)?$'
        then (t.details ->> 'seconds')::numeric end), 0)::text as seconds
    from loopstream.ledger_transactions t left join loopstream.ledger_entries e
      on e.transaction_id = t.id and e.account = ${`customer:${accountId}`}
    where t.account_id = ${accountId} and t.kind = 'charge' and t.at >= ${times[0]} and t.at < ${times.at(-1)}
    group by 1, 2`.execute(db);
  return rows;
}

/** Something that is not as the entries say it should be. */
export interface FaultRow {
  what: string;
  of: string;
  found: string | null;
  expected: string | null;
}

/**
 * Recomputes the ledger from its entries alone. Returns what differs: nothing, unless somebody removed the triggers.
 */
export async function readLedgerFaults(db: Db): Promise<FaultRow[]> {
  const { rows } = await sql<FaultRow>`
    with sums as (
      select t.id, sum(e.credits) total from loopstream.ledger_transactions t
        left join loopstream.ledger_entries e on e.transaction_id = t.id group by t.id
    ), chain as (
      select e.account, e.number, e.balance, e.credits,
        row_number() over w as expected_number, sum(e.credits) over w as expected_balance
      from loopstream.ledger_entries e join loopstream.ledger_transactions t on t.id = e.transaction_id
      where e.account like 'customer:%' window w as (partition by e.account order by e.number)
    ), replay as (
      select account, sum(credits) balance, count(*) entries from loopstream.ledger_entries
        where account like 'customer:%' group by account
    )
    select 'transaction sum' as what, id::text as of, total::text as found, '0' as expected
      from sums where total is distinct from 0
    union all
    select 'entry number', account, number::text, expected_number::text from chain where number is distinct from expected_number
    union all
    select 'balance after entry ' || number, account, balance::text, expected_balance::text
      from chain where balance is distinct from expected_balance
    union all
    select 'balance', coalesce(b.account, r.account), b.balance::text, r.balance::text
      from loopstream.ledger_balances b full join replay r on r.account = b.account
      where coalesce(b.balance, 0) <> coalesce(r.balance, 0) or coalesce(b.entries, 0) <> coalesce(r.entries, 0)
    union all
    select 'account of a transaction', t.id::text, e.account, 'customer:' || t.account_id
      from loopstream.ledger_transactions t join loopstream.ledger_entries e on e.transaction_id = t.id
      where e.account like 'customer:%' and e.account <> 'customer:' || t.account_id
    order by 1, 2`.execute(db);
  return rows;
}

const knownDigits = new WeakMap<Db, Map<string, number>>();

/**
 * Returns the digits in which the ledger counts a currency. They are decided when the currency is first asked for, by
 * ISO 4217, and never change: a balance would change its meaning with them.
 */
export async function readCurrencyDigits(db: Db, currency: string): Promise<number> {
  const known = knownDigits.get(db)?.get(currency);
  if (known !== undefined) return known;
  const find = async () => {
    const { rows } = await sql<{ digits: number }>`select digits from loopstream.ledger_currencies
      where code = ${currency}`.execute(db);
    return rows[0]?.digits;
  };
  let digits = await find();
  if (digits === undefined) {
    await sql`insert into loopstream.ledger_currencies (code, digits) values (${currency}, ${isoDigits(currency)})
      on conflict (code) do nothing`.execute(db);
    digits = (await find()) ?? isoDigits(currency);
  }
  knownDigits.set(db, new Map(knownDigits.get(db)).set(currency, digits));
  return digits;
}
