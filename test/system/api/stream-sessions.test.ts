/** Tests the sessions of a stream through each API: page by page, as CSV, and for nobody else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUncounted } from '../../../src/service/billing/metering/session-charges.ts';
import { holdStreams, writeCounted } from '../../../src/service/billing/metering/store.ts';
import { createClient, problems } from '../../../src/service/client/index.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { type List, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

const COUNTED = 300;
const BEGAN = Date.parse('2026-01-01T00:00:00Z');
const time = (minutes: number) => new Date(BEGAN + minutes * 60_000).toISOString();

let api: TestApi;
let ada: Client;
let eve: Client;
let create: StreamsApi['create'];
let id: string;

/** Keeps sessions of a stream as the meter does. */
async function writeHistory(streamUID: string, streamID: string): Promise<void> {
  const db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream', max: 1 }));
  await holdStreams(db, [{ streamUID, streamID, accountId: ada.accountId }]);
  const rows = Array.from({ length: COUNTED }, (_, i) => ({
    ...createUncounted(i + 1),
    streamUID,
    ...{ tenths: 6005, cost: 3_600_000n, credits: 100n, writtenOff: 0n, chargedTenths: 6005, charges: 1 },
    ...{ startedAt: new Date(time(20 * i)), endedAt: new Date(time(20 * i + 11)), until: new Date(time(20 * i + 11)) },
    endReason: i % 2 === 0 ? 'Stopped' : 'ProcessEnded',
  }));
  await writeCounted(db, rows);
  await db.destroy();
}

beforeAll(async () => {
  const started = await startStreamsApi();
  ({ api, ada, eve, create } = started);
  ({ id } = await create());
  await writeHistory((await started.resource(id)).metadata.uid, id);
  const startedAt = new Date(Date.now() - 60_000).toISOString();
  const open = { number: COUNTED + 1, podUID: 'pod', startedAt, onAirSeconds: 0 };
  await api.observe(id, { phase: 'live', podUID: 'pod', liveSince: startedAt, sessions: [open] });
  await until('the API server knows', async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status === 'live');
});
afterAll(() => api?.stop());

describe('the sessions of a stream', () => {
  test('come page by page, the one on air first, and each once', async () => {
    const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
    const sessions = [];
    for await (const session of client.streams.sessions(id, { limit: 100 })) sessions.push(session);
    expect(sessions.map(({ number }) => number)).toEqual(
      Array.from({ length: COUNTED + 1 }, (_, i) => COUNTED + 1 - i),
    );
    const [onAir, last, before] = sessions;
    expect(onAir).toMatchObject({ endedAt: null, end: null });
    expect(onAir?.onAirSeconds).toBeGreaterThanOrEqual(60);
    expect(last).toMatchObject({ startedAt: time(20 * 299), endedAt: time(20 * 299 + 11), onAirSeconds: 600.5 });
    expect([last?.end?.code, before?.end?.code]).toEqual(['process_ended', 'stream_stopped']);
  });

  test('are all in one CSV, for a program that saves it', async () => {
    for (const [query, headers] of [
      ['?format=csv&limit=2', {}],
      ['', { accept: 'text/csv, */*;q=0.1' }],
    ] as const) {
      const answer = await fetch(`${api.url}/v1/streams/${id}/sessions${query}`, {
        headers: { 'x-api-key': ada.key, ...headers },
      });
      expect(answer.headers.get('content-type')).toMatch(/^text\/csv/);
      expect(answer.headers.get('content-disposition')).toContain(`sessions-${id}.csv`);
      const lines = (await answer.text()).split('\r\n');
      expect(lines).toHaveLength(COUNTED + 3);
      expect(lines[2]).toContain(`300,${time(20 * 299)},${time(20 * 299 + 11)},600.5,`);
    }
    const wrong = await ada.call('GET', `/v1/streams/${id}/sessions?format=pdf`);
    expect(wrong).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  });

  test('are a connection of GraphQL, which is filtered and turned around', async () => {
    const query = `query($id: ID!) { streamSessions(id: $id, first: 2, where: { number: { lte: 4 } }, orderBy: { field: NUMBER }) {
      totalCount pageInfo { hasNextPage } edges { node { number onAirSeconds credits end { code } } } } }`;
    const { body } = await ada.call<{ data: { streamSessions: object } }>('POST', '/graphql', {
      query,
      variables: { id },
    });
    expect(body.data.streamSessions).toMatchObject({
      totalCount: 4,
      pageInfo: { hasNextPage: true },
      edges: [{ node: { number: 1, onAirSeconds: 600.5, end: { code: 'stream_stopped' } } }, { node: { number: 2 } }],
    });
  });

  test('of somebody else are not found, also as CSV, and a stream that was never on air has none', async () => {
    for (const path of ['', '?format=csv'])
      expect(await eve.call('GET', `/v1/streams/${id}/sessions${path}`)).toMatchObject({
        status: 404,
        body: { code: 'stream_not_found' },
      });
    const other = createClient({ baseUrl: `${api.url}/v1`, apiKey: eve.key });
    await expect(other.streams.sessions(id).page()).rejects.toBeInstanceOf(problems.StreamNotFound);
    const fresh = await create();
    const none = await ada.call<List>('GET', `/v1/streams/${fresh.id}/sessions`);
    expect(none.body).toEqual({ data: [], page: { hasMore: false, nextCursor: null } });
  });
});
