/** The SQL of how many letters a mailbox was sent, and of notices that wait to be sent. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import type { Notice } from '../../lib/mail/notices.ts';

export interface Allowed {
  /** What is counted apart from all else. */
  kind: string;
  letters: number;
  seconds: number;
}

/**
 * Counts one more letter to the mailbox, unless its time is used up; `false` then. One statement, so that all servers count
 * together: the row is locked while they do.
 */
export async function takeLetter(db: Db, mailbox: string, { kind, letters, seconds }: Allowed): Promise<boolean> {
  const recent = sql`select t from unnest(b.sent) t where t > now() - make_interval(secs => ${seconds})`;
  const { rows } = await sql`insert into loopstream.mail_budgets as b (mailbox, kind, sent)
    values (${mailbox}, ${kind}, array[now()])
    on conflict (mailbox, kind) do update set sent = array(${recent}) || now()
    where (select count(*) from (${recent}) r) < ${letters}
    returning kind`.execute(db);
  return rows.length > 0;
}

export async function addNotice(db: Db, email: string, { kind, what, at }: Notice): Promise<void> {
  await sql`insert into loopstream.notices (email, kind, what, at)
    values (${email}, ${kind}, ${what}, ${at})`.execute(db);
}

/** Takes what waits for the address, oldest first. Nothing, while the letters that it may have are used up. */
export const takeNotices = (db: Db, email: string, mailbox: string, allowed: Allowed): Promise<Notice[]> =>
  db.transaction().execute(async (tx) => {
    const { rows: waiting } = await sql`select from loopstream.notices where email = ${email} limit 1`.execute(tx);
    if (waiting.length === 0 || !(await takeLetter(tx, mailbox, allowed))) return [];
    const { rows } = await sql<Notice>`with taken as (delete from loopstream.notices where email = ${email} returning *)
      select kind, what, at from taken order by id`.execute(tx);
    return rows;
  });

/** Addresses for which notices wait; the one that has waited longest first. */
export async function listWaiting(db: Db): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`select email from loopstream.notices
    group by email order by min(id) limit 500`.execute(db);
  return rows.map(({ email }) => email);
}

/** Clears away counts that count no more. */
export async function forgetLetters(db: Db): Promise<void> {
  await sql`delete from loopstream.mail_budgets b
    where not exists (select from unnest(b.sent) t where t > now() - interval '1 day')`.execute(db);
}
