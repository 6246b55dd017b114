/** Tests on real servers that webhooks which name `item.started` hear of each item that begins on air, once, and that nothing is recorded. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { PODS } from '../../../src/core/kube/core.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import { PROGRAM_ANNOTATION, STREAM_LABEL } from '../../../src/core/resources/common/names.ts';
import type { AccountEvent } from '../../../src/service/client/index.ts';
import type { Endpoint } from '../../../src/service/domain/endpoints/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { startWebhookSink, type WebhookSink } from '../../kit/fake/webhook-sink.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

/** A server reads anew within 15 seconds who wants the starts of items. */
const WAIT_MS = 60_000;
let api: TestApi;
let ada: Client;
let create: StreamsApi['create'];
let upload: string;

beforeAll(async () => {
  ({ api, ada, create, videoUploadObjectID: upload } = await startStreamsApi({ config: { allowPrivateLinks: true } }));
  await api.observeUpload(upload, {
    phase: 'ready',
    media: {
      sha256: 'a'.repeat(64),
      sizeBytes: 1,
      durationSeconds: 40,
      tags: { title: 'Fireplace', artist: 'The Logs' },
    },
    renditions: [{ profile: '1080p30', state: 'ready', key: 'r/a', durationSeconds: 40 }],
  } as never);
});
afterAll(() => api?.stop());

/** A stream whose list has two turns of 40 seconds; the second one began `seconds` ago. */
async function putOnAir(seconds: number): Promise<string> {
  const startedAt = new Date(Date.now() - seconds * 1000).toISOString();
  const items = ['A', 'B'].map((name) => ({ id: upload, name, rendition: 'r/a' }));
  const program: Program = {
    ...{ version: 1, epoch: startedAt, seed: 1, profile: '1080p30', destinations: ['dst'] },
    video: { mode: 'sequential', items },
  };
  const { id } = await create({ name: 'Evening' });
  await api.kube.create(PODS, NAMESPACE, {
    metadata: {
      ...{ name: `${id}-onair`, namespace: NAMESPACE, labels: { [STREAM_LABEL]: id } },
      annotations: { [PROGRAM_ANNOTATION]: JSON.stringify(program) },
    },
    spec: { containers: [{ name: 'streamer', image: 'none' }], nodeName: 'nowhere' },
  } as never);
  const anchor = { version: 1, epoch: startedAt, round: 0, turn: 0, startedAt, since: startedAt };
  const liveSince = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  await api.observe(id, { phase: 'live', epoch: startedAt, anchors: { video: anchor }, liveSince });
  return id;
}

async function subscribe(more: object): Promise<WebhookSink> {
  const sink = await startWebhookSink();
  const { status, body } = await ada.call<Endpoint>('POST', '/v1/endpoints', {
    ...{ kind: 'webhook', url: `${sink.url}/hook` },
    ...more,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  onTestFinished(async () => {
    await ada.call('DELETE', `/v1/endpoints/${body.id}`);
    await sink.close();
  });
  return sink;
}

test('items that begin on air are sent, once by several servers, to the webhooks that name them alone', async () => {
  const other = await api.replica();
  onTestFinished(() => other.stop());
  const id = await putOnAir(20);
  const off = await create({ name: 'Off air' });
  const [all, its, others] = [
    await subscribe({}),
    await subscribe({ types: ['item.started'], objectIDs: [id] }),
    await subscribe({ types: ['item.started'], objectIDs: [off.id] }),
  ];
  await until('two items have begun', () => its.received.length >= 2, WAIT_MS);
  const [first, second] = its.received.map(({ body }) => body as Partial<AccountEvent>);
  expect(first).toEqual({
    id: expect.stringMatching(/^evt_.+_item_video_\d+$/),
    type: 'item.started',
    timestamp: expect.any(String),
    object: 'stream',
    objectID: id,
    seq: 0,
    data: expect.objectContaining({
      name: 'Evening',
      item: {
        ...{ track: 'video', id: upload, name: 'A', playlistID: null, index: 0, rule: null, exact: true },
        ...{ title: 'Fireplace', artist: 'The Logs', album: null, durationSeconds: 40 },
        ...{ startAt: first?.timestamp, endAt: second?.timestamp },
      },
    }),
    snapshot: null,
  });
  expect(second).toMatchObject({ data: { item: { name: 'B', startAt: second?.timestamp } } });
  expect(its.received).toHaveLength(2);
  expect([...all.received, ...others.received].filter(({ body }) => body.type === 'item.started')).toEqual([]);
  // It is in no list of events.
  const { body } = await ada.call<{ data: { type: string }[] }>('GET', `/v1/events?objectID=${id}&limit=100`);
  expect(body.data.filter(({ type }) => type === 'item.started')).toEqual([]);
  const asked = await ada.call('GET', '/v1/events?types=item.started');
  expect([asked.status, asked.body.code]).toEqual([422, 'validation_failed']);
});

test('a stream off air begins nothing, and its webhook hears of the item that plays once it is live', async () => {
  const id = await putOnAir(5);
  await api.observe(id, { phase: 'reconnecting' });
  const sink = await subscribe({ types: ['item.started'], objectIDs: [id] });
  const live = await putOnAir(5);
  const witness = await subscribe({ types: ['item.started'], objectIDs: [live] });
  await until('an item of another stream is told', () => witness.received.length > 0, WAIT_MS);
  expect(sink.received).toEqual([]);
  await api.observe(id, { phase: 'live', liveSince: new Date().toISOString().replace(/\.\d+Z$/, 'Z') });
  await until('its item is told', () => sink.received.length > 0, WAIT_MS);
});

test('an endpoint for people cannot ask for it', async () => {
  const wish = { kind: 'slack', url: 'https://127.0.0.1/hook', types: ['item.started'] };
  const { status, body } = await ada.call<{ code: string }>('POST', '/v1/endpoints', wish);
  expect([status, body.code]).toEqual([422, 'validation_failed']);
  expect(JSON.stringify(body)).toContain('webhooks alone');
});
