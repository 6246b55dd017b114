/** Queries the meter's tables with SQL. */
import { sql } from 'kysely';
import type { Profile } from '../../../core/resources/stream/profile.ts';
import type { Db } from '../../db/pool.ts';
import type { Credit } from './credit.ts';
import { type CountedSession, formatSeconds, type Played, toTenths } from './session-charges.ts';

/** Sessions of a stream, from one number through another. */
export interface Range {
  streamUID: string;
  from: number;
  through: number;
}

export interface CountedRow extends CountedSession {
  streamUID: string;
}

interface CountedSqlRow {
  stream_uid: string;
  session: bigint;
  /** Null: it stands for no other session. */
  first_session: bigint | null;
  /** With a digit behind the point, and so as texts. */
  seconds: string;
  cost: bigint;
  credits: bigint;
  charged_seconds: string;
  charges: number;
  until: Date;
  started_at: Date | null;
  ended_at: Date | null;
  end_reason: string | null;
  written_off: bigint;
}

const toCounted = (row: CountedSqlRow): CountedRow => ({
  streamUID: row.stream_uid,
  number: Number(row.session),
  first: Number(row.first_session ?? row.session),
  tenths: toTenths(Number(row.seconds)),
  cost: row.cost,
  credits: row.credits,
  chargedTenths: toTenths(Number(row.charged_seconds)),
  charges: row.charges,
  until: row.until,
  // A row of an earlier release has none.
  startedAt: row.started_at ?? new Date(row.until.getTime() - Number(row.seconds) * 1000),
  endedAt: row.ended_at ?? undefined,
  endReason: row.end_reason ?? undefined,
  writtenOff: row.written_off,
});

/** Reads the counts that stand for any of these sessions. */
export async function readCounted(db: Db, ranges: readonly Range[]): Promise<CountedRow[]> {
  const { rows } = await sql<CountedSqlRow>`select s.* from unnest(
      ${ranges.map(({ streamUID }) => streamUID)}::text[], ${ranges.map(({ from }) => from)}::bigint[],
      ${ranges.map(({ through }) => through)}::bigint[]) as w (stream_uid, first, last)
    join loopstream.meter_sessions s on s.stream_uid = w.stream_uid
      and s.session >= w.first and coalesce(s.first_session, s.session) <= w.last`.execute(db);
  return rows.map(toCounted);
}

/** Reads the counts of a stream's latest sessions. */
export async function readLatest(db: Db, streamUID: string, limit: number): Promise<CountedRow[]> {
  const { rows } = await sql<CountedSqlRow>`select * from loopstream.meter_sessions
    where stream_uid = ${streamUID} order by session desc limit ${limit}`.execute(db);
  return rows.map(toCounted);
}

/**
 * Locks the streams until the transaction ends: another meter waits, and then reads the result. Locks of sessions would
 * not do, since only one of two meters may see several as joined. All lock in the same order.
 */
export async function holdStreams(
  trx: Db,
  streams: readonly { streamUID: string; streamID: string; accountId: string }[],
): Promise<void> {
  const sorted = streams.toSorted((a, b) => (a.streamUID < b.streamUID ? -1 : 1));
  const uids = sorted.map(({ streamUID }) => streamUID);
  await sql`insert into loopstream.meter_streams (stream_uid, stream_id, account_id)
    select * from unnest(${uids}::text[], ${sorted.map(({ streamID }) => streamID)}::text[],
      ${sorted.map(({ accountId }) => accountId)}::text[])
    on conflict do nothing`.execute(trx);
  await sql`select from loopstream.meter_streams where stream_uid = any (${uids})
    order by stream_uid collate "C" for update`.execute(trx);
}

export async function writeCounted(trx: Db, rows: readonly CountedRow[]): Promise<void> {
  const text = <K extends keyof CountedRow>(name: K) => rows.map((row) => String(row[name]));
  const times = (name: 'until' | 'startedAt' | 'endedAt') => rows.map((row) => row[name]?.toISOString() ?? null);
  const seconds = rows.map(({ tenths }) => formatSeconds(tenths));
  const chargedSeconds = rows.map(({ chargedTenths }) => formatSeconds(chargedTenths));
  await sql`insert into loopstream.meter_sessions as s
      (stream_uid, session, seconds, cost, credits, charged_seconds, charges, until, started_at, ended_at, end_reason, written_off, first_session)
    select * from unnest(${text('streamUID')}::text[], ${text('number')}::bigint[], ${seconds}::numeric[],
      ${text('cost')}::numeric[], ${text('credits')}::numeric[], ${chargedSeconds}::numeric[],
      ${text('charges')}::integer[], ${times('until')}::timestamptz[], ${times('startedAt')}::timestamptz[],
      ${times('endedAt')}::timestamptz[], ${rows.map(({ endReason }) => endReason ?? null)}::text[],
      ${text('writtenOff')}::numeric[], ${text('first')}::bigint[])
    on conflict (stream_uid, session) do update set seconds = excluded.seconds, cost = excluded.cost,
      credits = excluded.credits, charged_seconds = excluded.charged_seconds, charges = excluded.charges,
      until = excluded.until, started_at = excluded.started_at, ended_at = excluded.ended_at,
      end_reason = excluded.end_reason, written_off = excluded.written_off, first_session = excluded.first_session`.execute(
    trx,
  );
}

interface PlayedRow {
  stream_uid: string;
  pod_uid: string;
  since: Date;
  profile: Profile;
}

/** By the UID of the stream, each in order. */
export async function readPlayed(db: Db, streamUIDs: readonly string[]): Promise<Map<string, Played[]>> {
  const { rows } = await sql<PlayedRow>`select * from loopstream.meter_profiles
    where stream_uid = any (${streamUIDs}) order by stream_uid, since`.execute(db);
  const found = new Map<string, Played[]>();
  for (const { stream_uid, pod_uid: podUID, since, profile } of rows)
    found.set(stream_uid, [...(found.get(stream_uid) ?? []), { podUID, since, profile }]);
  return found;
}

export interface SeenProfile extends Played {
  streamUID: string;
}

/** Written where it differs from what was seen of the pod last. */
export async function writePlayed(db: Db, seen: readonly SeenProfile[]): Promise<void> {
  await sql`insert into loopstream.meter_profiles (stream_uid, pod_uid, since, profile)
    select w.* from unnest(${seen.map(({ streamUID }) => streamUID)}::text[], ${seen.map(({ podUID }) => podUID)}::text[],
      ${seen.map(({ since }) => since.toISOString())}::timestamptz[], ${seen.map(({ profile }) => profile)}::text[])
      as w (stream_uid, pod_uid, since, profile)
    where w.profile is distinct from (select p.profile from loopstream.meter_profiles p
      where p.stream_uid = w.stream_uid and p.pod_uid = w.pod_uid order by p.since desc limit 1)
    on conflict do nothing`.execute(db);
}

interface CreditRow {
  account_id: string;
  balance: bigint | null;
  floor: bigint | null;
  entries: bigint | null;
  exhausted_at: Date | null;
  warned_hours: number | null;
}

/** Reads the credit state of these accounts, by their ids: an account that never had credit has none. */
export async function readCredit(db: Db, accountIds: readonly string[]): Promise<Map<string, Credit>> {
  const { rows } =
    await sql<CreditRow>`select w.account_id, b.balance, b.floor, b.entries, a.exhausted_at, a.warned_hours
    from unnest(${accountIds}::text[]) as w (account_id)
    left join loopstream.ledger_balances b on b.account = 'customer:' || w.account_id
    left join loopstream.meter_accounts a on a.account_id = w.account_id`.execute(db);
  return new Map(
    rows.map((row) => [
      row.account_id,
      {
        balance: row.balance ?? 0n,
        floor: row.floor ?? 0n,
        hadCredit: (row.entries ?? 0n) > 0n,
        exhaustedAt: row.exhausted_at ?? undefined,
        warnedHours: row.warned_hours ?? undefined,
      },
    ]),
  );
}

export async function writeCredit(
  db: Db,
  accounts: readonly ({ accountId: string } & Pick<Credit, 'exhaustedAt' | 'warnedHours'>)[],
): Promise<void> {
  await sql`insert into loopstream.meter_accounts as a (account_id, exhausted_at, warned_hours)
    select * from unnest(${accounts.map(({ accountId }) => accountId)}::text[],
      ${accounts.map(({ exhaustedAt }) => exhaustedAt?.toISOString() ?? null)}::timestamptz[],
      ${accounts.map(({ warnedHours }) => warnedHours ?? null)}::integer[])
    on conflict (account_id) do update set exhausted_at = excluded.exhausted_at,
      warned_hours = excluded.warned_hours`.execute(db);
}
