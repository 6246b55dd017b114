/** Tests the uptime of a stream through each API: what is recorded of it outlives the resource's memory, and only its account sees it. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transition } from '../../../src/core/resources/stream/transitions.ts';
import { createClient, problems, type StreamUptime } from '../../../src/service/client/index.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { deleteOldAirChanges, forgetAirChanges, KEPT_DAYS } from '../../../src/service/domain/uptime/store.ts';
import { makeStreamHelpers } from '../../kit/make/streams.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let db: Db;
let ada: Client;
let create: () => Promise<{ id: string }>;

beforeAll(async () => {
  api = await startTestApi();
  db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
  ada = await api.client('ada');
  ({ create } = await makeStreamHelpers(api, ada));
});
afterAll(async () => {
  await db?.destroy();
  await api?.stop();
});

const NOW = Date.now();
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const transition = (number: number, kind: Transition['kind'], secondsAgo: number): Transition => ({
  number,
  kind,
  at: ago(secondsAgo),
  ...(kind === 'OffAir' && { reason: 'DestinationReconnecting', message: 'Destination "Home", the first, is away.' }),
});
const OUTAGE = [
  transition(1, 'Live', 10_000),
  transition(2, 'Reconnecting', 6_000),
  transition(3, 'OffAir', 5_995),
  transition(4, 'Recovered', 5_000),
  transition(5, 'Stopped', 2_000),
];
const countRecorded = async (id: string): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from loopstream.air_changes
    where stream_id = ${id}`.execute(db);
  return rows[0]?.n ?? 0;
};

/** A stream with these transitions, which are recorded. */
async function makeStream(transitions: Transition[]): Promise<string> {
  const { id } = await create();
  await api.observe(id, { phase: 'idle', transitions });
  await until('they are recorded', async () => (await countRecorded(id)) >= transitions.length);
  return id;
}

const read = async (id: string, query = ''): Promise<StreamUptime> =>
  (await ada.call<StreamUptime>('GET', `/v1/streams/${id}/uptime${query}`)).body;
const SUMS = {
  wantedSeconds: 8_000,
  onAirSeconds: 7_000,
  offAirSeconds: 1_000,
  unknownSeconds: 0,
  uptimePercent: 87.5,
};

describe('the uptime of a stream', () => {
  test('is the same in REST, for the typed client, in GraphQL and as CSV', async () => {
    const id = await makeStream(OUTAGE);
    const uptime = await read(id);
    expect(uptime).toMatchObject({ by: 'ingest', ...SUMS, outageCount: 1 });
    expect(uptime.outages).toEqual([
      {
        startedAt: ago(6_000),
        endedAt: ago(5_000),
        seconds: 1_000,
        code: 'destination_reconnecting',
        message: 'Destination "Home", the first, is away.',
        fix: expect.stringContaining('test the destination'),
      },
    ]);
    const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
    expect(await client.streams.uptime(id)).toMatchObject(SUMS);
    const query = `query($id: ID!) { streamUptime(id: $id, from: "${ago(6_500)}") { by onAirSeconds offAirSeconds outages { seconds code } } }`;
    const { body } = await ada.call<{ data: object }>('POST', '/graphql', { query, variables: { id } });
    expect(body.data).toEqual({
      streamUptime: {
        by: 'ingest',
        onAirSeconds: 3_500,
        offAirSeconds: 1_000,
        outages: [{ seconds: 1_000, code: 'destination_reconnecting' }],
      },
    });
    for (const [path, accept] of [
      ['?format=csv', '*/*'],
      ['', 'text/csv'],
    ]) {
      const answer = await fetch(`${api.url}/v1/streams/${id}/uptime${path}`, {
        headers: { 'x-api-key': ada.key, accept: accept ?? '' },
      });
      expect(answer.headers.get('content-type')).toContain('text/csv');
      expect(answer.headers.get('content-disposition')).toContain(`uptime-${id}.csv`);
      expect(await answer.text()).toBe(
        [
          'state,startedAt,endedAt,seconds,code,message',
          `on_air,${ago(10_000)},${ago(6_000)},4000,,`,
          `off_air,${ago(6_000)},${ago(5_000)},1000,destination_reconnecting,"Destination ""Home"", the first, is away."`,
          `on_air,${ago(5_000)},${ago(2_000)},3000,,`,
          '',
        ].join('\r\n'),
      );
    }
  });

  test('is by what viewers see where that is known, also once the resource has forgotten it, and by ingest where it is asked for', async () => {
    const about = {
      destination: 'dst-1',
      reason: 'BroadcastEnded',
      message: 'Destination "Home": The broadcast has ended.',
    };
    const id = await makeStream([
      transition(1, 'Live', 10_000),
      { ...transition(2, 'PlatformLive', 9_900), onAirForViewers: 'True', destination: 'dst-1' },
      { ...transition(3, 'PlatformEnded', 6_000), ...about, onAirForViewers: 'False' },
    ]);
    await api.observe(id, {
      transitions: [
        { ...transition(4, 'PlatformLive', 5_000), onAirForViewers: 'True', destination: 'dst-1' },
        transition(5, 'Stopped', 2_000),
      ],
    });
    await until('the rest is recorded', async () => (await countRecorded(id)) === 5);
    const uptime = await read(id);
    expect(uptime).toMatchObject({ by: 'viewers', onAirSeconds: 6_900, offAirSeconds: 1_000, unknownSeconds: 100 });
    expect(uptime.outages).toMatchObject([
      { seconds: 1_000, code: 'broadcast_ended', fix: expect.stringContaining('Start a new broadcast') },
    ]);
    expect(await read(id, `?from=${ago(5_500)}`)).toMatchObject({
      by: 'viewers',
      onAirSeconds: 3_000,
      offAirSeconds: 500,
    });
    expect(await read(id, '?by=ingest')).toMatchObject({ by: 'ingest', onAirSeconds: 8_000, offAirSeconds: 0 });
    const query = `query($id: ID!) { streamUptime(id: $id, by: ingest) { by offAirSeconds } }`;
    const { body } = await ada.call<{ data: object }>('POST', '/graphql', { query, variables: { id } });
    expect(body.data).toEqual({ streamUptime: { by: 'ingest', offAirSeconds: 0 } });
    const csv = await fetch(`${api.url}/v1/streams/${id}/uptime?format=csv`, { headers: { 'x-api-key': ada.key } });
    expect(await csv.text()).toContain(`off_air,${ago(6_000)},${ago(5_000)},1000,broadcast_ended,`);
  });

  test('outlives the transitions of the resource, and the events', async () => {
    const id = await makeStream(OUTAGE);
    await api.observe(id, { transitions: [transition(6, 'Live', 1_000), transition(7, 'Stopped', 500)] });
    await until('the rest is recorded', async () => (await countRecorded(id)) === 7);
    await sql`delete from loopstream.events where object_id = ${id}`.execute(db);
    expect(await read(id)).toMatchObject({ wantedSeconds: 8_500, onAirSeconds: 7_500, unknownSeconds: 0 });
  });

  test('is known at once, before anything is recorded', async () => {
    const { id } = await create();
    await api.observe(id, { transitions: OUTAGE });
    await until('the API has seen it', async () => (await read(id)).wantedSeconds > 0);
    expect(await read(id)).toMatchObject(SUMS);
  });

  test('counts time whose changes were lost neither as on air nor as off air', async () => {
    const id = await makeStream(OUTAGE.slice(0, 1));
    await api.observe(id, { transitions: [transition(40, 'Recovered', 4_000), transition(41, 'Stopped', 2_000)] });
    await expect
      .poll(() => read(id))
      .toMatchObject({ onAirSeconds: 2_000, offAirSeconds: 0, unknownSeconds: 6_000, uptimePercent: 100 });
  });

  test('counts nothing twice after a backup of the database was restored', async () => {
    const id = await makeStream(OUTAGE);
    // The rows since the backup are lost, and the marks with them: all of it is told again.
    await sql`delete from loopstream.air_changes where stream_id = ${id} and number > 2`.execute(db);
    await sql`update loopstream.event_objects set mark = '2' where object_id = ${id}`.execute(db);
    expect(await read(id)).toMatchObject(SUMS);
    await api.observe(id, { transitions: [...OUTAGE, transition(6, 'Live', 1_500), transition(7, 'Stopped', 1_000)] });
    await until('all are recorded', async () => (await countRecorded(id)) === 7);
    expect(await read(id)).toMatchObject({ wantedSeconds: 8_500, onAirSeconds: 7_500, offAirSeconds: 1_000 });
  });

  test('of a stream that an operator without transitions put on air begins then, and goes on with its first transition', async () => {
    const { id } = await create();
    await api.observe(id, { phase: 'live', liveSince: ago(3_000) });
    await expect.poll(async () => (await read(id)).onAirSeconds).toBeGreaterThanOrEqual(3_000);
    // Another server is elected, and records what nobody has.
    await sql`update loopstream.leases set holder = gen_random_uuid(), until = now() where name = 'events'`.execute(db);
    await until('it is recorded', async () => (await countRecorded(id)) === 1);
    await api.observe(id, { phase: 'stopped', transitions: [transition(1, 'Stopped', 1_000)] });
    await expect.poll(() => read(id)).toMatchObject({ onAirSeconds: 2_000, unknownSeconds: 0, uptimePercent: 100 });
  });

  test('is null of a stream that never was on air', async () => {
    const { id } = await create();
    expect(await read(id)).toMatchObject({ wantedSeconds: 0, uptimePercent: null, outages: [] });
  });

  test('is of its account alone, and of a range that can be read', async () => {
    const id = await makeStream(OUTAGE);
    const eve = await api.client('eve');
    expect(await eve.call('GET', `/v1/streams/${id}/uptime`)).toMatchObject({
      status: 404,
      body: { code: 'stream_not_found' },
    });
    const other = createClient({ baseUrl: `${api.url}/v1`, apiKey: eve.key });
    await expect(other.streams.uptime(id)).rejects.toBeInstanceOf(problems.StreamNotFound);
    for (const query of ['from=soon', 'from=2027-01-01&to=2026-01-01', 'from=2020-01-01', 'format=pdf'])
      expect((await ada.call('GET', `/v1/streams/${id}/uptime?${query}`)).status, query).toBe(422);
  });
});

describe('the record of changes', () => {
  test('keeps the last change that is too old while its stream is there, and the last one of viewers, since they say what followed', async () => {
    const days = (n: number) => n * 86_400;
    const id = await makeStream([
      transition(1, 'Live', days(KEPT_DAYS + 5)),
      { ...transition(2, 'PlatformLive', days(KEPT_DAYS + 4)), onAirForViewers: 'True' },
      transition(3, 'Reconnecting', days(KEPT_DAYS + 3)),
      transition(4, 'Recovered', days(KEPT_DAYS + 2)),
      transition(5, 'Stopped', days(1)),
    ]);
    const gone = await makeStream([transition(1, 'Live', days(KEPT_DAYS + 1))]);
    const { rows } = await sql<{ uid: string }>`select distinct stream_uid as uid from loopstream.air_changes
      where stream_id <> ${gone}`.execute(db);
    await deleteOldAirChanges(db);
    await forgetAirChanges(
      db,
      rows.map(({ uid }) => uid),
    );
    const left = await sql<{ number: number }>`select number::int from loopstream.air_changes
      where stream_id in (${id}, ${gone}) order by number`.execute(db);
    expect(left.rows).toEqual([{ number: 2 }, { number: 4 }, { number: 5 }]);
  });
});

describe('the badge of a stream', () => {
  const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });

  test('is an image for any page, without a key, and says nothing else of the stream', async () => {
    const id = await makeStream(OUTAGE);
    const { badgeUrl } = await read(id);
    const url = badgeUrl.replace(/^.*(?=\/v1\/)/, api.url);
    const answer = await get(url, { origin: 'https://blog.example', referer: 'https://blog.example/' });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': 'public, max-age=60',
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'ratelimit-limit': expect.any(String),
    });
    const svg = await answer.text();
    expect(svg).toContain('<title>uptime 30d: 87.5 %</title>');
    for (const secret of [id, ada.accountId, 'Home']) expect(svg + url).not.toContain(secret);
    expect(await (await get(`${url}?show=status`)).text()).toContain('<title>stream: stopped</title>');
    expect(await (await get(`${url}?days=1`)).text()).toContain('<title>uptime 1d: 87.5 %</title>');
    const again = await get(url, { 'if-none-match': answer.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('has no address that can be guessed, and none of a stream that is gone', async () => {
    const id = await makeStream(OUTAGE);
    const { badgeUrl } = await read(id);
    const url = badgeUrl.replace(/^.*(?=\/v1\/)/, api.url);
    const token = url.replace(/^.*\/|\.svg$/g, '');
    for (const wrong of ['x', `${token}A`, token.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')), id, '..%2f..'])
      expect((await get(`${api.url}/v1/badges/${wrong}.svg`)).status, wrong).toBe(404);
    expect((await get(`${url}?days=91`)).status).toBe(422);
    await ada.call('DELETE', `/v1/streams/${id}`);
    await until('it is gone', async () => (await get(`${url}?days=2`)).status === 404);
  });
});
