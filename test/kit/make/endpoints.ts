/** Makes endpoints in the database, to which nothing is sent. */
import { sql } from 'kysely';
import type { Db } from '../../../src/service/db/pool.ts';
import { insertEndpoint } from '../../../src/service/domain/endpoints/store.ts';

/** Makes an endpoint that is not verified, and returns its id. */
export async function makeEndpoint(db: Db, accountId: string, id: string): Promise<string> {
  const row = {
    id: `end-${id}`,
    accountId,
    kind: 'webhook',
    name: id,
    target: 'https://example.com/hook',
    template: null,
    labels: {},
    types: ['stream.live'],
    hasAllTypes: false,
    withBilling: false,
    objectIds: null,
    rule: null,
    state: 'unverified',
    code: null,
  } as const;
  await insertEndpoint(db, { ...row, types: [...row.types] }, Number.POSITIVE_INFINITY);
  return row.id;
}

/** Queues deliveries that have failed. */
export async function makeDeliveries(db: Db, accountId: string, endpointId: string, count: number): Promise<void> {
  await sql`insert into loopstream.deliveries (endpoint_id, account_id, message_id, type, state, attempts)
    select ${endpointId}, ${accountId}, 'evt_' || n, 'stream.live', 'failed', 20 from generate_series(1, ${count}) n`.execute(
    db,
  );
}
