/** Queries invoices with SQL. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import { digitsBefore } from '../ledger/currencies.ts';
import type { Content } from './document.ts';
import type { BillingAddress } from './record.ts';

export const inTransaction = <T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> => db.transaction().execute(work);

export interface InvoiceRow {
  id: string;
  accountId: string;
  issuedAt: Date;
  corrects: string | null;
  content: Content;
}

/** Earlier invoices do not say in how many digits they count. */
const readRow = (row: InvoiceRow): InvoiceRow => ({
  ...row,
  content: { ...row.content, currencyDigits: row.content.currencyDigits ?? digitsBefore(row.content.currency) },
});

const columns = sql.raw('id, account_id as "accountId", issued_at as "issuedAt", corrects, content');

export async function findInvoice(db: Db, id: string): Promise<InvoiceRow | undefined> {
  const { rows } = await sql<InvoiceRow>`select ${columns} from loopstream.invoices where id = ${id}`.execute(db);
  return rows.map(readRow)[0];
}

export async function findByKey(db: Db, key: string): Promise<InvoiceRow | undefined> {
  const { rows } = await sql<InvoiceRow>`select ${columns} from loopstream.invoices where key = ${key}`.execute(db);
  return rows.map(readRow)[0];
}

export async function findByNumber(db: Db, number: string): Promise<InvoiceRow | undefined> {
  const { rows } = await sql<InvoiceRow>`select ${columns} from loopstream.invoices
    where number = ${number}`.execute(db);
  return rows.map(readRow)[0];
}

export async function listInvoices(db: Db, accountId: string): Promise<InvoiceRow[]> {
  const { rows } = await sql<InvoiceRow>`select ${columns} from loopstream.invoices
    where account_id = ${accountId} order by issued_at, number`.execute(db);
  return rows.map(readRow);
}

/** Takes the next number of a series; concurrent callers wait until this transaction has kept it, or given it back. */
export async function nextNumber(trx: Db, series: string): Promise<bigint> {
  const { rows } = await sql<{ last: bigint }>`insert into loopstream.invoice_counters as c (series, last)
    values (${series}, 1) on conflict (series) do update set last = c.last + 1 returning last`.execute(trx);
  return rows[0]?.last ?? 0n;
}

export interface NewInvoice extends InvoiceRow {
  series: string;
  sequence: bigint;
  periodUntil: Date | null;
  key: string | null;
}

export async function insertInvoice(trx: Db, row: NewInvoice): Promise<void> {
  const { content } = row;
  await sql`insert into loopstream.invoices (id, account_id, series, sequence, kind, number, period_until, corrects, key,
      issued_at, total_credits, total_minor, content)
    values (${row.id}, ${row.accountId}, ${row.series}, ${row.sequence}, ${content.kind}, ${content.number},
      ${row.periodUntil}, ${row.corrects}, ${row.key}, ${row.issuedAt}, ${content.totalCredits}, ${content.totalMinor},
      ${JSON.stringify(content)})`.execute(trx);
}

/** Accounts of which something may not be billed that is of before `until`. */
export async function listDue(db: Db, until: Date, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select substr(b.account, 10) as id from loopstream.ledger_balances b
    left join loopstream.invoice_progress p on p.account_id = substr(b.account, 10)
    where p.until is null or p.until < ${until} order by b.account limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

export interface InvoiceProgress {
  until: Date | undefined;
  /** Number of the last billed entry of the account. */
  through: bigint;
}

/** Holds the account: nobody else bills it, or moves its balance, until the transaction ends. */
export async function lockProgress(trx: Db, accountId: string): Promise<{ before: InvoiceProgress; last: bigint }> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`invoice ${accountId}`}, 0))`.execute(trx);
  const { rows } = await sql<{ until: Date; through: bigint }>`select until, through from loopstream.invoice_progress
    where account_id = ${accountId}`.execute(trx);
  const balances = await sql<{ entries: bigint }>`select entries from loopstream.ledger_balances
    where account = ${`customer:${accountId}`} for update`.execute(trx);
  return { before: rows[0] ?? { until: undefined, through: 0n }, last: balances.rows[0]?.entries ?? 0n };
}

export async function keepProgress(trx: Db, accountId: string, until: Date, through: bigint): Promise<void> {
  await sql`insert into loopstream.invoice_progress (account_id, until, through)
    values (${accountId}, ${until}, ${through})
    on conflict (account_id) do update set until = excluded.until, through = excluded.through`.execute(trx);
}

/**
 * Selects an account's charges and refunds that are on no invoice yet: new ones, and those too late for the invoice of
 * their month. A separate credit note covers its own refund. Transactions that are not about usage, such as top-ups,
 * gifts and card reversals, are left out.
 */
const unbilled = (accountId: string, { until, through }: InvoiceProgress, before: Date) => sql`
  loopstream.ledger_transactions t
    join loopstream.ledger_entries e on e.transaction_id = t.id and e.account = ${`customer:${accountId}`}
  where t.account_id = ${accountId} and t.at < ${before} and not t.details ? 'invoiceKey'
    and (${until ?? null}::timestamptz is null or t.at >= ${until ?? null}::timestamptz or e.number > ${through})
    and exists (select 1 from loopstream.ledger_entries r
      where r.transaction_id = t.id and r.account in ('revenue:streaming', 'refunds'))`;

/** When the first of it happened; undefined where there is nothing. */
export async function firstUnbilled(
  trx: Db,
  accountId: string,
  progress: InvoiceProgress,
  before: Date,
): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`select min(t.at) as at
    from ${unbilled(accountId, progress, before)}`.execute(trx);
  return rows[0]?.at ?? undefined;
}

export interface UnbilledRow {
  kind: string;
  stream_id: string | null;
  profile: string | null;
  price: string | null;
  name: string | null;
  reason: string | null;
  seconds: string | null;
  credits: bigint;
}

/** Charges by stream, profile and price, and each correction by itself. */
export async function sumUnbilled(
  trx: Db,
  accountId: string,
  progress: InvoiceProgress,
  before: Date,
): Promise<UnbilledRow[]> {
  const { rows } = await sql<UnbilledRow>`select t.kind, t.details ->> 'streamID' as stream_id,
      t.details ->> 'profile' as profile, t.details ->> 'creditsPerHour' as price,
      (array_agg(t.details ->> 'streamName' order by t.at desc) filter (where t.details ? 'streamName'))[1] as name,
      min(t.details ->> 'reason') as reason, sum((t.details ->> 'seconds')::numeric)::text as seconds,
      -sum(e.credits) as credits
    from ${unbilled(accountId, progress, before)}
    group by t.kind, t.details ->> 'streamID', t.details ->> 'profile', t.details ->> 'creditsPerHour',
      case when t.kind = 'charge' then null else t.id end
    order by (t.kind <> 'charge'), min(t.at), stream_id, profile, price`.execute(trx);
  return rows;
}

/** Finds the buyer; undefined when the account no longer exists. */
export async function findBuyer(db: Db, accountId: string): Promise<{ name: string; email: string } | undefined> {
  const row = await db
    .selectFrom('auth.user')
    .select(['firstName', 'lastName', 'email'])
    .where(sql<string>`id::text`, '=', accountId)
    .executeTakeFirst();
  return row && { name: [row.firstName, row.lastName].filter(Boolean).join(' '), email: row.email };
}

export async function findAddress(db: Db, accountId: string): Promise<BillingAddress | undefined> {
  const { rows } = await sql<{ address: BillingAddress }>`select address from loopstream.billing_addresses
    where account_id = ${accountId}`.execute(db);
  return rows[0]?.address;
}

/** Sets what is given, and leaves the rest as it is. */
export async function mergeAddress(db: Db, accountId: string, given: Partial<BillingAddress>): Promise<BillingAddress> {
  const { rows } = await sql<{ address: BillingAddress }>`insert into loopstream.billing_addresses as a
      (account_id, address) values (${accountId}, ${JSON.stringify(given)}::jsonb)
    on conflict (account_id) do update set address = a.address || excluded.address, updated_at = now()
    returning address`.execute(db);
  return rows[0]?.address ?? {};
}
