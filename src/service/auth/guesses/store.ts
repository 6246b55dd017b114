/** Runs the SQL of tried passwords, and of the places in which people have signed in. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';

/** Places that an account keeps; the latest stay. */
const SOURCES = 50;
/** Lifetime of a place without a sign-in. */
export const SOURCE_DAYS = 180;
const GUESS_SECONDS = 3600;

/** Which of these sources has signed in to the account of this address. The statement is the same where there is no account. */
export async function findKnownSources(db: Db, email: string, sources: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ source: string }>`select s.source from loopstream.sign_in_sources s
    join auth."user" u on u.id = s.user_id
    where u.email = ${email} and s.source = any(${[...sources]}::text[])`.execute(db);
  return rows.map(({ source }) => source);
}

/** Keeps the sources in which the user has signed in, the latest of them. */
export async function keepSources(db: Db, userId: string, sources: readonly string[]): Promise<void> {
  await sql`insert into loopstream.sign_in_sources (user_id, source)
    select ${userId}, unnest(${[...sources]}::text[])
    on conflict (user_id, source) do update set at = now()`.execute(db);
  await sql`delete from loopstream.sign_in_sources where user_id = ${userId} and source not in
    (select source from loopstream.sign_in_sources where user_id = ${userId} order by at desc limit ${SOURCES})`.execute(
    db,
  );
}

export async function forgetSources(db: Db, userId: string): Promise<void> {
  await sql`delete from loopstream.sign_in_sources where user_id = ${userId}`.execute(db);
}

/** Passwords tried in a bucket's hour, and how long the hour lasts. */
export interface Tried {
  attempts: number;
  secondsLeft: number;
}

/** Counts one more try. One statement locks the row, so that all servers count together, and tries at the same moment too. */
export async function countGuess(db: Db, bucket: number): Promise<Tried> {
  const isOver = sql`g.since <= now() - make_interval(secs => ${GUESS_SECONDS})`;
  const { rows } = await sql<Tried>`insert into loopstream.guesses as g (bucket, since, attempts)
    values (${bucket}, now(), 1)
    on conflict (bucket) do update set
      since = case when ${isOver} then now() else g.since end,
      attempts = case when ${isOver} then 1 else least(g.attempts, 1000000000) + 1 end
    returning attempts, greatest(1, ceil(extract(epoch from g.since - now()) + ${GUESS_SECONDS}::int4))::int4
      as "secondsLeft"`.execute(db);
  return rows[0] ?? { attempts: 0, secondsLeft: 0 };
}

/** The counted try was none: its password was right. */
export async function uncountGuess(db: Db, bucket: number): Promise<void> {
  await sql`update loopstream.guesses set attempts = greatest(attempts - 1, 0) where bucket = ${bucket}`.execute(db);
}

/** Deletes counts whose hour is over, and places without a sign-in for long. */
export async function forgetOldGuesses(db: Db): Promise<void> {
  await sql`delete from loopstream.guesses
    where since <= now() - make_interval(secs => ${GUESS_SECONDS})`.execute(db);
  await sql`delete from loopstream.sign_in_sources
    where at < now() - make_interval(days => ${SOURCE_DAYS})`.execute(db);
}
