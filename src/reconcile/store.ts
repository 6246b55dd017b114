/**
 * The SQL of reconciling: what the ledger must hold, computed anew from the rows of each noun that has to do with money. Each
 * answers what differs, and how much it has looked at.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/pool.ts';

/** Something that is not as what it is made of says. */
export interface Difference {
  what: string;
  subject: string;
  found: string | null;
  expected: string | null;
}

export interface Facts {
  checked: number;
  differences: Difference[];
}

/** Differences that are told: where there are more, something is wrong at large. */
const MOST = 1000;

/** What is expected and what is found, each with `subject`, `what` and `value`, side by side; null is the same as 0. */
async function compare(db: Db, expected: RawBuilder<unknown>, found: RawBuilder<unknown>): Promise<Facts> {
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

/** Of each session what was metered, against its charges: credits, seconds, and how many. */
export const meterFacts = (db: Db): Promise<Facts> =>
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

/** What entries of the transactions whose details name a `noun` have moved: for the customer, and of cash. */
const movedBy = (noun: string, cash: string) => sql`select
    case when e.account like 'customer:%' then 'credited' else 'cash' end as what, t.details ->> ${noun}::text as subject,
    sum(e.credits) as value
  from loopstream.ledger_transactions t join loopstream.ledger_entries e on e.transaction_id = t.id
  where t.details ->> ${noun}::text is not null and (e.account like 'customer:%' or e.account like ${cash}) group by 1, 2`;

/** Of each top-up what was paid and what went back, against what was credited, taken and received. */
export const topUpFacts = (db: Db, creditsPerMinorUnit: bigint): Promise<Facts> =>
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

/** Of each account what was charged and given back of what is billed by now, against its invoices and credit notes. */
export const invoiceFacts = (db: Db): Promise<Facts> =>
  compare(
    db,
    sql`select 'invoiced' as what, t.account_id as subject, -sum(e.credits) as value
      from loopstream.ledger_transactions t
        join loopstream.ledger_entries e on e.transaction_id = t.id and e.account = 'customer:' || t.account_id
        left join loopstream.invoice_progress p on p.account_id = t.account_id
      where (t.details ? 'invoiceKey' or (t.at < p.until and e.number <= p.through))
        and exists (select 1 from loopstream.ledger_entries r
          where r.transaction_id = t.id and r.account in ('revenue:streaming', 'refunds'))
      group by 2`,
    sql`select 'invoiced' as what, account_id as subject, sum(total_credits) as value
      from loopstream.invoices group by 2`,
  );

/** Of each deposit what its payments are worth, against what was credited and received. */
export const depositFacts = (db: Db): Promise<Facts> =>
  compare(
    db,
    sql`select v.what, p.deposit_id as subject, sum(v.value) as value from loopstream.crypto_payments p,
        lateral (values
          ('credited', case p.state when 'credited' then p.credits when 'reversed' then p.written_off else 0 end),
          ('cash', case p.state when 'credited' then -p.credits else 0 end)) as v (what, value)
      group by 1, 2`,
    movedBy('deposit', 'cash:crypto:%'),
  );

/** Of each deed of staff that moved credit, against the ledger; and nothing there that staff have not done. */
export const staffFacts = (db: Db): Promise<Facts> =>
  compare(
    db,
    sql`select 'given by staff' as what, a.transaction_id::text as subject, a.credits as value
      from loopstream.admin_audit a where a.transaction_id is not null`,
    sql`select 'given by staff' as what, t.id::text as subject, sum(e.credits) as value
      from loopstream.ledger_transactions t join loopstream.ledger_entries e on e.transaction_id = t.id
      where t.key like 'admin:%' and e.account like 'customer:%' group by t.id`,
  );
