/** Tests that a dry run says what viewers would lose, and changes nothing, by every door. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PODS, SECRETS } from '../../../src/core/kube/core.ts';
import { STREAM_LABEL, STREAMER_PORT } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Answer, Client, TestApi } from '../../kit/system/api.ts';

const ADDRESS = '127.0.78.1';
let api: TestApi;
let ada: Client;
let create: StreamsApi['create'];
let home: string;
let second: string;
let dead: string;
let own: string;
let pod: Server;

const makeDestination = async (name: string) => {
  const { body } = await ada.call('POST', '/v1/destinations', {
    name,
    rtmpUrl: `rtmp://127.0.0.1/${name}`,
    rtmpKey: 'k-123456',
  });
  return String(body.id);
};

beforeAll(async () => {
  ({ api, ada, create, destinationID: home } = await startStreamsApi());
  [second, dead, own] = [await makeDestination('second'), await makeDestination('dead'), await makeDestination('own')];
  const destinations = [
    { name: home, connected: true },
    { name: second, connected: true },
    { name: own, connected: true },
    { name: dead, connected: false },
  ].map((one) => ({ ...one, bytesSent: 1, reconnects: 0, lastError: null, dropped: 0 }));
  const stats = { live: true, startedAt: '2026-01-01T00:00:00Z', playable: true, brokenItems: [], destinations };
  pod = createServer((_request, response) => response.end(JSON.stringify(stats)));
  await new Promise<void>((resolve) => pod.listen(STREAMER_PORT, ADDRESS, resolve));
});
afterAll(async () => {
  pod?.closeAllConnections();
  pod?.close();
  await api?.stop();
});

/** All that is stored of the account: a dry run leaves each object at its version. */
const readVersions = async () => {
  const lists = await Promise.all(
    [LOOPSTREAMS, DESTINATIONS, SECRETS].map((kind) => api.kube.list(kind as typeof SECRETS, { namespace: NAMESPACE })),
  );
  return lists.flatMap((list) => list.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)).sort();
};

/** Expects that `ask` changes nothing. */
const changesNothing = async <T>(ask: () => Promise<T>): Promise<T> => {
  const before = await readVersions();
  const answer = await ask();
  expect(await readVersions()).toEqual(before);
  return answer;
};

/** A stream that is live to `destinationIDs`, of which the pod tells who receives it. */
const makeLive = async (...destinationIDs: string[]) => {
  const { id } = await create({ destinationID: undefined, destinationIDs });
  await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { spec: { replicas: 1 } });
  await api.observe(id, { phase: 'live' });
  await api.kube.create(PODS, NAMESPACE, {
    metadata: { name: `${id}-onair`, namespace: NAMESPACE, labels: { [STREAM_LABEL]: id } },
    spec: { containers: [{ name: 'streamer', image: 'none' }], nodeName: 'nowhere' },
  } as never);
  const status = { phase: 'Running', podIP: ADDRESS, podIPs: [{ ip: ADDRESS }] };
  await api.kube.mergePatch(PODS, NAMESPACE, `${id}-onair`, { status }, { subresource: 'status' });
  await expect.poll(async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status).toBe('live');
  await expect.poll(async () => (await ada.call('GET', `/v1/streams/${id}/live-stats`)).body.live).toBe(true);
  return id;
};

const nightly = { recurrence: { cron: '0 0 31 12 *', durationSeconds: 3600 } };

describe('a schedule on trial', () => {
  test('says that a stream on air goes off air and when it is back, and by what it stays on air until then', async () => {
    const id = await makeLive(home);
    const path = `/v1/streams/${id}/schedule`;
    const { status, body } = await changesNothing(() => ada.call('POST', `${path}?dryRun=true`, nightly));
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id, dryRun: true, takesOffAir: true, lostDestinationIDs: [home], recurrence: nightly.recurrence },
    });
    expect(body.nextStartAt).toMatch(/-12-31T00:00:00\.000Z$/);
    expect(body.effect).toBe(`This takes the stream off air now. It starts again at ${body.nextStartAt}.`);
    const kept = { ...nightly, scheduleOnAirUntil: body.nextStartAt };
    const tried = await changesNothing(() => ada.call('POST', `${path}?dryRun=true`, kept));
    expect(tried.body).toMatchObject({
      takesOffAir: false,
      lostDestinationIDs: [],
      effect: 'The stream stays on air.',
    });
    // A change does what its dry run says.
    expect((await ada.call('POST', path, kept)).body).toMatchObject({ ...tried.body, dryRun: false });
    const removed = await changesNothing(() => ada.call('DELETE', `${path}?dryRun=true`));
    expect(removed.body).toMatchObject({ takesOffAir: false, recurrence: null, dryRun: true });
  });

  test('of a stream that is off air takes nothing off air', async () => {
    const { id } = await create();
    await api.observe(id, { phase: 'idle' });
    const { body } = await changesNothing(() => ada.call('POST', `/v1/streams/${id}/schedule?dryRun=true`, nightly));
    expect(body).toMatchObject({ status: 'scheduled', takesOffAir: false, lostDestinationIDs: [] });
  });

  test('is refused as the schedule itself is', async () => {
    const { id } = await create();
    const path = `/v1/streams/${id}/schedule`;
    for (const wrong of [
      {},
      { scheduleStartAt: '2020-01-01T00:00:00Z' },
      { recurrence: { cron: 'x', durationSeconds: 60 } },
    ]) {
      const [tried, real] = [await ada.call('POST', `${path}?dryRun=true`, wrong), await ada.call('POST', path, wrong)];
      expect(tried.status).toBe(422);
      expect(tried.body.errors).toEqual(real.body.errors);
    }
    expect((await ada.call('POST', '/v1/streams/str-none/schedule?dryRun=true', nightly)).status).toBe(404);
  });
});

describe('an edit on trial', () => {
  const edits: [string, () => string[], () => Record<string, unknown>, boolean, () => string[]][] = [
    ['the only destination is replaced', () => [home], () => ({ destinationID: second }), true, () => [home]],
    ['the only one that works is removed', () => [home, dead], () => ({ destinationIDs: [dead] }), true, () => [home]],
    [
      'one of two that work is removed',
      () => [home, second],
      () => ({ destinationIDs: [home] }),
      false,
      () => [second],
    ],
    ['one that does not work is removed', () => [home, dead], () => ({ destinationIDs: [home] }), false, () => []],
    ['nobody receives it', () => [dead], () => ({ destinationID: home }), false, () => []],
    ['quality and name change', () => [home], () => ({ quality: '720p', name: 'Other' }), false, () => []],
  ];
  test.each(edits)('%s', async (_what, before, edit, takesOffAir, lost) => {
    const id = await makeLive(...before());
    const { status, body } = await changesNothing(() => ada.call('PATCH', `/v1/streams/${id}?dryRun=true`, edit()));
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { takesOffAir, lostDestinationIDs: lost(), dryRun: true },
    });
  });

  test('of a destination names the streams that leave its old address', async () => {
    const [only, more] = [await makeLive(own), await makeLive(own, home)];
    const path = `/v1/destinations/${own}?dryRun=true`;
    const { body } = await changesNothing(() => ada.call('PATCH', path, { rtmpKey: 'another-key' }));
    expect(body).toMatchObject({
      rtmpKeyHint: '-key',
      takesOffAir: true,
      streamIDs: [only, more].sort(),
      dryRun: true,
    });
    const short = await changesNothing(() => ada.call('PATCH', path, { key: 'another-key' }));
    expect(short.body).toEqual(body);
    const named = await changesNothing(() => ada.call('PATCH', path, { name: 'Mine' }));
    expect(named.body).toMatchObject({ name: 'Mine', takesOffAir: false, streamIDs: [] });
    const wrong = await changesNothing(() => ada.call('PATCH', path, { rtmpUrl: 'ftp://127.0.0.1/x' }));
    expect(wrong.status).toBe(422);
  });
});

test('GraphQL and MCP take it as an argument, and answer the same', async () => {
  const id = await makeLive(home);
  const query = `mutation($id: ID!, $input: StreamScheduleInput!) { scheduleStream(id: $id, input: $input, dryRun: true) {
    takesOffAir lostDestinationIDs dryRun effect stream { id nextStartAt } } }`;
  const graphql = await changesNothing(() =>
    ada.call<{ data: { scheduleStream: Record<string, unknown> } }>('POST', '/graphql', {
      query,
      variables: { id, input: nightly },
    }),
  );
  const { stream, ...effect } = graphql.body.data.scheduleStream;
  const rest = await ada.call('POST', `/v1/streams/${id}/schedule?dryRun=true`, nightly);
  expect(rest.body).toMatchObject({ ...effect, ...(stream as object), takesOffAir: true });
});

describe('where there is no dry run', () => {
  const writes: [string, string, (id: string) => string, unknown?][] = [
    ['stop', 'POST', (id) => `/v1/streams/${id}/stop`],
    ['start', 'POST', (id) => `/v1/streams/${id}/start`],
    ['delete', 'DELETE', (id) => `/v1/streams/${id}`],
    ['create', 'POST', () => '/v1/destinations', { name: 'x', rtmpUrl: 'rtmp://127.0.0.1/x', rtmpKey: 'k-123456' }],
  ];
  test.each(writes)('%s refuses to be tried, in place of doing it', async (_what, method, path, body) => {
    const id = await makeLive(home);
    for (const asked of ['dryRun=true', 'dry_run=1', 'dryrun']) {
      const answer: Answer = await changesNothing(() => ada.call(method, `${path(id)}?${asked}`, body));
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    }
  });

  test.each(['dry_run=true', 'dryRun=All', 'dryRun=1', 'dryRun', 'dryrun=true'])(
    'an edit with ?%s is refused, in place of being made',
    async (asked) => {
      const { id } = await create();
      const edit = () => ada.call('PATCH', `/v1/streams/${id}?${asked}`, { name: 'Changed' });
      expect(await changesNothing(edit)).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    },
  );

  test('false is no dry run', async () => {
    const { id } = await create();
    const { body } = await ada.call('PATCH', `/v1/streams/${id}?dryRun=false`, { name: 'Changed' });
    expect(body).toMatchObject({ name: 'Changed', dryRun: false });
    expect((await ada.call('GET', `/v1/streams/${id}`)).body.name).toBe('Changed');
  });
});
