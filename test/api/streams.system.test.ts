import { createServer, type Server } from 'node:http';
import { setTimeout as later } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENTS, LOOPSTREAMS, PODS } from '../../src/kube/resources.ts';
import type { KubeObject } from '../../src/kube/types.ts';
import { NAMESPACE } from '../../src/local/rights.ts';
import { ACCOUNT_LABEL, FINALIZER, STREAM_LABEL, STREAMER_PORT } from '../../src/streams/names.ts';
import { type Answer, type Client, startTestApi, type TestApi } from '../support/api.ts';

type Stream = Record<string, unknown> & { id: string };
type List = { data: Stream[]; page: { hasMore: boolean; nextCursor: string | null } };

let api: TestApi;
let ada: Client;
let eve: Client;
let destinationID: string;
let videoUploadObjectID: string;
let audioUpload: string;
let videoList: string;
let audioList: string;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
  eve = await api.client('eve');
  const made = async (path: string, body: unknown) => {
    const answer = await ada.call('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return String(answer.body.objectID ?? answer.body.id);
  };
  destinationID = await made('/v1/destinations', {
    name: 'Home',
    rtmpUrl: 'rtmp://127.0.0.1/live',
    rtmpKey: 'k-123456',
  });
  videoUploadObjectID = await made('/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/a.mp4' });
  audioUpload = await made('/v1/uploads/from-link', { type: 'AUDIO', url: 'https://example.com/a.mp3' });
  const items = [{ uploadObjectID: videoUploadObjectID }];
  videoList = await made('/v1/playlists', { kind: 'video', mode: 'sequential', items });
  audioList = await made('/v1/playlists', { kind: 'audio', mode: 'shuffle', items: [{ uploadObjectID: audioUpload }] });
});

afterAll(() => api?.stop());

const wish = (more: Record<string, unknown> = {}) => ({
  name: 'Night loop',
  quality: 'q_1080p',
  framerate: 'f_30',
  destinationID,
  videoUploadObjectID,
  ...more,
});

async function create(more: Record<string, unknown> = {}, client = ada): Promise<Stream> {
  const { status, body } = await client.call<Stream>('POST', '/v1/streams', wish(more));
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const errorsOf = ({ body }: Answer): Record<string, string> =>
  Object.fromEntries((body.errors as { path: string; message: string }[]).map(({ path, message }) => [path, message]));

const resource = (id: string) => api.kube.get(LOOPSTREAMS, NAMESPACE, id);
const inMinutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString();

describe('creating', () => {
  test('answers the record, its place, and a LoopStream with replicas 0 and the account’s label', async () => {
    const answer = await ada.call<Stream>('POST', '/v1/streams', wish());
    const { id } = answer.body;
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/v1/streams/${id}`);
    expect(id).toMatch(/^str-[0-9a-hjkmnp-tv-z]{26}$/);
    expect(answer.body).toEqual({
      ...{ id, name: 'Night loop', status: 'idle', ready: false, quality: 'q_1080p', framerate: 'f_30' },
      ...{ destinationID, destinationIDs: [destinationID], videoUploadObjectID, playlistIDs: [], audioPlaylistIDs: [] },
      ...{ scheduleStartAt: null, scheduleEndAt: null, liveSince: null, createdAt: expect.stringMatching(/Z$/) },
    });
    const { metadata, spec } = await resource(id);
    expect(metadata.labels).toEqual({ [ACCOUNT_LABEL]: ada.accountId });
    expect(spec).toMatchObject({ replicas: 0, quality: '1080p', framerate: 30, uploadRef: videoUploadObjectID });
  });

  test('takes both ways to write quality and frame rate, and answers one', async () => {
    for (const framerate of ['f_60', '60', 60])
      expect(await create({ quality: '720p', framerate })).toMatchObject({ quality: 'q_720p', framerate: 'f_60' });
  });

  test('a start in the schedule means that it is wanted', async () => {
    const scheduleStartAt = inMinutes(60);
    const scheduleEndAt = inMinutes(120);
    const stream = await create({ scheduleStartAt, scheduleEndAt });
    expect(stream).toMatchObject({ status: 'scheduled', scheduleStartAt, scheduleEndAt });
    expect((await resource(stream.id)).spec).toMatchObject({ replicas: 1, schedule: { startAt: scheduleStartAt } });
  });

  test('playlists, audio over them, and several destinations', async () => {
    const both = { videoUploadObjectID: undefined, playlistIDs: [videoList], audioPlaylistIDs: [audioList] };
    const stream = await create({ ...both, destinationID: undefined, destinationIDs: [destinationID] });
    expect(stream).toMatchObject({
      videoUploadObjectID: null,
      playlistIDs: [videoList],
      audioPlaylistIDs: [audioList],
    });
    const { body } = await ada.call<List>('GET', '/v1/playlists');
    expect(body.data.find(({ id }) => id === videoList)).toMatchObject({ streamID: stream.id, version: 1 });
  });

  const refused: [string, Record<string, unknown>, string][] = [
    ['no name', { name: undefined }, '/name'],
    ['an empty name', { name: '' }, '/name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, '/name'],
    ['a control character in the name', { name: 'a\u0000b' }, '/name'],
    ['a quality that is not', { quality: '480p' }, '/quality'],
    ['a frame rate that is not', { framerate: 29.97 }, '/framerate'],
    ['no destination', { destinationID: undefined }, '/destinationID'],
    ['a destination that is not', { destinationID: 'dst-none' }, '/destinationID'],
    ['both ways to name destinations', { destinationIDs: ['dst-a'] }, '/destinationIDs'],
    [
      'six destinations',
      { destinationID: undefined, destinationIDs: ['a', 'b', 'c', 'd', 'e', 'f'] },
      '/destinationIDs',
    ],
    ['one destination twice', { destinationID: undefined, destinationIDs: ['a', 'a'] }, '/destinationIDs'],
    ['no media', { videoUploadObjectID: undefined }, '/videoUploadObjectID'],
    ['an upload that is not', { videoUploadObjectID: 'upl-none' }, '/videoUploadObjectID'],
    ['a playlist and a video', { playlistIDs: ['pls-a'] }, '/playlistIDs'],
    ['a playlist that is not', { videoUploadObjectID: undefined, playlistIDs: ['pls-a'] }, '/playlistIDs/0'],
    ['a start in the past', { scheduleStartAt: '2020-01-01T00:00:00Z' }, '/scheduleStartAt'],
    ['an end in the past', { scheduleEndAt: '2020-01-01T00:00:00Z' }, '/scheduleEndAt'],
    ['an end before the start', { scheduleStartAt: inMinutes(20), scheduleEndAt: inMinutes(10) }, '/scheduleEndAt'],
    ['a time that is none', { scheduleStartAt: 'tomorrow' }, '/scheduleStartAt'],
    ['an unknown field', { recurrence: {} }, '/recurrence'],
  ];
  test.each(refused)('%s is refused with the field named, and nothing is left behind', async (_name, more, path) => {
    const before = (await api.kube.list(LOOPSTREAMS, { namespace: NAMESPACE })).length;
    const answer = await ada.call('POST', '/v1/streams', wish(more));
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe('validation_failed');
    expect(Object.keys(errorsOf(answer))).toContain(path);
    expect((await api.kube.list(LOOPSTREAMS, { namespace: NAMESPACE })).length).toBe(before);
  });

  test('an audio upload as the video, and playlists of the wrong kind, are refused', async () => {
    const audio = await ada.call('POST', '/v1/streams', wish({ videoUploadObjectID: audioUpload }));
    expect(errorsOf(audio)).toEqual({ '/videoUploadObjectID': 'names an upload of type AUDIO' });
    const swapped = { videoUploadObjectID: undefined, playlistIDs: [audioList], audioPlaylistIDs: [videoList] };
    const lists = await ada.call('POST', '/v1/streams', wish(swapped));
    expect(Object.keys(errorsOf(lists))).toEqual(['/playlistIDs/0', '/audioPlaylistIDs/0']);
  });
});

describe('another account', () => {
  test('finds nothing of it, by any call, and cannot refer to it', async () => {
    const { id } = await create();
    const calls: [string, string, unknown?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Mine now' }],
      ['DELETE', ''],
      ['GET', '/readiness'],
      ['POST', '/start'],
      ['POST', '/stop'],
      ['POST', '/schedule', { scheduleEndAt: inMinutes(5) }],
      ['DELETE', '/schedule'],
      ['GET', '/live-stats'],
      ['GET', '/events'],
      ['GET', '/preview.flv'],
    ];
    for (const [method, path, body] of calls) {
      const { status, body: answer } = await eve.call(method, `/v1/streams/${id}${path}`, body);
      expect({ method, path, status, code: answer.code }).toEqual({
        method,
        path,
        status: 404,
        code: 'stream_not_found',
      });
    }
    const { body } = await eve.call<List>('GET', '/v1/streams');
    expect(body).toEqual({ data: [], page: { hasMore: false, nextCursor: null } });
    const answer = await eve.call('POST', '/v1/streams', wish());
    expect(Object.keys(errorsOf(answer))).toEqual(['/destinationID', '/videoUploadObjectID']);
  });
});

describe('reading', () => {
  test('every write is seen by the next read, the list included', async () => {
    for (let i = 0; i < 10; i++) {
      const { id } = await create({ name: `Read ${i}` });
      const list = await ada.call<List>('GET', '/v1/streams?limit=1');
      expect(list.body.data[0]?.id).toBe(id);
      await ada.call('PATCH', `/v1/streams/${id}`, { name: `Changed ${i}` });
      expect((await ada.call('GET', `/v1/streams/${id}`)).body.name).toBe(`Changed ${i}`);
      expect((await ada.call('DELETE', `/v1/streams/${id}`)).status).toBe(204);
      expect((await ada.call('GET', `/v1/streams/${id}`)).status).toBe(404);
    }
  });

  test('pages stay right while streams come and go between them', async () => {
    const finn = await api.client('finn');
    const target = { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'k-123456', name: 'F' };
    const dst = String((await finn.call('POST', '/v1/destinations', target)).body.id);
    const link = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
    const upload = String((await finn.call('POST', '/v1/uploads/from-link', link)).body.objectID);
    const mine = { destinationID: dst, videoUploadObjectID: upload };
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.unshift((await create({ ...mine, name: `S${i}` }, finn)).id);
    const first = (await finn.call<List>('GET', '/v1/streams?limit=3')).body;
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    // One comes at the front, the one the cursor stands on goes, and so does one that is still to come.
    await create({ ...mine, name: 'New' }, finn);
    for (const i of [2, 4]) await finn.call('DELETE', `/v1/streams/${ids[i]}`);
    const second = (await finn.call<List>('GET', `/v1/streams?limit=3&cursor=${first.page.nextCursor}`)).body;
    expect(second.data.map(({ id }) => id)).toEqual([ids[3], ids[5], ids[6]]);
    expect(second.page).toEqual({ hasMore: false, nextCursor: null });
  });

  test('filters by status and by a part of the name', async () => {
    const { id } = await create({ name: 'Ünique Fireplace' });
    const ids = async (query: string) =>
      (await ada.call<List>('GET', `/v1/streams?limit=100&${query}`)).body.data.map((stream) => stream.id);
    expect(await ids(`q=${encodeURIComponent('ünique fire')}`)).toEqual([id]);
    expect(await ids('q=ünique&status=idle')).toEqual([id]);
    expect(await ids('q=ünique&status=live')).toEqual([]);
    expect((await ada.call('GET', '/v1/streams?status=flying')).status).toBe(422);
  });
});

describe('changing', () => {
  test('sets what is given and nothing else; playlists and a video take each other’s place', async () => {
    const { id } = await create();
    const patch = async (body: unknown) => (await ada.call('PATCH', `/v1/streams/${id}`, body)).body;
    expect(await patch({ quality: '1440p' })).toMatchObject({ name: 'Night loop', quality: 'q_1440p' });
    expect(await patch({ playlistIDs: [videoList] })).toMatchObject({
      videoUploadObjectID: null,
      playlistIDs: [videoList],
    });
    expect(await patch({ videoUploadObjectID })).toMatchObject({ videoUploadObjectID, playlistIDs: [] });
    expect(await patch({ destinationIDs: ['dst-none'] })).toMatchObject({ errors: [{ path: '/destinationIDs/0' }] });
    expect(await patch({})).toMatchObject({ code: 'validation_failed' });
    expect(await patch({ status: 'live' })).toMatchObject({ errors: [{ path: '/status', message: 'is not known' }] });
  });
});

describe('readiness, start and stop', () => {
  const preparing = { type: 'MediaReady', reason: 'MediaPreparing', message: 'Upload "a" is being prepared.' };

  test('what is False keeps it off air: the same issue in readiness and in the 409 of start', async () => {
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
    expect(readiness.body).toEqual({ ready: false, issues: [issue] });
    const start = await ada.call('POST', `/v1/streams/${id}/start`);
    expect(start).toMatchObject({ status: 409, body: { code: 'stream_not_ready', issues: [issue] } });
    expect((await resource(id)).spec.replicas).toBe(0);
  });

  test('an operator that is a moment late is waited for, one that is away is named', async () => {
    const { id } = await create();
    const asked = ada.call('GET', `/v1/streams/${id}/readiness`);
    await later(200);
    await api.observe(id, { phase: 'idle' });
    expect((await asked).body).toEqual({ ready: true, issues: [] });
    const lost = await create();
    const { body } = await ada.call('GET', `/v1/streams/${lost.id}/readiness`);
    expect(body).toMatchObject({ ready: false, issues: [{ code: 'not_checked' }, {}, {}] });
  });

  test('start is safe to repeat, waits when asked, and answers 202 until it is live; stop likewise', async () => {
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

describe('the schedule', () => {
  test('can be set, changed and taken away; what is wrong with it is named', async () => {
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

  test('start goes before a schedule that has not begun', async () => {
    const { id } = await create({ scheduleStartAt: inMinutes(10), scheduleEndAt: inMinutes(20) });
    await api.observe(id, { phase: 'scheduled' });
    const { body } = await ada.call('POST', `/v1/streams/${id}/start`);
    expect(body).toMatchObject({ scheduleStartAt: null, status: 'starting' });
    expect(body.scheduleEndAt).not.toBeNull();
  });
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
  const stats = {
    ...{ live: true, startedAt: '2026-01-01T00:00:00Z', uptimeSeconds: 5, bitrateKbps: 4500, fps: 30, framesSent: 150 },
    ...{ loopCount: 3, seam: { count: 2, maxStepMs: 34 }, avSkewMs: 1.5, reconnects: 0, currentItem: null },
    nextItem: { id: 'upl-1', name: 'A' },
  };

  beforeAll(async () => {
    pod = createServer((request, response) => {
      if (request.url === '/preview.flv') {
        response.writeHead(200, { 'content-type': 'video/x-flv' }).write('FLV-bytes');
        response.once('close', () => {
          closed++;
        });
        return;
      }
      const target = { name: destinationID, connected: true, bytesSent: 10, reconnects: 0, lastError: null };
      response.end(JSON.stringify({ ...stats, destinations: [target] }));
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
      ...{ live: true, startedAt: '2026-01-01T00:00:00Z', uptimeSeconds: 5, bitrateKbps: 4500, fps: 30 },
      ...{ framesSent: 150, loopCount: 3, seam: { count: 2, maxStepMs: 34 }, avSkewMs: 1.5, reconnects: 0 },
      ...{ current: null, next: { id: 'upl-1', name: 'A' } },
      destinations: [
        { id: destinationID, name: 'Home', connected: true, bytesSent: 10, reconnects: 0, lastError: null },
      ],
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
        return `${response.headers.get('content-type')} ${Buffer.from(chunk?.value ?? []).toString()}`;
      })
      .toBe('video/x-flv FLV-bytes');
    viewer.abort();
    await expect.poll(() => closed).toBeGreaterThan(0);
  });

  test('events of the stream are told newest first, in pages', async () => {
    const { id } = await create();
    const { metadata } = await resource(id);
    for (const [i, reason] of ['PodCreated', 'StreamLive'].entries()) {
      const time = `2026-01-01T00:00:0${i}Z`;
      await api.kube.create(EVENTS, NAMESPACE, {
        metadata: { name: `${id}.${i}`, namespace: NAMESPACE },
        involvedObject: { kind: 'LoopStream', namespace: NAMESPACE, name: id, uid: metadata.uid },
        ...{ type: 'Normal', reason, message: `It said ${reason}.`, count: i + 1 },
        ...{ firstTimestamp: time, lastTimestamp: time },
      } as unknown as KubeObject<never> & { involvedObject: object });
    }
    const first = await ada.call<List>('GET', `/v1/streams/${id}/events?limit=1`);
    expect(first.body.data).toMatchObject([{ reason: 'StreamLive', time: '2026-01-01T00:00:01Z', count: 2 }]);
    const next = await ada.call<List>('GET', `/v1/streams/${id}/events?limit=1&cursor=${first.body.page.nextCursor}`);
    expect(next.body).toMatchObject({ data: [{ reason: 'PodCreated' }], page: { hasMore: false, nextCursor: null } });
  });
});
