/** Runs the SQL of mail counts by mailbox, and of deferred notices. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import type { Notice } from '../../lib/mail/notices.ts';

export interface Allowed {
  /** Each kind has a count of its own. */
  kind: string;
  mails: number;
  seconds: number;
}

/**
 * Counts one more mail to the mailbox. Returns `false` if its budget is used up. One statement locks the row, so that all servers
 * count together.
 */
export async function countMail(db: Db, mailbox: string, { kind, mails, seconds }: Allowed): Promise<boolean> {
  const recent = sql`select t from unnest(b.sent) t where t > now() - make_interval(secs => ${seconds})`;
  const { rows } = await sql`insert into loopstream.mail_budgets as b (mailbox, kind, sent)
    values (${mailbox}, ${kind}, array[now()])
    on conflict (mailbox, kind) do update set sent = array(${recent}) || now()
    where (select count(*) from (${recent}) r) < ${mails}
    returning kind`.execute(db);
  return rows.length > 0;
}

export async function addNotice(db: Db, email: string, { kind, what, at }: Notice): Promise<void> {
  await sql`insert into loopstream.notices (email, kind, what, at)
    values (${email}, ${kind}, ${what}, ${at})`.execute(db);
}

/** Takes the deferred notices of an address, oldest first. Returns none while its budget is used up. */
export const takeNotices = (db: Db, email: string, mailbox: string, allowed: Allowed): Promise<Notice[]> =>
  db.transaction().execute(async (tx) => {
    const { rows: waiting } = await sql`select from loopstream.notices where email = ${email} limit 1`.execute(tx);
    if (waiting.length === 0 || !(await countMail(tx, mailbox, allowed))) return [];
    const { rows } = await sql<Notice>`with taken as (delete from loopstream.notices where email = ${email} returning *)
      select kind, what, at from taken order by id`.execute(tx);
    return rows;
  });

/** Lists addresses with deferred notices, longest wait first. */
export async function listWaiting(db: Db): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`select email from loopstream.notices
    group by email order by min(id) limit 500`.execute(db);
  return rows.map(({ email }) => email);
}

/** Deletes expired counts. */
export async function deleteOldCounts(db: Db): Promise<void> {
  await sql`delete from loopstream.mail_budgets b
    where not exists (select from unnest(b.sent) t where t > now() - interval '1 day')`.execute(db);
}
