/** Runs the SQL of rules for people (db/migrations/endpoints.ts). */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../../db/pool.ts';
import type { AccountEventType } from '../../events/record.ts';
import { EVENT_COLUMNS, type EventRow, toEvent } from '../../events/store.ts';
import type { AlertMessage, AlertOutcome, AlertRule, AlertState, RecordedEvent } from './rule.ts';

/** Events that are read at once. */
const RUN = 500;

export interface DueAlert {
  state: AlertState | null;
  /** Those that the state does not know, in order. */
  events: RecordedEvent[];
  types: AccountEventType[];
  hasAllTypes: boolean;
  rule: AlertRule;
  /** The database's time. */
  now: Date;
}

interface DueRow extends Omit<DueAlert, 'events' | 'state'> {
  endpointId: string;
  accountId: string;
  objectId: string;
  seq: bigint;
  state: AlertState | Record<string, never>;
}

async function readEvents(db: Db, { accountId, objectId, seq }: DueRow): Promise<RecordedEvent[]> {
  const { rows } = await sql<EventRow & { recordedAt: Date }>`select ${EVENT_COLUMNS}, e.recorded_at as "recordedAt"
    from loopstream.events e where e.account_id = ${accountId} and e.object_id = ${objectId} and e.seq > ${seq}
    order by e.seq limit ${RUN}`.execute(db);
  return rows.map(({ recordedAt, ...row }) => ({ ...toEvent(row), recordedAt: recordedAt.toISOString() }));
}

/** The same for the same fact, so that no message is sent twice. */
const buildId = ({ endpointId, objectId }: DueRow, { key }: AlertMessage): string =>
  `msg_${hash('sha256', `${endpointId} ${objectId} ${key}`, 'hex').slice(0, 32)}`;

/** An object whose rule fails is due again after this time, so that it keeps no other from its turn. */
const POSTPONED = sql.raw(`interval '5 minutes'`);

/**
 * Applies the rule to the object that has been due for longest, and queues its messages, in one transaction. One row at a time, since
 * a writer of an event waits for it. `apply` returns undefined where it fails. Returns false where nothing is due. `at` is a time in
 * place of the database's, for tests.
 */
export const applyNext = (db: Db, apply: (due: DueAlert) => AlertOutcome | undefined, at?: Date): Promise<boolean> =>
  db.transaction().execute(async (trx) => {
    const now = at ? sql`${at}::timestamptz` : sql`now()`;
    const { rows } =
      await sql<DueRow>`select a.endpoint_id as "endpointId", a.account_id as "accountId", a.object_id as "objectId",
        a.seq, a.state, e.types, e.has_all_types as "hasAllTypes", e.rule, ${now} as now
      from loopstream.alerts a join loopstream.endpoints e on e.id = a.endpoint_id and e.state = 'active'
      where a.wake_at <= ${now} order by a.wake_at limit 1 for update of a skip locked`.execute(trx);
    const [row] = rows;
    if (!row) return false;
    const events = await readEvents(trx, row);
    const state = 'seq' in row.state ? (row.state as AlertState) : null;
    const outcome = apply({ ...row, state, events });
    if (!outcome) {
      await sql`update loopstream.alerts set wake_at = ${now} + ${POSTPONED}
        where endpoint_id = ${row.endpointId} and object_id = ${row.objectId}`.execute(trx);
      return true;
    }
    for (const message of outcome.messages)
      await sql`insert into loopstream.deliveries (endpoint_id, account_id, message_id, type, message)
        values (${row.endpointId}, ${row.accountId}, ${buildId(row, message)}, ${message.type}, ${JSON.stringify(message)}::jsonb)
        on conflict do nothing`.execute(trx);
    const seq = events.at(-1)?.seq ?? row.seq;
    const wakeAt = events.length === RUN ? row.now : outcome.wakeAt;
    await sql`update loopstream.alerts set seq = ${seq}, state = ${JSON.stringify(outcome.state)}::jsonb, wake_at = ${wakeAt}
      where endpoint_id = ${row.endpointId} and object_id = ${row.objectId}`.execute(trx);
    return true;
  });

/** Milliseconds until an object is due; undefined where none waits. */
export async function findNextDueMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ ms: string | null }>`select extract(epoch from min(a.wake_at) - now()) * 1000 as ms
    from loopstream.alerts a join loopstream.endpoints e on e.id = a.endpoint_id and e.state = 'active'`.execute(db);
  const ms = rows[0]?.ms;
  return ms === null || ms === undefined ? undefined : Math.max(0, Number(ms));
}
