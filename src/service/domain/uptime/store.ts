/** Runs the SQL of the record of when streams were on air (db/migrations/uptime.ts). */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import type { AirChange, ViewerState } from './changes.ts';

/** How long a change is kept. */
export const KEPT_DAYS = 400;
const KEPT = sql.raw(`interval '${KEPT_DAYS} days'`);

interface StreamNames {
  accountId: string;
  streamId: string;
  streamUid: string;
}

/** Adds the changes that are not recorded yet. */
export async function recordAirChanges(
  db: Db,
  { accountId, streamId, streamUid }: StreamNames,
  changes: readonly AirChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(
    ({ number, at, state, viewers, cause }) =>
      sql`(${streamUid}, ${number}, ${accountId}, ${streamId}, ${at}, ${state}, ${viewers ?? null}, ${cause?.code ?? null}, ${cause?.message ?? null}, ${cause?.fix ?? null})`,
  );
  await sql`insert into loopstream.air_changes (stream_uid, number, account_id, stream_id, at, state, viewers, code, message, fix)
    values ${sql.join(rows)} on conflict do nothing`.execute(db);
}

interface ChangeRow {
  number: bigint;
  at: Date;
  state: AirChange['state'];
  viewers: ViewerState | null;
  code: string | null;
  message: string | null;
  fix: string | null;
}

/**
 * Reads the latest `limit` changes of a stream, oldest first, back to the last one by `from` at which no outage went on: an outage that goes
 * on at `from` began after it. The view of viewers at `from` is known from a change by then, too.
 */
export async function readAirChanges(
  db: Db,
  streamUid: string,
  { from, limit }: { from: Date; limit: number },
): Promise<AirChange[]> {
  const { rows } =
    await sql<ChangeRow>`select number, at, state, viewers, code, message, fix from loopstream.air_changes
    where stream_uid = ${streamUid} and number >= least(
      coalesce((select max(number) from loopstream.air_changes
        where stream_uid = ${streamUid} and at <= ${from} and state in ('onAir', 'unwanted')), 0),
      (select max(number) from loopstream.air_changes
        where stream_uid = ${streamUid} and at <= ${from} and viewers in ('onAir', 'unknown')))
    order by number desc limit ${limit}`.execute(db);
  return rows.reverse().map(({ number, at, state, viewers, code, message, fix }) => ({
    number: Number(number),
    at,
    state,
    ...(viewers && { viewers }),
    cause: state === 'offAir' || viewers === 'offAir' ? { code, message, fix } : null,
  }));
}

/** Finds the stream of a UID. */
export async function findRecordedStream(
  db: Db,
  streamUid: string,
): Promise<{ accountId: string; streamId: string } | undefined> {
  const { rows } = await sql<{ accountId: string; streamId: string }>`select account_id as "accountId",
    stream_id as "streamId" from loopstream.air_changes where stream_uid = ${streamUid} limit 1`.execute(db);
  return rows[0];
}

/** Those of the UIDs of which something is recorded. */
export async function readKnownStreams(db: Db, uids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ uid: string }>`select u.uid from unnest(${uids}::text[]) as u (uid)
    where exists (select 1 from loopstream.air_changes c where c.stream_uid = u.uid)`.execute(db);
  return new Set(rows.map(({ uid }) => uid));
}

/** Deletes what is too old, in parts. The last change before that with a state stays, and the last one of viewers, since they say what
 * followed. */
export async function deleteOldAirChanges(db: Db): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`delete from loopstream.air_changes where ctid in
      (select c.ctid from loopstream.air_changes c where c.at < now() - ${KEPT} and exists
        (select 1 from loopstream.air_changes l where l.stream_uid = c.stream_uid and l.number > c.number and l.state <> 'unchanged'
          and l.at < now() - ${KEPT})
        and (c.viewers is null or exists (select 1 from loopstream.air_changes l where l.stream_uid = c.stream_uid
          and l.number > c.number and l.viewers is not null and l.at < now() - ${KEPT}))
      limit 5000)`.execute(db);
    if (numAffectedRows < 5_000n) return;
  }
}

/** Deletes what is too old of streams that are gone; `known` are the UIDs of those that are not. */
export async function forgetAirChanges(db: Db, known: readonly string[]): Promise<void> {
  await sql`delete from loopstream.air_changes
    where at < now() - ${KEPT} and not stream_uid = any (${known}::text[])`.execute(db);
}

/** Deletes all that is kept of a deleted account. */
export async function deleteAccountAirChanges(db: Db, accountId: string): Promise<void> {
  await sql`delete from loopstream.air_changes where account_id = ${accountId}`.execute(db);
}
