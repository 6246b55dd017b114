/** Runs the SQL of endpoints and of the list of their deliveries (db/migrations/endpoints.ts). */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import { type AccountEventType, listReceivedTypes, RECORDED_TYPES } from '../events/record.ts';
import { KEPT_DAYS } from '../events/store.ts';
import type { DeliveryState, EndpointKind, EndpointState, EndpointTemplate } from './record.ts';

export interface EndpointRule {
  offAirSeconds: number;
  flappingCount: number;
  flappingSeconds: number;
}

export interface EndpointRow {
  id: string;
  accountId: string;
  kind: EndpointKind;
  name: string;
  labels: Record<string, string>;
  target: string;
  template: EndpointTemplate | null;
  types: AccountEventType[];
  hasAllTypes: boolean;
  withBilling: boolean;
  objectIds: string[] | null;
  rule: EndpointRule | null;
  state: EndpointState;
  disabledCode: string | null;
  code: string | null;
  codeTries: number;
  secretVersion: number;
  previousSecretUntil: Date | null;
  createdAt: Date;
}

export const ENDPOINT_COLUMNS =
  sql.raw(`e.id, e.account_id as "accountId", e.kind, e.name, e.labels, e.target, e.template, e.types,
  e.has_all_types as "hasAllTypes", e.with_billing as "withBilling", e.object_ids as "objectIds", e.rule, e.state,
  e.disabled_code as "disabledCode", e.code, e.code_tries as "codeTries", e.secret_version as "secretVersion",
  e.previous_secret_until as "previousSecretUntil", e.created_at as "createdAt"`);

export type NewEndpoint = Omit<
  EndpointRow,
  'codeTries' | 'secretVersion' | 'previousSecretUntil' | 'createdAt' | 'disabledCode'
>;

/** One transaction of an account at a time, so that two requests do not both take the last place. */
const holdAccount = (trx: Db, accountId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`endpoints ${accountId}`}, 0))`.execute(trx);

/** Returns the new row, or how many there are where `limit` is reached. A row that an earlier try has made stays as it is. */
export const insertEndpoint = (db: Db, row: NewEndpoint, limit: number): Promise<EndpointRow | number> =>
  db.transaction().execute(async (trx) => {
    await holdAccount(trx, row.accountId);
    const before = await findEndpoint(trx, row.accountId, row.id);
    if (before) return before;
    const count = await countEndpoints(trx, row.accountId);
    if (count >= limit) return count;
    const { rows } = await sql<EndpointRow>`insert into loopstream.endpoints as e
        (id, account_id, kind, name, labels, target, template, types, has_all_types, with_billing, object_ids, rule, state, code)
      values (${row.id}, ${row.accountId}, ${row.kind}, ${row.name}, ${toJson(row.labels)}::jsonb, ${row.target}, ${toJson(row.template)}::jsonb, ${row.types},
        ${row.hasAllTypes}, ${row.withBilling}, ${row.objectIds}, ${toJson(row.rule)}::jsonb, ${row.state}, ${row.code})
      returning ${ENDPOINT_COLUMNS}`.execute(trx);
    return rows[0] as EndpointRow;
  });

const toJson = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

export async function countEndpoints(db: Db, accountId: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from loopstream.endpoints
    where account_id = ${accountId}`.execute(db);
  return Number(rows[0]?.count ?? 0n);
}

export async function findEndpoint(db: Db, accountId: string, id: string): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`select ${ENDPOINT_COLUMNS} from loopstream.endpoints e
    where e.account_id = ${accountId} and e.id = ${id}`.execute(db);
  return rows[0];
}

export async function listEndpoints(db: Db, accountId: string): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`select ${ENDPOINT_COLUMNS} from loopstream.endpoints e
    where e.account_id = ${accountId} order by e.created_at, e.id`.execute(db);
  return rows;
}

const COLUMN: { readonly [Field in keyof EndpointRow]?: string } = {
  name: 'name',
  labels: 'labels',
  target: 'target',
  template: 'template',
  types: 'types',
  hasAllTypes: 'has_all_types',
  withBilling: 'with_billing',
  objectIds: 'object_ids',
  rule: 'rule',
  state: 'state',
  disabledCode: 'disabled_code',
  code: 'code',
  codeTries: 'code_tries',
};

export type EndpointPatch = Partial<
  Omit<EndpointRow, 'id' | 'accountId' | 'kind' | 'createdAt' | 'secretVersion' | 'previousSecretUntil'>
>;

/**
 * Undefined where it is gone, or where `expected` does not hold any more: another request may have given it another target since it was
 * read, and what is known of the one before says nothing of that.
 */
export async function updateEndpoint(
  db: Db,
  accountId: string,
  id: string,
  patch: EndpointPatch,
  { state, code }: Partial<Pick<EndpointRow, 'state' | 'code'>> = {},
): Promise<EndpointRow | undefined> {
  const sets = Object.entries(patch).map(([field, value]) => {
    const isJson = field === 'template' || field === 'rule' || field === 'labels';
    return sql`${sql.raw(COLUMN[field as keyof EndpointRow] ?? '')} = ${isJson ? sql`${toJson(value)}::jsonb` : value}`;
  });
  const { rows } = await sql<EndpointRow>`update loopstream.endpoints e set ${sql.join(sets)}
    where e.account_id = ${accountId} and e.id = ${id}
      and ${state === undefined ? sql`true` : sql`e.state = ${state}`} and ${code === undefined ? sql`true` : sql`e.code = ${code}`}
    returning ${ENDPOINT_COLUMNS}`.execute(db);
  return rows[0];
}

/** Counts a try of the code, and returns the code; undefined after `most` tries. */
export async function takeTry(db: Db, id: string, most: number): Promise<string | undefined> {
  const { rows } = await sql<{ code: string | null }>`update loopstream.endpoints set code_tries = code_tries + 1
    where id = ${id} and code_tries < ${most} returning code`.execute(db);
  return rows[0]?.code ?? undefined;
}

export async function rotateSecret(
  db: Db,
  accountId: string,
  id: string,
  overlapSeconds: number,
): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`update loopstream.endpoints e set secret_version = secret_version + 1,
      previous_secret_until = now() + make_interval(secs => ${overlapSeconds})
    where e.account_id = ${accountId} and e.id = ${id} returning ${ENDPOINT_COLUMNS}`.execute(db);
  return rows[0];
}

export async function deleteEndpoint(db: Db, accountId: string, id: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`delete from loopstream.endpoints
    where account_id = ${accountId} and id = ${id}`.execute(db);
  return numAffectedRows > 0n;
}

export interface DeliveryRow {
  id: string;
  position: bigint;
  endpointId: string;
  messageId: string;
  type: AccountEventType;
  state: DeliveryState;
  attempts: number;
  createdAt: Date;
  nextAt: Date;
  answeredAt: Date | null;
  answerStatus: number | null;
  answerBody: string | null;
  answerCode: string | null;
  tookMs: number | null;
}

const DELIVERY_COLUMNS =
  sql.raw(`d.id, d.position, d.endpoint_id as "endpointId", d.message_id as "messageId", d.type, d.state, d.attempts,
  d.created_at as "createdAt", d.next_at as "nextAt", d.answered_at as "answeredAt", d.answer_status as "answerStatus",
  d.answer_body as "answerBody", d.answer_code as "answerCode", d.took_ms as "tookMs"`);

/** Reads the latest deliveries of an endpoint, in one state if that is given. */
export async function readDeliveries(
  db: Db,
  endpointId: string,
  state: DeliveryState | undefined,
  limit: number,
): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`select ${DELIVERY_COLUMNS} from loopstream.deliveries d
    where d.endpoint_id = ${endpointId} and ${state === undefined ? sql`true` : sql`d.state = ${state}`}
    order by d.position desc limit ${limit}`.execute(db);
  return rows;
}

async function findDelivery(db: Db, endpointId: string, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<DeliveryRow>`select ${DELIVERY_COLUMNS} from loopstream.deliveries d
    where d.endpoint_id = ${endpointId} and d.id = ${id}`.execute(db);
  return rows[0];
}

/** The beginning of an attempt that is asked for. A delivery that is under way is left alone. */
const AGAIN = sql.raw(
  `state = 'waiting', attempts = 0, is_first = false, since = now(), next_at = now(), claimed_until = null`,
);
const IS_IDLE = sql.raw(`(d.claimed_until is null or d.claimed_until < now())`);

export async function replay(db: Db, endpointId: string, id: string): Promise<DeliveryRow | undefined> {
  await sql`update loopstream.deliveries d set ${AGAIN} where d.endpoint_id = ${endpointId} and d.id = ${id} and ${IS_IDLE}`.execute(
    db,
  );
  return findDelivery(db, endpointId, id);
}

/** Sends again what failed since a time, and what was never queued because the endpoint was disabled. Returns how many. */
export const recover = (db: Db, endpoint: EndpointRow, since: Date): Promise<number> =>
  db.transaction().execute(async (trx) => {
    const again = await sql`update loopstream.deliveries d set ${AGAIN}
      where d.endpoint_id = ${endpoint.id} and d.created_at >= ${since} and d.state = 'failed' and d.type = any (${RECORDED_TYPES})`.execute(
      trx,
    );
    if (endpoint.kind !== 'webhook') return Number(again.numAffectedRows ?? 0n);
    const missed = await sql`insert into loopstream.deliveries (endpoint_id, account_id, message_id, type, is_first)
      select ${endpoint.id}, t.account_id, t.id, t.type, false from loopstream.events t
      where t.account_id = ${endpoint.accountId} and t.recorded_at >= greatest(${since}::timestamptz, ${endpoint.createdAt}::timestamptz) and t.type = any (${endpoint.types})
        and (${endpoint.objectIds}::text[] is null or t.object_id = any (${endpoint.objectIds}))
      order by t.xid, t.position
      on conflict do nothing`.execute(trx);
    return Number(again.numAffectedRows ?? 0n) + Number(missed.numAffectedRows ?? 0n);
  });

/**
 * Deletes deliveries whose events are gone, in parts, so that no statement takes long. Those of events that are recorded nowhere, of which
 * there are more than of all others, go after a day.
 */
export async function deleteOldDeliveries(db: Db): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`delete from loopstream.deliveries where id in
      (select id from loopstream.deliveries where created_at < now() - ${sql.raw(`interval '${KEPT_DAYS} days'`)}
        or (created_at < now() - interval '1 day' and not type = any (${RECORDED_TYPES}::text[])) limit 5000)`.execute(
      db,
    );
    if (numAffectedRows < 5_000n) return;
  }
}

export async function deleteAccountEndpoints(db: Db, accountId: string): Promise<void> {
  await sql`delete from loopstream.endpoints where account_id = ${accountId}`.execute(db);
}

/** Gives endpoints for all types those that this release knows. */
export async function refreshTypes(db: Db): Promise<void> {
  const withBilling = listReceivedTypes(new Set(['read', 'billing']), undefined);
  const withoutBilling = listReceivedTypes(new Set(['read']), undefined);
  await sql`update loopstream.endpoints e set types = n.types
    from (values (true, ${withBilling}::text[]), (false, ${withoutBilling}::text[])) as n (with_billing, types)
    where e.has_all_types and e.with_billing = n.with_billing and e.types <> n.types`.execute(db);
}
