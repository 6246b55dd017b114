/**
 * Reconciles with SQL: recomputes the expected ledger from the rows of each noun of billing. Each query returns the
 * differences, and the number of rows compared.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import { RATE_DIGITS } from '../crypto/amounts.ts';
import type { PriceList } from '../ledger/prices.ts';

/** Something that is not as what it is made of says. */
export interface Difference {
  what: string;
  subject: string;
  found: string | null;
  expected: string | null;
}

export interface LedgerFacts {
  checked: number;
  differences: Difference[];
}

/** The maximum of reported differences: with more, something is wrong at large. */
const MOST = 1000;

/** Compares expected and found rows, each with `subject`, `what` and `value`; null equals 0. */
async function compare(db: Db, expected: RawBuilder<unknown>, found: RawBuilder<unknown>): Promise<LedgerFacts> {
  const { rows } = await sql<Difference & { checked: bigint; differs: boolean }>`
    with expected as (${expected}), found as (${found}), both_of as (
      select coalesce(e.what, f.what) as what, coalesce(e.subject, f.subject) as subject, f.value as found, e.value as expected
      from expected e full join found f on f.what = e.what and f.subject = e.subject
    )
    select count(*) over () as checked, what, subject, found::text as found, expected::text as expected,
      coalesce(found, 0) <> coalesce(expected, 0) as differs
    from both_of order by differs desc, what, subject limit ${MOST}`.execute(db);
  return {
    checked: Number(rows[0]?.checked ?? 0n),
    differences: rows
      .filter(({ differs }) => differs)
      .map(({ what, subject, found, expected }) => ({ what, subject, found, expected })),
  };
}

/** How many transactions the ledger holds. */
export async function countTransactions(db: Db): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from loopstream.ledger_transactions`.execute(
    db,
  );
  return Number(rows[0]?.count ?? 0n);
}

/** Compares each session's metered time with its charges: credits, seconds, and their number. */
export const readMeterFacts = (db: Db): Promise<LedgerFacts> =>
  compare(
    db,
    sql`select v.what, m.stream_uid || ':' || m.session as subject, v.value::numeric from loopstream.meter_sessions m,
      lateral (values ('charged credits', m.credits), ('charged seconds', m.charged_seconds), ('charges', m.charges),
        ('credits for its seconds', div(m.cost, 36000))) as v (what, value)`,
    sql`with charges as (
        select split_part(t.key, ':', 2) || ':' || split_part(t.key, ':', 3) as subject, t.details ->> 'seconds' as seconds,
          (select sum(e.credits) from loopstream.ledger_entries e
            where e.transaction_id = t.id and e.account = 'revenue:streaming') as credits
        from loopstream.ledger_transactions t where t.kind = 'charge'
      ), sums as (
        select subject, sum(credits) as credits, count(*) as charges,
          sum(case when seconds ~ '^[0-9]+([.][0-9]+)?$' then seconds::numeric end) as seconds from charges group by subject
      )
      select v.what, s.subject, v.value from sums s, lateral (values ('charged credits', s.credits),
        ('charged seconds', s.seconds), ('charges', s.charges), ('credits for its seconds', s.credits)) as v (what, value)`,
  );

/** The list as a table, its first prices since ever. */
const listed = (prices: PriceList): RawBuilder<unknown> => {
  const rows = [...prices].flatMap(([profile, history]) => history.map((one) => ({ profile, ...one })));
  const since = rows.map(({ from }) => (Number.isFinite(from) ? new Date(from).toISOString() : '-infinity'));
  return sql`select * from unnest(${rows.map(({ profile }) => profile)}::text[], ${since}::timestamptz[],
    ${rows.map(({ creditsPerHour }) => String(creditsPerHour))}::numeric[]) as p (profile, since, per_hour)`;
};

/**
 * Compares the price of each charge with the list, and the cost of each session's seconds at those prices with its
 * charges. A fraction of a credit at a change of price may have been charged at the next price. One credit for each
 * change is therefore no difference.
 */
export const readPriceFacts = (db: Db, prices: PriceList): Promise<LedgerFacts> => {
  const charges = sql`select t.key, split_part(t.key, ':', 2) || ':' || split_part(t.key, ':', 3) as session,
      t.details ->> 'profile' as profile, (t.details ->> 'from')::timestamptz as begins,
      (t.details ->> 'seconds')::numeric as seconds, (t.details ->> 'creditsPerHour')::numeric as per_hour,
      (select sum(e.credits) from loopstream.ledger_entries e
        where e.transaction_id = t.id and e.account = 'revenue:streaming') as credits
    from loopstream.ledger_transactions t where t.kind = 'charge' and t.details ? 'from' and t.details ? 'profile'
      and t.details ->> 'creditsPerHour' ~ '^[0-9]+$' and t.details ->> 'seconds' ~ '^[0-9]+([.][0-9]+)?$'`;
  const sums = sql`select session, sum(credits) as credits, floor(sum(seconds * per_hour) / 3600) as worth,
      count(distinct per_hour) - 1 as changes from (${charges}) c group by session`;
  return compare(
    db,
    sql`select 'price of an hour' as what, c.key as subject, (select p.per_hour from (${listed(prices)}) p
        where p.profile = c.profile and p.since <= c.begins order by p.since desc limit 1) as value from (${charges}) c
      union all
      select 'credits at those prices', session, case when abs(credits - worth) <= changes then credits else worth end
      from (${sums}) s`,
    sql`select 'price of an hour' as what, c.key as subject, c.per_hour as value from (${charges}) c
      union all select 'credits at those prices', session, credits from (${sums}) s`,
  );
};

/** A stream's session as Kubernetes reports it; a merged one goes from the one number through the other. */
export interface ReportedSession {
  streamUID: string;
  from: number;
  through: number;
  tenths: number;
  /** The session is acknowledged in Kubernetes. */
  acknowledged: boolean;
}

/**
 * Compares each session's count with its pods' reports: never more, and all of it once acknowledged. Time not counted
 * yet is no difference.
 */
export async function readSessionFacts(db: Db, reported: readonly ReportedSession[]): Promise<LedgerFacts> {
  const { rows } = await sql<Difference>`
    with told as (
      select * from unnest(${reported.map(({ streamUID }) => streamUID)}::text[], ${reported.map(({ from }) => from)}::bigint[],
        ${reported.map(({ through }) => through)}::bigint[], ${reported.map(({ tenths }) => String(tenths / 10))}::numeric[],
        ${reported.map(({ acknowledged }) => acknowledged)}::boolean[]) as t (uid, first, last, seconds, acknowledged)
    ), both_of as (
      select uid || ':' || last as subject, seconds, acknowledged, coalesce((select sum(s.seconds)
        from loopstream.meter_sessions s where s.stream_uid = uid and s.session between first and last), 0) as counted
      from told
    )
    select case when acknowledged then 'counted seconds, acknowledged' else 'counted seconds' end as what, subject,
      counted::text as found, seconds::text as expected from both_of
    where counted > seconds or (acknowledged and counted <> seconds) order by subject limit ${MOST}`.execute(db);
  return { checked: reported.length, differences: rows };
}

/** Sums the entries of transactions whose details name a `noun`: for the customer, and of cash. */
const movedBy = (noun: string, cash: string) => sql`select
    case when e.account like 'customer:%' then 'credited' else 'cash' end as what, t.details ->> ${noun}::text as subject,
    sum(e.credits) as value
  from loopstream.ledger_transactions t join loopstream.ledger_entries e on e.transaction_id = t.id
  where t.details ->> ${noun}::text is not null and (e.account like 'customer:%' or e.account like ${cash}) group by 1, 2`;

/** Compares each top-up's payments and reversals with the credits, debits and cash of the ledger. */
export const readTopUpFacts = (db: Db, creditsPerMinorUnit: bigint): Promise<LedgerFacts> =>
  compare(
    db,
    sql`with sums as (
        select p.id, p.paid_minor * ${creditsPerMinorUnit}::numeric as paid,
          coalesce(sum(r.taken_credits) filter (where r.state <> 'returned'), 0) as taken,
          coalesce(sum(r.amount_minor * ${creditsPerMinorUnit}::numeric) filter (where
            (r.kind = 'refund' and r.state <> 'returned') or (r.kind = 'dispute' and r.state = 'lost')), 0) as gone
        from loopstream.topups p left join loopstream.topup_reversals r on r.topup_id = p.id group by p.id
      )
      select v.what, s.id as subject, v.value from sums s,
        lateral (values ('credited', s.paid - s.taken), ('cash', s.gone - s.paid)) as v (what, value)`,
    movedBy('topUpID', 'cash:card'),
  );

/**
 * Compares three things: each account's billed charges and refunds with its invoices and credit notes, each document's
 * lines with its sum, and each series' documents with its last number.
 */
export const readInvoiceFacts = (db: Db): Promise<LedgerFacts> =>
  compare(
    db,
    sql`select 'invoiced' as what, t.account_id as subject, -sum(e.credits) as value
      from loopstream.ledger_transactions t
        join loopstream.ledger_entries e on e.transaction_id = t.id and e.account = 'customer:' || t.account_id
        left join loopstream.invoice_progress p on p.account_id = t.account_id
      where (t.details ? 'invoiceKey' or (t.at < p.until and e.number <= p.through))
        and exists (select 1 from loopstream.ledger_entries r
          where r.transaction_id = t.id and r.account in ('revenue:streaming', 'refunds'))
      group by 2
      union all
      select 'sum of the lines', i.number, (select sum((l ->> 'credits')::numeric)
        from jsonb_array_elements(i.content -> 'lines') l) from loopstream.invoices i
      union all
      select 'numbers of the series', series, last from loopstream.invoice_counters`,
    sql`select 'invoiced' as what, account_id as subject, sum(total_credits) as value
      from loopstream.invoices group by 2
      union all
      select 'sum of the lines', number, total_credits from loopstream.invoices
      union all
      select 'numbers of the series', series, count(*) from loopstream.invoices group by 2`,
  );

/**
 * Compares each deposit's worth with its credits and cash, and each payment in the requested coin at its rate with its
 * worth. `creditsPerUnit` are those of one whole unit of the currency, if that is known.
 */
export const readDepositFacts = (db: Db, creditsPerUnit: bigint | undefined): Promise<LedgerFacts> => {
  const worth = sql`loopstream.crypto_payments p join loopstream.crypto_deposits d on d.id = p.deposit_id and d.asset = p.asset
    where ${creditsPerUnit !== undefined} and p.state in ('credited', 'reversed') and p.rate is not null`;
  const payment = sql`p.network || ':' || p.txid || ':' || p.index`;
  return compare(
    db,
    sql`select 'credits for its amount' as what, ${payment} as subject,
        div(p.amount * p.rate * ${creditsPerUnit ?? 0n}::numeric, 10::numeric ^ (${RATE_DIGITS}::integer + d.decimals)) as value from ${worth}
      union all
      select v.what, p.deposit_id as subject, sum(v.value) as value from loopstream.crypto_payments p,
        lateral (values
          ('credited', case p.state when 'credited' then p.credits when 'reversed' then p.written_off else 0 end),
          ('cash', case p.state when 'credited' then -p.credits else 0 end)) as v (what, value)
      group by 1, 2`,
    sql`select 'credits for its amount' as what, ${payment} as subject, p.credits as value from ${worth}
      union all ${movedBy('deposit', 'cash:crypto:%')}`,
  );
};

/** Compares each staff operation that moved credit with the ledger, and finds staff entries without an operation. */
export const readStaffFacts = (db: Db): Promise<LedgerFacts> =>
  compare(
    db,
    sql`select 'given by staff' as what, a.transaction_id::text as subject, a.credits as value
      from loopstream.admin_audit a where a.transaction_id is not null`,
    sql`select 'given by staff' as what, t.id::text as subject, sum(e.credits) as value
      from loopstream.ledger_transactions t join loopstream.ledger_entries e on e.transaction_id = t.id
      where t.key like 'admin:%' and e.account like 'customer:%' group by t.id`,
  );
