/** Runs the SQL of `item.started`: who wants it, and its deliveries. It is in no outbox, so the deliveries carry the event themselves. */
import { sql } from 'kysely';
import type { Db } from '../../../db/pool.ts';
import type { AccountEvent, AccountEventType, StartedItem } from '../../events/record.ts';

const TYPE: AccountEventType = 'item.started';
/** Endpoints that are told of it. */
const WANTS = sql`e.state = 'active' and e.kind = 'webhook' and ${TYPE} = any (e.types)`;

/** The streams of an account that its webhooks name; undefined for all of them. */
export type WantedStreams = ReadonlySet<string> | undefined;

/** By account. */
export async function readSubscribers(db: Db): Promise<Map<string, WantedStreams>> {
  const { rows } = await sql<{ accountId: string; objectIds: string[] | null }>`select e.account_id as "accountId",
      e.object_ids as "objectIds" from loopstream.endpoints e where ${WANTS}`.execute(db);
  const all = new Map<string, WantedStreams>();
  for (const { accountId, objectIds } of rows) {
    const known = all.get(accountId);
    const isAll = objectIds === null || (all.has(accountId) && known === undefined);
    all.set(accountId, isAll ? undefined : new Set([...(known ?? []), ...objectIds]));
  }
  return all;
}

/** Queues an event for the webhooks that want it. One that has it gets it no second time. */
export async function queueStart(db: Db, accountId: string, event: AccountEvent): Promise<void> {
  await sql`insert into loopstream.deliveries (endpoint_id, account_id, message_id, type, message)
    select e.id, e.account_id, ${event.id}, ${TYPE}, ${JSON.stringify(event)}::jsonb from loopstream.endpoints e
      where e.account_id = ${accountId} and ${WANTS} and (e.object_ids is null or ${event.objectID} = any (e.object_ids))
    on conflict do nothing`.execute(db);
}

/** The last item of each list that was told within an hour. */
export async function readLastStarts(db: Db): Promise<{ objectId: string; item: StartedItem }[]> {
  const { rows } = await sql<{ objectId: string; item: StartedItem }>`select distinct on (1, 2)
      d.message->>'objectID' as "objectId", d.message->'data'->'item'->>'track', d.message->'data'->'item' as item
    from loopstream.deliveries d where d.type = ${TYPE} and d.created_at > now() - interval '1 hour'
    order by 1, 2, d.position desc`.execute(db);
  return rows;
}
