/**
 * Tests that no event is lost on its way to a webhook, while API servers, Postgres and the receiver are killed. The test
 * writes the transitions of a stream as the operator keeps them.
 */
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
import type { Transition } from '../../../src/core/resources/stream/transitions.ts';
import { openAuth } from '../../../src/service/auth/open.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { migrate } from '../../../src/service/server/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../../tools/local/postgres.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { startWebhookSink, type WebhookSink } from '../../kit/fake/webhook-sink.ts';
import { makeStreamHelpers } from '../../kit/make/streams.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../../kit/system/api-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const KEPT = 32;
const dir = tempDir();
const log = createLogger('test', 'silent');
let api: TestApi;
let sink: WebhookSink;
let port: number;
let postgres: RunningPostgres;
let server: ApiProcess;
let environment: Record<string, string>;

beforeAll(async () => {
  // Its own server is not under test: it watches another account's objects, with another database.
  api = await startTestApi();
  sink = await startWebhookSink();
  port = await reserveFreePort();
  postgres = await startPostgres({ dataDir: join(dir, 'postgres'), port, log });
  const authSecret = api.environment.LOOPSTREAM_AUTH_SECRET ?? '';
  await migrate({ databaseUrl: postgres.url, authSecret });
  environment = {
    ...api.environment,
    ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' },
    LOOPSTREAM_DATABASE_URL: postgres.url,
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
  };
  server = await startApiProcess(environment);
}, 120_000);
afterAll(async () => {
  server?.signal('SIGKILL');
  await server?.ended;
  await postgres?.stop();
  await sink?.close();
  await api?.stop();
});

async function makeAccount(): Promise<Client> {
  const auth = openAuth({ databaseUrl: postgres.url, authSecret: environment.LOOPSTREAM_AUTH_SECRET ?? '' });
  const accountId = await auth.service.ensureUser({ email: 'ada@example.com', firstName: 'ada' });
  const { key, id: keyId } = await auth.service.createApiKey(accountId, 'ada');
  await auth.close();
  const ask: Client['call'] = (method, path, body, headers) =>
    call(`${server.url}${path}`, method, body, { 'x-api-key': key, ...headers });
  return { accountId, key, keyId, call: ask };
}

async function killServer(): Promise<void> {
  server.signal('SIGKILL');
  await server.ended;
}
const startServer = async () => {
  server = await startApiProcess(environment);
};
async function killPostgres(): Promise<void> {
  process.kill(postgres.pid, 'SIGKILL');
  await postgres.part.stop(1_000).catch(() => undefined);
}
const restartPostgres = async () => {
  postgres = await startPostgres({ dataDir: join(dir, 'postgres'), port, log });
};

/** Everything that is due later is due now: an hour passes. */
async function passTime(): Promise<void> {
  const db = createDb(createPool(postgres.url, { searchPath: 'loopstream' }));
  await sql`update loopstream.deliveries set next_at = now() where state = 'waiting' and not is_first`
    .execute(db)
    .finally(() => db.destroy());
}

test('every event arrives at least once, numbered without a gap, and one that comes again has its id', async () => {
  const ada = await makeAccount();
  const { create } = await makeStreamHelpers(api, ada);
  const { id } = await create();
  const types = ['stream.live', 'stream.off_air', 'stream.recovered'];
  const made = await ada.call('POST', '/v1/endpoints', { kind: 'webhook', url: sink.url, objectIDs: [id], types });
  expect([made.status, made.body.state]).toEqual([201, 'active']);

  const ring: Transition[] = [];
  const happen = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const number = (ring.at(-1)?.number ?? 0) + 1;
      const kind = number === 1 ? 'Live' : number % 2 === 0 ? 'OffAir' : 'Recovered';
      ring.push({ number, kind, at: new Date().toISOString().replace(/\.\d+Z$/, 'Z') });
      if (ring.length > KEPT) ring.shift();
      await api.observe(id, { transitions: ring });
    }
  };
  const listArrived = () => [...new Set(sink.received.map(({ body }) => body.seq ?? 0))].sort((a, b) => a - b);
  const arrive = (last: number) =>
    until(`${last} events have arrived`, () => listArrived().length >= last, 60_000).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${listArrived().join(' ')}`);
    });

  /** The resource keeps 32 transitions: nobody may be away for more. */
  const record = (last: number) =>
    until(`event ${last} is recorded`, async () => {
      const { body } = await ada.call<{ data?: { seq: number }[] }>('GET', `/v1/events?limit=100&objectID=${id}`);
      return body.data?.at(-1)?.seq === last;
    });

  await happen(5);
  await arrive(5);
  // The receiver is away.
  await sink.pause();
  await happen(5);
  await killServer();
  await happen(10);
  await startServer();
  await happen(5);
  await record(25);
  // Now the database is, under a server that goes on.
  await killPostgres();
  await happen(10);
  await restartPostgres();
  await happen(5);
  await record(40);
  await killServer();
  await killPostgres();
  await happen(10);
  await Promise.all([restartPostgres(), sink.resume()]);
  await startServer();
  await happen(5);
  await until(
    'an hour has passed',
    async () => {
      await passTime();
      return listArrived().length >= 55;
    },
    90_000,
  ).catch(() => undefined);
  expect(listArrived()).toEqual(Array.from({ length: 55 }, (_, n) => n + 1));
  const ids = Map.groupBy(sink.received, ({ body }) => body.seq);
  for (const [seq, all] of ids) expect([seq, new Set(all.map(({ id: one }) => one)).size]).toEqual([seq, 1]);
}, 300_000);
