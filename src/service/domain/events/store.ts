/** Runs the SQL of the outbox (db/migrations/events.ts). */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import { compileWhere, type RowWhere, type WhereColumns } from '../../db/where.ts';
import {
  type AccountEvent,
  type AccountEventType,
  type EventData,
  type EventObject,
  NO_DATA,
  type Snapshot,
} from './record.ts';

/** The channel of notifications: each has the id of an account with new events. */
export const CHANNEL = 'loopstream_events';
/** How long an event is kept. */
export const KEPT_DAYS = 7;
const KEPT = sql.raw(`interval '${KEPT_DAYS} days'`);

/** An object that has events. */
export interface Subject {
  accountId: string;
  object: EventObject;
  objectId: string;
  uid: string;
}

/** The state of an object's events: its last number, and the mark that the caller gave with it. */
export interface Told {
  seq: number;
  mark: string;
}

/** An event to record; `skipped` numbers before it are lost. */
export interface News {
  id: string;
  type: AccountEventType;
  at: Date;
  data: EventData;
  skipped?: number;
  /** The object as it is then, as clients read it. */
  snapshot?: Snapshot | undefined;
  /** The object that the event is about, where it is another one of the account. */
  about?: Omit<Subject, 'accountId'>;
}

/**
 * Records the news of an object, in one transaction with its mark: the caller's, if `db` is one. `find` decides by the state before; it
 * is called once, while the object is locked. An object of another UID, as after a restored backup, goes on with the numbers and begins
 * with no mark.
 */
export const tell = (
  db: Db,
  subject: Subject,
  find: (told: Told) => { news: readonly News[]; mark: string } | undefined,
): Promise<void> =>
  inTransaction(db, async (trx) => {
    const { seq, ...before } = await lock(trx, subject);
    const found = find({ seq, mark: before.uid === subject.uid ? before.mark : '' });
    if (!found) return;
    let last = seq;
    for (const one of found.news) {
      if (one.about) await recordAbout(trx, { ...one.about, accountId: subject.accountId }, one);
      else {
        const next = last + (one.skipped ?? 0) + 1;
        if (await insert(trx, subject, one, next)) last = next;
      }
    }
    await sql`update loopstream.event_objects set uid = ${subject.uid}, seq = ${last}, mark = ${found.mark}, told_at = now()
      where account_id = ${subject.accountId} and object_id = ${subject.objectId}`.execute(trx);
  });

const inTransaction = (db: Db, work: (trx: Db) => Promise<void>): Promise<void> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);

/** Others wait until the transaction ends. */
async function lock(trx: Db, { accountId, object, objectId, uid }: Subject): Promise<Told & { uid: string }> {
  await sql`insert into loopstream.event_objects (account_id, object_id, uid, object)
    values (${accountId}, ${objectId}, ${uid}, ${object}) on conflict do nothing`.execute(trx);
  const { rows } = await sql<{ uid: string; seq: bigint; mark: string }>`select uid, seq, mark
    from loopstream.event_objects where account_id = ${accountId} and object_id = ${objectId} for update`.execute(trx);
  const [row] = rows;
  return { uid: row?.uid ?? uid, seq: Number(row?.seq ?? 0n), mark: row?.mark ?? '' };
}

/** Records an event of an object whose mark others keep. */
async function recordAbout(trx: Db, subject: Subject, news: News): Promise<void> {
  const { seq } = await lock(trx, subject);
  if (!(await insert(trx, subject, news, seq + 1))) return;
  await sql`update loopstream.event_objects set seq = ${seq + 1}, told_at = now()
    where account_id = ${subject.accountId} and object_id = ${subject.objectId}`.execute(trx);
}

/** Returns false for an event of a known id, as after a restored backup: it is recorded no second time. */
async function insert(
  trx: Db,
  { accountId, object, objectId }: Subject,
  { id, type, at, data, snapshot }: News,
  seq: number,
): Promise<boolean> {
  const kept = snapshot === undefined ? null : JSON.stringify(snapshot);
  const { numAffectedRows = 0n } = await sql`insert into loopstream.events
      (id, account_id, type, object, object_id, seq, at, data, snapshot)
    values (${id}, ${accountId}, ${type}, ${object}, ${objectId}, ${seq}, ${at}, ${JSON.stringify(data)}::jsonb, ${kept}::jsonb)
    on conflict (id) do nothing`.execute(trx);
  return numAffectedRows > 0n;
}

/** The marks of the objects of all accounts: uid → mark. */
export async function readMarks(db: Db): Promise<Map<string, string>> {
  const { rows } = await sql<{ uid: string; mark: string }>`select uid, mark from loopstream.event_objects`.execute(db);
  return new Map(rows.map(({ uid, mark }) => [uid, mark]));
}

/** Keeps marks of objects that have no news before this. */
export async function writeMarks(db: Db, known: readonly (Subject & { mark: string })[]): Promise<void> {
  await sql`insert into loopstream.event_objects (account_id, object_id, uid, mark, object)
    select * from unnest(${known.map(({ accountId }) => accountId)}::text[], ${known.map(({ objectId }) => objectId)}::text[],
      ${known.map(({ uid }) => uid)}::text[], ${known.map(({ mark }) => mark)}::text[],
      ${known.map(({ object }) => object)}::text[])
    on conflict do nothing`.execute(db);
}

export interface EventRow {
  id: string;
  type: AccountEventType;
  object: EventObject;
  object_id: string;
  seq: bigint;
  at: Date;
  /** A field that is newer than the event is missing. */
  data: Partial<EventData> & Pick<EventData, 'name'>;
  snapshot: Snapshot | null;
}

export const toEvent = (row: EventRow): AccountEvent => ({
  id: row.id,
  type: row.type,
  timestamp: row.at.toISOString(),
  object: row.object,
  objectID: row.object_id,
  seq: Number(row.seq),
  data: { ...NO_DATA, ...row.data },
  snapshot: row.snapshot,
});

/** The columns of an EventRow. */
export const EVENT_COLUMNS = sql.raw('e.id, e.type, e.object, e.object_id, e.seq, e.at, e.data, e.snapshot');

const COLUMNS: WhereColumns = {
  type: sql`e.type`,
  objectID: sql`e.object_id`,
  timestamp: sql`e.at`,
};

/** Rows of a transaction that is under way, or of one after it, are not there yet. */
const matches = (accountId: string, where: RowWhere = {}): RawBuilder<unknown> => sql`e.account_id = ${accountId}
  and e.xid < pg_snapshot_xmin(pg_current_snapshot()) and e.recorded_at > now() - ${KEPT}
  and ${compileWhere(where, COLUMNS)}`;

/** Whether the account has this event still. */
export async function hasEvent(db: Db, accountId: string, id: string): Promise<boolean> {
  const { rows } = await sql`select 1 from loopstream.events e
    where ${matches(accountId)} and e.id = ${id}`.execute(db);
  return rows.length > 0;
}

const placeOf = (id: string): RawBuilder<unknown> =>
  sql`(select p.xid, p.position from loopstream.events p where p.id = ${id})`;

/** Reads `limit` events behind one, oldest first, or before one, newest first. */
export async function readEvents(
  db: Db,
  accountId: string,
  where: RowWhere | undefined,
  { after, before, limit }: { after?: string | undefined; before?: string | undefined; limit: number },
  backwards = false,
): Promise<AccountEvent[]> {
  const order = sql.raw(backwards ? 'desc' : 'asc');
  const { rows } = await sql<EventRow>`select ${EVENT_COLUMNS}
    from loopstream.events e where ${matches(accountId, where)}
      and ${after === undefined ? sql`true` : sql`(e.xid, e.position) > ${placeOf(after)}`}
      and ${before === undefined ? sql`true` : sql`(e.xid, e.position) < ${placeOf(before)}`}
    order by e.xid ${order}, e.position ${order} limit ${limit}`.execute(db);
  return rows.map(toEvent);
}

export async function countEvents(db: Db, accountId: string, where?: RowWhere): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from loopstream.events e
    where ${matches(accountId, where)}`.execute(db);
  return Number(rows[0]?.count ?? 0n);
}

/** The last event of an account: what comes behind it is new. */
export async function findLastId(db: Db, accountId: string): Promise<string | undefined> {
  const [last] = await readEvents(db, accountId, undefined, { limit: 1 }, true);
  return last?.id;
}

/** Deletes events whose time is over, in parts, so that no statement takes long. */
export async function deleteOldEvents(db: Db): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`delete from loopstream.events where id in
      (select id from loopstream.events where recorded_at < now() - ${KEPT} limit 5000)`.execute(db);
    if (numAffectedRows < 5_000n) return;
  }
}

/** Forgets objects of these kinds that are gone and had no event for a month. Those of other kinds stay, so that no number comes twice. */
export async function forgetObjects(db: Db, kinds: readonly EventObject[], known: readonly string[]): Promise<void> {
  await sql`delete from loopstream.event_objects where told_at < now() - interval '30 days'
    and coalesce(object = any (${kinds}::text[]), true) and not uid = any (${known}::text[])`.execute(db);
}

/** Deletes all that is kept of a deleted account. */
export async function deleteAccountEvents(db: Db, accountId: string): Promise<void> {
  await sql`delete from loopstream.events where account_id = ${accountId}`.execute(db);
  await sql`delete from loopstream.event_objects where account_id = ${accountId}`.execute(db);
}

/**
 * Puts the places of restored events before those of new ones: in another cluster of Postgres, numbers of transactions begin anew. No
 * transaction of this one has a number from xmax on.
 */
export async function rebaseEvents(db: Db): Promise<void> {
  await sql`with now as (select pg_snapshot_xmax(pg_current_snapshot()) as xmax)
    update loopstream.events e set xid = ((now.xmax::text::bigint - 1)::text)::xid8 from now
    where e.xid >= now.xmax`.execute(db);
}
