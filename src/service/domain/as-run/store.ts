/** Runs the SQL of the record of what streams played (db/migrations/as-run.ts). */
import { sql } from 'kysely';
import type { PlayedList } from '../../../core/programme/identity.ts';
import type { Fact } from '../../../core/resources/stream/facts.ts';
import type { Db } from '../../db/pool.ts';
import { KEPT_DAYS } from '../uptime/store.ts';
import type { RecordedItem } from './recorded-item.ts';

const KEPT = sql.raw(`interval '${KEPT_DAYS} days'`);

interface OwnedStream {
  accountId: string;
  streamUid: string;
}

/** A list and the uploads in it. */
export interface RecordedList extends PlayedList {
  programme: string;
  uploads: readonly string[];
}

/** An item as it was from a moment on. */
export interface ItemVersion {
  uploadId: string;
  at: Date;
  item: RecordedItem;
}

export interface NewItem extends ItemVersion {
  accountId: string;
  hash: string;
}

export async function recordFacts(
  db: Db,
  { accountId, streamUid }: OwnedStream,
  facts: readonly Fact[],
): Promise<void> {
  if (facts.length === 0) return;
  const rows = facts.map(
    (fact) =>
      sql`(${streamUid}, ${fact.number}, ${accountId}, ${fact.track}, ${fact.from}, ${fact.programme}, ${JSON.stringify(fact)})`,
  );
  await sql`insert into loopstream.air_facts (stream_uid, number, account_id, track, started_at, programme, fact)
    values ${sql.join(rows)} on conflict do nothing`.execute(db);
}

export async function recordLists(
  db: Db,
  { accountId, streamUid }: OwnedStream,
  lists: readonly RecordedList[],
): Promise<void> {
  for (const { programme, seed, track, uploads } of lists)
    await sql`insert into loopstream.air_lists (stream_uid, programme, account_id, seed, track, uploads)
      values (${streamUid}, ${programme}, ${accountId}, ${seed}, ${JSON.stringify(track)}, ${uploads}::text[])
      on conflict do nothing`.execute(db);
}

export async function recordItem(db: Db, { accountId, uploadId, item, hash, at }: NewItem): Promise<void> {
  await sql`insert into loopstream.air_items (account_id, upload_id, at, hash, item)
    values (${accountId}, ${uploadId}, ${at}, ${hash}, ${JSON.stringify(item)}) on conflict do nothing`.execute(db);
}

/** Reads the number of the last recorded fact of each stream, by UID. */
export async function readLastFacts(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ uid: string; number: bigint }>`select stream_uid as uid, max(number) as number
    from loopstream.air_facts group by stream_uid`.execute(db);
  return new Map(rows.map(({ uid, number }) => [uid, Number(number)]));
}

/** Reads the hash of the last version of each item. */
export async function readItemHashes(db: Db): Promise<{ accountId: string; uploadId: string; hash: string }[]> {
  const { rows } = await sql<{
    accountId: string;
    uploadId: string;
    hash: string;
  }>`select distinct on (account_id, upload_id)
    account_id as "accountId", upload_id as "uploadId", hash from loopstream.air_items
    order by account_id, upload_id, at desc`.execute(db);
  return rows;
}

/**
 * Reads the latest `limit` facts of a stream that hold from before `to` on, in the order of their numbers, from the one on by which the list stood
 * at `from`.
 */
export async function readFacts(
  db: Db,
  streamUid: string,
  { track, from, to, limit }: { track: Fact['track']; from: Date; to: Date; limit: number },
): Promise<Fact[]> {
  const { rows } = await sql<{ fact: Fact }>`select fact from loopstream.air_facts
    where stream_uid = ${streamUid} and started_at < ${to} and number >= coalesce(
      (select max(number) from loopstream.air_facts
        where stream_uid = ${streamUid} and track = ${track} and started_at <= ${from}), 0)
    order by number desc limit ${limit}`.execute(db);
  return rows.reverse().map(({ fact }) => fact);
}

export async function readLists(
  db: Db,
  streamUid: string,
  hashes: readonly string[],
): Promise<Map<string, PlayedList>> {
  const { rows } = await sql<PlayedList & { programme: string }>`select programme, seed::float8 as seed, track
    from loopstream.air_lists where stream_uid = ${streamUid} and programme = any (${hashes}::text[])`.execute(db);
  return new Map(rows.map(({ programme, seed, track }) => [programme, { seed, track }]));
}

/** Reads all versions of items, the earliest first. */
export async function readItems(db: Db, accountId: string, uploadIds: readonly string[]): Promise<ItemVersion[]> {
  const { rows } = await sql<ItemVersion>`select upload_id as "uploadId", at, item from loopstream.air_items
    where account_id = ${accountId} and upload_id = any (${uploadIds}::text[]) order by at`.execute(db);
  return rows;
}

/**
 * Deletes what is too old. The last fact before that stays, since it says what followed; and so do the lists that facts name, and the
 * items in these.
 */
export async function deleteOldFacts(db: Db): Promise<void> {
  await sql`delete from loopstream.air_facts f where f.started_at < now() - ${KEPT} and exists
    (select 1 from loopstream.air_facts l where l.stream_uid = f.stream_uid and l.track = f.track
      and l.number > f.number and l.started_at < now() - ${KEPT})`.execute(db);
  await sql`delete from loopstream.air_lists p where not exists
    (select 1 from loopstream.air_facts f where f.stream_uid = p.stream_uid and f.programme = p.programme)`.execute(db);
  await sql`delete from loopstream.air_items i where i.at < now() - ${KEPT} and (exists
    (select 1 from loopstream.air_items l where l.account_id = i.account_id and l.upload_id = i.upload_id
      and l.at > i.at and l.at < now() - ${KEPT})
    or not exists (select 1 from loopstream.air_lists p
      where p.account_id = i.account_id and i.upload_id = any (p.uploads)))`.execute(db);
}

/** Deletes what is too old of streams that are gone; `known` are the UIDs of those that are not. */
export async function forgetFacts(db: Db, known: readonly string[]): Promise<void> {
  await sql`delete from loopstream.air_facts
    where started_at < now() - ${KEPT} and not stream_uid = any (${known}::text[])`.execute(db);
}

/** Deletes all that is kept of a deleted account. */
export async function deleteAccountFacts(db: Db, accountId: string): Promise<void> {
  for (const table of ['air_facts', 'air_lists', 'air_items'])
    await sql`delete from ${sql.table(`loopstream.${table}`)} where account_id = ${accountId}`.execute(db);
}
