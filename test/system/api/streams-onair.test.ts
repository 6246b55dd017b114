import { createServer, type Server } from 'node:http';
import { setTimeout as later } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENTS, PODS } from '../../../src/core/kube/core.ts';
import type { KubeObject } from '../../../src/core/kube/types.ts';
import { encodeHeader, encodeTag, TAG_VIDEO } from '../../../src/core/pods/rendition/flv.ts';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { FINALIZER, SKIP_ANNOTATIONS, STREAM_LABEL, STREAMER_PORT } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { inMinutes, type List, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let ada: Client;
let eve: Client;
let create: StreamsApi['create'];
let resource: StreamsApi['resource'];
let destinationID: string;

beforeAll(async () => {
  ({ api, ada, eve, create, resource, destinationID } = await startStreamsApi());
});

afterAll(() => api?.stop());

describe('readiness, start and stop', () => {
  const preparing = { type: 'MediaReady', reason: 'MediaPreparing', message: 'Upload "a" is being prepared.' };

  test('report a False condition as the same issue, in readiness and in the 409 of start', async () => {
    const { id } = await create();
    await api.observe(id, { phase: 'idle' }, [preparing]);
    const issue = {
      code: 'media_preparing',
      message: 'Upload "a" is being prepared.',
      fix: 'Wait until the media is prepared for this quality and frame rate.',
      field: 'videoUploadObjectID',
      since: '2026-01-01T00:00:00Z',
    };
    const readiness = await ada.call('GET', `/v1/streams/${id}/readiness`);
    expect(readiness.body).toEqual({
      ready: false,
      issues: [issue],
      warnings: [],
      prepared: 0,
      estimatedReadyAt: null,
    });
    const start = await ada.call('POST', `/v1/streams/${id}/start`);
    expect(start).toMatchObject({ status: 409, body: { code: 'stream_not_ready', issues: [issue] } });
    expect((await resource(id)).spec.replicas).toBe(0);
  });

  test('wait for an operator that is a moment late, and name one that is away', async () => {
    const { id } = await create();
    const asked = ada.call('GET', `/v1/streams/${id}/readiness`);
    await later(200);
    await api.observe(id, { phase: 'idle' });
    expect((await asked).body).toEqual({ ready: true, issues: [], warnings: [], prepared: 1, estimatedReadyAt: null });
    const lost = await create();
    const { body } = await ada.call('GET', `/v1/streams/${lost.id}/readiness`);
    expect(body).toMatchObject({ ready: false, issues: [{ code: 'not_checked' }, {}, {}] });
  });

  test.each([
    ['no content type', undefined, {}],
    ['an empty one of JSON', '', { 'content-type': 'application/json' }],
    ['an empty one of a form', '', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['null', 'null', { 'content-type': 'application/json' }],
    ['null with a charset', ' null\n', { 'content-type': 'application/json; charset=utf-8' }],
    ['{}', '{}', { 'content-type': 'application/json' }],
  ])('where no body is needed, %s is none', async (_what, body, headers: Record<string, string>) => {
    const { id } = await create();
    await api.observe(id, { phase: 'idle' });
    expect((await ada.call('POST', `/v1/streams/${id}/start`, body, headers)).status).toBe(202);
    expect((await ada.call('POST', `/v1/streams/${id}/stop`, body, headers)).status).toBe(202);
    await api.observe(id, { phase: 'stopped' });
    const skip = await ada.call('POST', `/v1/streams/${id}/skip`, body, headers);
    expect(skip).toMatchObject({ status: 409, body: { code: 'stream_not_live' } });
    await api.release(id);
    expect((await ada.call('DELETE', `/v1/streams/${id}`, body, headers)).status).toBe(204);
  });

  test('where fields are needed, or others are sent than are known, a body is held to that', async () => {
    const { id } = await create();
    const refused = { status: 422, body: { code: 'validation_failed' } };
    expect(await ada.call('POST', '/v1/streams', 'null')).toMatchObject(refused);
    expect(await ada.call('PATCH', `/v1/streams/${id}`, 'null')).toMatchObject(refused);
    expect(await ada.call('POST', `/v1/streams/${id}/start`, '[]')).toMatchObject(refused);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const start = await ada.call('POST', `/v1/streams/${id}/start`, 'a=b', form);
    expect(start).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test('are safe to repeat, wait when asked, and return 202 until the stream is live, or stopped', async () => {
    const { id } = await create();
    await api.observe(id, { phase: 'idle' });
    const start = await ada.call('POST', `/v1/streams/${id}/start`, '', { 'content-type': 'application/json' });
    expect({ status: start.status, body: start.body }).toMatchObject({ status: 202, body: { status: 'starting' } });
    expect((await resource(id)).spec.replicas).toBe(1);
    const { generation } = (await resource(id)).metadata;
    const waiting = ada.call('POST', `/v1/streams/${id}/start?wait=30`);
    await later(100);
    await api.observe(id, { phase: 'live', liveSince: '2026-01-02T00:00:00Z' });
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'live', liveSince: '2026-01-02T00:00:00Z' } });
    expect((await ada.call('POST', `/v1/streams/${id}/start`)).status).toBe(200);
    expect((await resource(id)).metadata.generation).toBe(generation);

    const stop = await ada.call('POST', `/v1/streams/${id}/stop`);
    expect({ status: stop.status, body: stop.body }).toMatchObject({ status: 202, body: { status: 'stopping' } });
    const stopping = ada.call('POST', `/v1/streams/${id}/stop?wait=30`);
    await later(100);
    await api.observe(id, { phase: 'stopped' });
    expect(await stopping).toMatchObject({ status: 200, body: { status: 'stopped' } });
    const slow = await ada.call('POST', `/v1/streams/${id}/start?wait=1`);
    expect(slow.status).toBe(202);
    expect((await ada.call('POST', `/v1/streams/${id}/start?wait=61`)).status).toBe(422);
    expect((await ada.call('POST', `/v1/streams/${id}/start`, { now: true })).status).toBe(422);
  });
});

describe('skip', () => {
  test('asks the operator for the next item: 200 when it has begun, 202 when that takes longer', async () => {
    const { id } = await create();
    await api.observe(id, { phase: 'live' });
    await expect.poll(async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status).toBe('live');
    const path = `/v1/streams/${id}/skip`;
    const readSkip = async () => (await resource(id)).metadata.annotations?.[SKIP_ANNOTATIONS.video];
    const skip = ada.call('POST', path);
    await expect.poll(readSkip).toMatch(/^\d{4}-\d\d-\d\dT\S+Z \S{30,}$/);
    await api.observe(id, { phase: 'live', skipped: { video: (await readSkip()) ?? '' } });
    expect(await skip).toMatchObject({ status: 200, body: { id, status: 'live' } });
    const before = await readSkip();
    expect((await ada.call('POST', path, { track: 'video' })).status).toBe(202);
    expect(await readSkip()).not.toBe(before);
    expect((await eve.call('POST', path)).status).toBe(404);
    const silent = await ada.call('POST', path, { track: 'audio' });
    expect(silent).toMatchObject({ status: 422, body: { errors: [{ path: '/track' }] } });
    expect((await ada.call('POST', path, { track: 'both' })).status).toBe(422);
  });

  test('of a stream that is not on air is 409 with its code, and asks for nothing', async () => {
    const { id } = await create();
    for (const phase of ['idle', 'starting', 'stopped', 'failed'] as const) {
      await api.observe(id, { phase });
      await expect.poll(async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status).toBe(phase);
      const answer = await ada.call('POST', `/v1/streams/${id}/skip`);
      expect(answer).toMatchObject({ status: 409, body: { code: 'stream_not_live' } });
    }
    expect((await resource(id)).metadata.annotations?.[SKIP_ANNOTATIONS.video]).toBeUndefined();
  });
});

describe('the schedule', () => {
  test('can be set, changed and removed; an error names the wrong field', async () => {
    const { id } = await create();
    const path = `/v1/streams/${id}/schedule`;
    const scheduleStartAt = inMinutes(10);
    const set = await ada.call('POST', path, { scheduleStartAt });
    expect({ status: set.status, body: set.body }).toMatchObject({ status: 200, body: { status: 'scheduled' } });
    const both = await ada.call('POST', path, { scheduleStartAt, scheduleEndAt: inMinutes(20) });
    expect(both.body.scheduleEndAt).not.toBeNull();
    expect((await ada.call('POST', path, { scheduleStartAt })).body.scheduleEndAt).toBeNull();
    for (const wrong of [{}, { scheduleEndAt: '2020-01-01T00:00:00Z' }, { scheduleStartAt: 5 }, { recurrence: {} }])
      expect((await ada.call('POST', path, wrong)).status).toBe(422);
    const away = await ada.call('DELETE', path);
    expect({ status: away.status, body: away.body }).toMatchObject({
      status: 200,
      body: { status: 'idle', scheduleStartAt: null },
    });
    expect((await resource(id)).spec).toMatchObject({ replicas: 0 });
  });

  test('windows that recur are set and taken away, and start puts the stream into them', async () => {
    const { id } = await create();
    const path = `/v1/streams/${id}/schedule`;
    const recurrence = { cron: '0 18 * * 5', durationSeconds: 7200 };
    const set = await ada.call('POST', path, { recurrence });
    expect(set.body).toMatchObject({
      status: 'scheduled',
      recurrence: { ...recurrence, timeZone: 'UTC' },
      nextStartAt: expect.stringMatching(/T18:00:00\.000Z$/),
    });
    expect(new Date(String(set.body.nextStartAt)).getUTCDay()).toBe(5);
    for (const [wrong, field] of [
      [{ cron: '0 18 * *' }, '/recurrence/cron'],
      [{ cron: '0 0 31 2 *' }, '/recurrence/cron'],
      [{ timeZone: 'Mars/Base' }, '/recurrence/timeZone'],
      [{ durationSeconds: 1 }, '/recurrence/durationSeconds'],
    ] as const) {
      const { status, body } = await ada.call('POST', path, { recurrence: { ...recurrence, ...wrong } });
      expect({ status, body }).toMatchObject({ status: 422, body: { errors: [{ path: field }] } });
    }
    await ada.call('POST', `/v1/streams/${id}/stop?wait=0`);
    expect((await ada.call('GET', `/v1/streams/${id}`)).body).toMatchObject({ status: 'idle', nextStartAt: null });
    const cleared = await ada.call('DELETE', path);
    expect(cleared.body).toMatchObject({ recurrence: null, nextStartAt: null });
  });

  test('start goes before a schedule that has not begun', async () => {
    const { id } = await create({ scheduleStartAt: inMinutes(10), scheduleEndAt: inMinutes(20) });
    await api.observe(id, { phase: 'scheduled' });
    const { body } = await ada.call('POST', `/v1/streams/${id}/start`);
    expect(body).toMatchObject({ scheduleStartAt: null, status: 'starting' });
    expect(body.scheduleEndAt).not.toBeNull();
  });
});

test('a stream that is to be on air is held by its finalizer from that write on, and a draft is not', async () => {
  const readFinalizers = async (id: string) => (await resource(id)).metadata.finalizers;
  const { id } = await create();
  expect(await readFinalizers(id)).toBeUndefined();
  // Another controller's finalizer stays.
  await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { metadata: { finalizers: ['example.com/other'] } });
  await api.observe(id, { phase: 'idle' });
  // The API server has seen these writes.
  await expect.poll(async () => (await ada.call('GET', `/v1/streams/${id}/readiness`)).body.ready).toBe(true);
  expect((await ada.call('POST', `/v1/streams/${id}/start`)).status).toBe(202);
  expect(await readFinalizers(id)).toEqual(['example.com/other', FINALIZER]);
  await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { metadata: { finalizers: [] } });
  const scheduled = await create({ scheduleStartAt: inMinutes(10) });
  expect(await readFinalizers(scheduled.id)).toEqual([FINALIZER]);
  await api.release(scheduled.id);
});

describe('deleting', () => {
  test('204 only when the finalizer is gone, that is when nothing is left on air', async () => {
    const { id } = await create();
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { metadata: { finalizers: [FINALIZER] } });
    const gone = ada.call('DELETE', `/v1/streams/${id}`);
    await expect.poll(async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status).toBe('stopping');
    expect((await ada.call('POST', `/v1/streams/${id}/start`)).body.code).toBe('conflict');
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { metadata: { finalizers: null } });
    expect((await gone).status).toBe(204);
    expect((await ada.call('DELETE', `/v1/streams/${id}`)).status).toBe(404);
  });
});

describe('live', () => {
  let pod: Server;
  let closed = 0;
  const flv = Buffer.concat([
    encodeHeader({ audio: true, video: true }),
    encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 1, 0, 0, 0, 7, 7])),
  ]);
  /** As a pod of this release writes it. */
  const stats = (): ShownStats => ({
    live: true,
    held: false,
    pushes: false,
    startedAt: '2026-01-01T00:00:00Z',
    uptimeSeconds: 5,
    bitrateKbps: 4500,
    fps: 30,
    keyframeIntervalSeconds: 2,
    framesSent: 150,
    loopCount: 3,
    seam: { count: 2, maxStepMs: 34, maxAudioStepMs: 22, hour: { maxStepMs: 34, maxAudioStepMs: 22 } },
    avSkewMs: 1.5,
    reconnects: 0,
    currentItem: null,
    nextItem: { id: 'upl-1', name: 'A', playlistID: null, index: null },
    currentAudioItem: null,
    nextAudioItem: { id: 'upl-2', name: 'Song', playlistID: 'pls-1', index: 0 },
    programVersion: 1,
    profile: '720p25',
    clock: { video: null, audio: null },
    playable: true,
    skippedItems: 0,
    brokenItems: [],
    preparationBehind: { count: 0, item: null, since: null },
    droppedRules: [],
    leadMs: 0,
    runs: [],
    cache: null,
    interruption: null,
    destinations: [
      {
        name: destinationID,
        connected: true,
        connectedSince: '2026-06-01T12:00:00.000Z',
        bytesSent: 10,
        bitrateKbps: 4100,
        pace: 1,
        leastBitrateKbps: null,
        reconnects: 0,
        lastError: null,
        dropped: 0,
      },
    ],
  });

  beforeAll(async () => {
    pod = createServer((request, response) => {
      if (request.url === '/preview.flv') {
        response.writeHead(200, { 'content-type': 'video/x-flv' }).write(flv);
        response.once('close', () => {
          closed++;
        });
        return;
      }
      response.end(JSON.stringify(stats()));
    });
    await new Promise<void>((resolve) => pod.listen(STREAMER_PORT, '127.0.77.1', resolve));
  });
  afterAll(() => {
    pod.closeAllConnections();
    pod.close();
  });

  const run = async (id: string) => {
    const object = {
      metadata: { name: `${id}-onair`, namespace: NAMESPACE, labels: { [STREAM_LABEL]: id } },
      spec: { containers: [{ name: 'streamer', image: 'none' }], nodeName: 'nowhere' },
    };
    await api.kube.create(PODS, NAMESPACE, object as never);
    const status = { phase: 'Running', podIP: '127.0.77.1', podIPs: [{ ip: '127.0.77.1' }] };
    await api.kube.mergePatch(PODS, NAMESPACE, object.metadata.name, { status }, { subresource: 'status' });
  };

  test('numbers come from the pod, with people’s names for destinations; nulls without one', async () => {
    const { id } = await create();
    const path = `/v1/streams/${id}/live-stats`;
    const off = await ada.call('GET', path);
    expect(off.body).toMatchObject({ live: false, fps: null, seam: null, current: null, destinations: [] });
    expect((await ada.call('GET', `/v1/streams/${id}/preview.flv`)).body).toMatchObject({ code: 'stream_not_live' });
    await run(id);
    await expect.poll(async () => (await ada.call('GET', path)).body.live).toBe(true);
    expect((await ada.call('GET', path)).body).toEqual({
      live: true,
      quality: 'q_720p',
      framerate: 'f_25',
      startedAt: '2026-01-01T00:00:00Z',
      uptimeSeconds: 5,
      bitrateKbps: 4500,
      fps: 30,
      keyframeIntervalSeconds: 2,
      framesSent: 150,
      loopCount: 3,
      seam: { count: 2, maxStepMs: 34 },
      avSkewMs: 1.5,
      reconnects: 0,
      viewers: null,
      current: null,
      positionSeconds: null,
      durationSeconds: null,
      next: { id: 'upl-1', name: 'A', playlistID: null, index: null },
      currentAudio: null,
      nextAudio: { id: 'upl-2', name: 'Song', playlistID: 'pls-1', index: 0 },
      playable: true,
      brokenItems: [],
      destinations: [
        {
          id: destinationID,
          name: 'Home',
          connected: true,
          bytesSent: 10,
          bitrateKbps: 4100,
          leastBitrateKbps: null,
          pace: 1,
          reconnects: 0,
          viewers: null,
          lastError: null,
        },
      ],
    });
    const query = `{ liveStats(id: "${id}") { live startedAt fps seam { count } next { id name } brokenItems { id }
      destinations { id name connected bytesSent lastError { code } } } }`;
    const { body } = await ada.call<{ data: unknown }>('POST', '/graphql', { query });
    expect(body.data).toEqual({
      liveStats: {
        live: true,
        startedAt: '2026-01-01T00:00:00Z',
        fps: 30,
        seam: { count: 2 },
        next: { id: 'upl-1', name: 'A' },
        brokenItems: [],
        destinations: [{ id: destinationID, name: 'Home', connected: true, bytesSent: 10, lastError: null }],
      },
    });
  });

  test('the preview needs a key, streams as it comes, and closes towards the pod when the viewer goes', async () => {
    const { id } = await create();
    await run(id);
    const url = `${api.url}/v1/streams/${id}/preview.flv`;
    expect((await fetch(url)).status).toBe(401);
    const viewer = new AbortController();
    const open = () => fetch(url, { headers: { 'x-api-key': ada.key }, signal: viewer.signal });
    await expect
      .poll(async () => {
        const response = await open();
        if (response.status !== 200) return response.status;
        const reader = response.body?.getReader();
        const chunk = await reader?.read();
        return `${response.headers.get('content-type')} ${Buffer.from(chunk?.value ?? []).toString('latin1', 0, 3)}`;
      })
      .toBe('video/x-flv FLV');
    viewer.abort();
    await expect.poll(() => closed).toBeGreaterThan(0);
  });

  /** Writes an event of a stream, as the operator does. */
  async function writeEvent(id: string, name: string, reason: string, time: string, count = 1): Promise<void> {
    const { metadata } = await resource(id);
    await api.kube.create(EVENTS, NAMESPACE, {
      metadata: { name: `${id}.${name}`, namespace: NAMESPACE },
      involvedObject: { kind: 'LoopStream', namespace: NAMESPACE, name: id, uid: metadata.uid },
      type: 'Normal',
      reason,
      message: `It said ${reason}.`,
      count,
      firstTimestamp: time,
      lastTimestamp: time,
    } as unknown as KubeObject<never> & { involvedObject: object });
  }

  test('events of the stream are listed newest first, in pages', async () => {
    const { id } = await create();
    for (const [i, reason] of ['PodCreated', 'StreamLive'].entries())
      await writeEvent(id, String(i), reason, `2026-01-01T00:00:0${i}Z`, i + 1);
    const first = await ada.call<List>('GET', `/v1/streams/${id}/events?limit=1`);
    expect(first.body.data).toMatchObject([{ reason: 'StreamLive', time: '2026-01-01T00:00:01Z', count: 2 }]);
    const next = await ada.call<List>('GET', `/v1/streams/${id}/events?limit=1&cursor=${first.body.page.nextCursor}`);
    expect(next.body).toMatchObject({ data: [{ reason: 'PodCreated' }], page: { hasMore: false, nextCursor: null } });
  });

  test('events of the same second are listed in the order in which they were written', async () => {
    const { id } = await create();
    const reasons = Array.from({ length: 8 }, (_, i) => `Step${i}`);
    for (const [i, reason] of reasons.entries()) await writeEvent(id, String(i), reason, '2026-01-01T00:00:00Z');
    const { body } = await ada.call<{ data: { reason: string }[] }>('GET', `/v1/streams/${id}/events`);
    expect(body.data.map(({ reason }) => reason)).toEqual(reasons.toReversed());
  });
});
