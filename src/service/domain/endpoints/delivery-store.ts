/**
 * Claims deliveries for one server, and keeps their results. All times are the database's, since the clocks of servers differ. A claim
 * of a server that died ends by itself: the delivery is sent again, with the same id.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import { type EventRow, toEvent } from '../events/store.ts';
import type { DeliveryOutcome } from './outcome.ts';
import { ENDPOINT_COLUMNS, type EndpointRow } from './store.ts';

/** Longer than an attempt may take. */
const CLAIM = sql.raw("interval '60 seconds'");
/** A first attempt holds those behind it back for so long. */
export const HOLD_BACK_MS = 2_000;
const HOLD_BACK = sql.raw(`interval '${HOLD_BACK_MS} milliseconds'`);
/** First attempts that are claimed together. */
const RUN = 20;
const ENDPOINTS_AT_ONCE = 50;
/** Further attempts of one endpoint that are claimed together: its first ones have the rest of its time. */
const AGAIN_EACH = 4;

export interface ClaimedDelivery {
  id: string;
  endpoint: EndpointRow;
  messageId: string;
  type: string;
  attempts: number;
  /** How long ago it was queued, or asked for again, in milliseconds. */
  ageMs: number;
  /** The event, or the message to people. Undefined where an event is not kept any more. */
  body: unknown;
  /** The database's time. */
  now: Date;
}

interface ClaimedRow extends Omit<ClaimedDelivery, 'endpoint' | 'body' | 'ageMs'>, Omit<EndpointRow, 'id'> {
  endpointId: string;
  ageMs: string;
  message: unknown;
  /** As JSON has it. */
  event: (Omit<EventRow, 'at' | 'seq'> & { at: string; seq: number }) | null;
}

function toBody({ message, event }: ClaimedRow): unknown {
  if (message !== null || event === null) return message ?? undefined;
  return toEvent({ ...event, at: new Date(event.at), seq: BigInt(event.seq) });
}

const toClaimed = (row: ClaimedRow): ClaimedDelivery => ({
  id: row.id,
  endpoint: { ...row, id: row.endpointId },
  messageId: row.messageId,
  type: row.type,
  attempts: row.attempts,
  ageMs: Number(row.ageMs),
  body: toBody(row),
  now: row.now,
});

const CLAIMED = sql`d.id, d.endpoint_id as "endpointId", d.message_id as "messageId", d.type, d.attempts, d.message,
  extract(epoch from now() - d.since) * 1000 as "ageMs", now() as now, row_to_json(t) as event`;

/**
 * Claims the next first attempts, in the order of their events, of endpoints for which no other server sends first attempts now. The
 * endpoints' rows are locked, and their time is checked again then.
 */
export async function claimFirst(db: Db): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedRow>`with due as (
      select distinct d.endpoint_id from loopstream.deliveries d
        where d.state = 'waiting' and d.is_first and (d.claimed_until is null or d.claimed_until < now())
    ), lanes as materialized (
      select e.id from loopstream.endpoints e where e.id in (select endpoint_id from due) and e.state = 'active'
        and coalesce(e.lane_until, '-infinity') <= now() limit ${ENDPOINTS_AT_ONCE} for update skip locked
    ), taken as (
      update loopstream.endpoints e set lane_until = now() + ${HOLD_BACK} where e.id in (select id from lanes)
        returning e.*
    ), run as materialized (
      select d.id from lanes l cross join lateral (select d.id from loopstream.deliveries d
        where d.endpoint_id = l.id and d.state = 'waiting' and d.is_first and (d.claimed_until is null or d.claimed_until < now())
        order by d.position limit ${RUN}) d
    ), claimed as (
      update loopstream.deliveries d set claimed_until = now() + ${CLAIM} where d.id in (select id from run)
        and d.state = 'waiting' and d.is_first and (d.claimed_until is null or d.claimed_until < now()) returning d.*
    )
    select ${CLAIMED}, ${ENDPOINT_COLUMNS}, d.id as id from claimed d join taken e on e.id = d.endpoint_id
      left join loopstream.events t on t.id = d.message_id order by d.position`.execute(db);
  return rows.map(toClaimed);
}

/** Claims attempts that are asked for again, or are due again. */
export async function claimAgain(db: Db): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedRow>`with lanes as (
      select distinct d.endpoint_id as id from loopstream.deliveries d
        where d.state = 'waiting' and not d.is_first and d.next_at <= now()
    ), run as materialized (
      select d.id from lanes l join loopstream.endpoints e on e.id = l.id and e.state = 'active'
        cross join lateral (select d.id from loopstream.deliveries d
          where d.endpoint_id = l.id and d.state = 'waiting' and not d.is_first and d.next_at <= now()
            and (d.claimed_until is null or d.claimed_until < now())
          order by d.next_at limit greatest(0, ${AGAIN_EACH} - (select count(*) from loopstream.deliveries b
            where b.endpoint_id = l.id and b.state = 'waiting' and not b.is_first and b.claimed_until >= now()))
          for update skip locked) d
    ), claimed as (
      update loopstream.deliveries d set claimed_until = now() + ${CLAIM} where d.id in (select id from run) returning d.*
    )
    select ${CLAIMED}, ${ENDPOINT_COLUMNS}, d.id as id from claimed d join loopstream.endpoints e on e.id = d.endpoint_id
      left join loopstream.events t on t.id = d.message_id order by d.next_at`.execute(db);
  return rows.map(toClaimed);
}

/** Says that first attempts of the endpoint are under way still; `isOver`: that others may begin. */
export async function holdLane(db: Db, endpointId: string, isOver = false): Promise<void> {
  await sql`update loopstream.endpoints set lane_until = ${isOver ? sql`null` : sql`now() + ${HOLD_BACK}`}
    where id = ${endpointId}`.execute(db);
}

/** Gives a delivery back of which nothing is known. */
export async function release(db: Db, id: string): Promise<void> {
  await sql`update loopstream.deliveries set claimed_until = null where id = ${id}`.execute(db);
}

/** Keeps the result of an attempt. `isOverdue`: other deliveries of the endpoint wait for a later attempt. */
export async function keepOutcome(
  db: Db,
  { id, endpoint }: ClaimedDelivery,
  outcome: DeliveryOutcome,
): Promise<{ isOverdue: boolean }> {
  const { state, retryInMs, answer } = outcome;
  const { rows } = await sql<{
    isOverdue: boolean;
  }>`update loopstream.deliveries set state = ${state}, attempts = attempts + 1, is_first = false, claimed_until = null,
      next_at = now() + make_interval(secs => ${(retryInMs ?? 0) / 1000}), answered_at = now(), answer_status = ${answer.status},
      answer_body = ${answer.body}, answer_code = ${answer.code}, took_ms = ${answer.tookMs}
    where id = ${id}
    returning exists (select 1 from loopstream.deliveries b where b.endpoint_id = ${endpoint.id} and b.id <> ${id}
      and b.state = 'waiting' and not b.is_first and b.next_at > now() + interval '1 minute') as "isOverdue"`.execute(
    db,
  );
  // An answer speaks for the address that it came from alone. Another one may not be confirmed yet, and has to stay so.
  if (outcome.disables !== undefined)
    await sql`update loopstream.endpoints set state = 'disabled', disabled_code = ${outcome.disables}
      where id = ${endpoint.id} and state = 'active' and target = ${endpoint.target}`.execute(db);
  return { isOverdue: rows[0]?.isOverdue ?? false };
}

/** The endpoint answers: what waits for another attempt need not wait for long. */
export async function hasten(db: Db, endpointId: string, withinSeconds: number): Promise<void> {
  await sql`update loopstream.deliveries set next_at = now() + random() * make_interval(secs => ${withinSeconds})
    where endpoint_id = ${endpointId} and state = 'waiting' and not is_first
      and next_at > now() + make_interval(secs => ${withinSeconds})`.execute(db);
}

/** Milliseconds until the next attempt is due; undefined where none waits. */
export async function findNextDueMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ ms: string | null }>`select extract(epoch from least(
      (select min(greatest(next_at, coalesce(claimed_until, next_at))) from loopstream.deliveries d join loopstream.endpoints e on e.id = d.endpoint_id
        where d.state = 'waiting' and not d.is_first and e.state = 'active'),
      (select min(greatest(coalesce(e.lane_until, now()), coalesce(d.claimed_until, now()))) from loopstream.deliveries d join loopstream.endpoints e on e.id = d.endpoint_id
        where d.state = 'waiting' and d.is_first and e.state = 'active')) - now()) * 1000 as ms`.execute(db);
  const ms = rows[0]?.ms;
  return ms === null || ms === undefined ? undefined : Math.max(0, Number(ms));
}
