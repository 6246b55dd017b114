import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { exampleStream } from '../../../src/service/domain/streams/examples.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { inMinutes, type List, type Stream, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Answer, Client, TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let ada: Client;
let eve: Client;
let wish: StreamsApi['wish'];
let create: StreamsApi['create'];
let resource: StreamsApi['resource'];
let destinationID: string;
let videoUploadObjectID: string;
let audioUpload: string;
let videoList: string;
let audioList: string;

beforeAll(async () => {
  const started = await startStreamsApi();
  ({ api, ada, eve, wish, create, resource } = started);
  ({ destinationID, videoUploadObjectID, audioUpload, videoList, audioList } = started);
});

afterAll(() => api?.stop());

const getErrors = ({ body }: Answer): Record<string, string> =>
  Object.fromEntries((body.errors as { path: string; message: string }[]).map(({ path, message }) => [path, message]));

describe('creating', () => {
  test('returns the record, its place, and a LoopStream with replicas 0 and the account’s label', async () => {
    const answer = await ada.call<Stream>('POST', '/v1/streams', wish());
    const { id } = answer.body;
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/v1/streams/${id}`);
    expect(id).toMatch(/^str-[0-9a-hjkmnp-tv-z]{26}$/);
    expect(answer.body).toEqual({
      ...exampleStream,
      id,
      name: 'Night loop',
      status: 'idle',
      ready: false,
      destinationID,
      destinationIDs: [destinationID],
      destinations: [{ destinationID, enabled: true }],
      videoUploadObjectID,
      scheduleStartAt: null,
      scheduleEndAt: null,
      liveSince: null,
      nextEndAt: null,
      onAirForViewers: null,
      posterUrl: null,
      createdAt: expect.stringMatching(/Z$/),
    });
    const { metadata, spec } = await resource(id);
    expect(metadata.labels).toEqual({ [ACCOUNT_LABEL]: ada.accountId });
    expect(spec).toMatchObject({ replicas: 0, quality: '1080p', framerate: 30, uploadName: videoUploadObjectID });
  });

  test('accepts both forms of quality and frame rate, and returns one', async () => {
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
    [
      'a destination that does not exist, in the list of those that can be switched off',
      { destinationID: undefined, destinations: [{ destinationID: 'dst-none' }] },
      '/destinations/0/destinationID',
    ],
    [
      'destinations that are all switched off',
      { destinationID: undefined, destinations: [{ destinationID: 'dst-none', enabled: false }] },
      '/destinations',
    ],
    [
      'a destination switched off and on',
      { destinationID: undefined, destinations: [{ destinationID: 'a' }, { destinationID: 'a', enabled: false }] },
      '/destinations/1/destinationID',
    ],
    ['two ways to name destinations', { destinations: [{ destinationID: 'dst-a' }] }, '/destinations'],
    ['no media', { videoUploadObjectID: undefined }, '/videoUploadObjectID'],
    ['an upload that is not', { videoUploadObjectID: 'upl-none' }, '/videoUploadObjectID'],
    ['a playlist and a video', { playlistIDs: ['pls-a'] }, '/playlistIDs'],
    ['a playlist that is not', { videoUploadObjectID: undefined, playlistIDs: ['pls-a'] }, '/playlistIDs/0'],
    ['a start in the past', { scheduleStartAt: '2020-01-01T00:00:00Z' }, '/scheduleStartAt'],
    ['an end in the past', { scheduleEndAt: '2020-01-01T00:00:00Z' }, '/scheduleEndAt'],
    ['an end before the start', { scheduleStartAt: inMinutes(20), scheduleEndAt: inMinutes(10) }, '/scheduleEndAt'],
    ['a time that is none', { scheduleStartAt: 'tomorrow' }, '/scheduleStartAt'],
    ['a loudness that no sound has', { loudness: { targetLufs: -31 } }, '/loudness/targetLufs'],
    ['a peak above the largest number of a sample', { loudness: { maxTruePeakDb: 0 } }, '/loudness/maxTruePeakDb'],
    ['a boost that is a part of a decibel', { loudness: { maxBoostDb: 1.5 } }, '/loudness/maxBoostDb'],
    ['an unknown part of the loudness', { loudness: { targetLUFS: -14 } }, '/loudness/targetLUFS'],
    ['a loudness that is a number', { loudness: -14 }, '/loudness'],
    ['an unknown field', { loops: {} }, '/loops'],
  ];
  test.each(refused)('%s is refused with the field named, and nothing is left behind', async (_name, more, path) => {
    const before = (await api.kube.list(LOOPSTREAMS, { namespace: NAMESPACE })).length;
    const answer = await ada.call('POST', '/v1/streams', wish(more));
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe('validation_failed');
    expect(Object.keys(getErrors(answer))).toContain(path);
    expect((await api.kube.list(LOOPSTREAMS, { namespace: NAMESPACE })).length).toBe(before);
  });

  test('an audio upload as the video, and playlists of the wrong kind, are refused', async () => {
    const audio = await ada.call('POST', '/v1/streams', wish({ videoUploadObjectID: audioUpload }));
    expect(getErrors(audio)).toEqual({ '/videoUploadObjectID': 'names an upload of type AUDIO' });
    const swapped = { videoUploadObjectID: undefined, playlistIDs: [audioList], audioPlaylistIDs: [videoList] };
    const lists = await ada.call('POST', '/v1/streams', wish(swapped));
    expect(Object.keys(getErrors(lists))).toEqual(['/playlistIDs/0', '/audioPlaylistIDs/0']);
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
    expect(Object.keys(getErrors(answer))).toEqual(['/destinationID', '/videoUploadObjectID']);
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
    // A new stream comes at the front, the cursor's own goes, and so does one that is still to come.
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
  test('sets the given fields and no others; playlists and a video replace each other', async () => {
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

  test('a loudness has defaults, is replaced as a whole, and null removes it', async () => {
    const whole = (rest: object = {}) => ({ targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6, ...rest });
    const { id, loudness } = await create({ loudness: {} });
    expect(loudness).toEqual(whole());
    expect((await resource(id)).spec.loudness).toEqual(whole());
    const patch = async (body: unknown) => (await ada.call<Stream>('PATCH', `/v1/streams/${id}`, body)).body;
    expect(await patch({ loudness: { targetLufs: -23, maxBoostDb: 0 } })).toMatchObject({
      loudness: whole({ targetLufs: -23, maxBoostDb: 0 }),
    });
    expect(await patch({ name: 'Quiet' })).toMatchObject({ loudness: whole({ targetLufs: -23, maxBoostDb: 0 }) });
    expect(await patch({ loudness: { maxTruePeakDb: -2 } })).toMatchObject({ loudness: whole({ maxTruePeakDb: -2 }) });
    const wrong = await ada.call('PATCH', `/v1/streams/${id}`, { loudness: { targetLufs: -7 } });
    expect(getErrors(wrong)).toEqual({ '/loudness/targetLufs': 'must be at most -8' });
    const number = await ada.call('PATCH', `/v1/streams/${id}`, { loudness: -14 });
    expect(getErrors(number)).toEqual({ '/loudness': 'must be an object' });
    expect(await patch({ loudness: null })).toMatchObject({ loudness: null });
    expect((await resource(id)).spec).not.toHaveProperty('loudness');
    expect((await create({ loudness: null })).loudness).toBeNull();
  });

  test('shows the destinations that receive the stream, and replaces them with their settings', async () => {
    const { id } = await create();
    const destinations = [{ name: 'elsewhere', enabled: false }, { name: destinationID }];
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { spec: { destinationNames: null, destinations } });
    const read = async () => (await ada.call<Stream>('GET', `/v1/streams/${id}`)).body;
    await expect.poll(async () => (await resource(id)).spec.destinations?.length).toBe(2);
    expect(await read()).toMatchObject({ destinationID, destinationIDs: [destinationID] });
    const { body } = await ada.call('PATCH', `/v1/streams/${id}`, { destinationIDs: [destinationID] });
    expect(body).toMatchObject({ destinationIDs: [destinationID] });
    const { spec } = await resource(id);
    expect([spec.destinationNames, spec.destinations]).toEqual([[destinationID], undefined]);
  });

  test('switches a destination off and on, which stays one of the stream', async () => {
    const other = { name: 'Backup', rtmpUrl: 'rtmp://live.example.com/backup', rtmpKey: 'k-654321' };
    const second = String((await ada.call('POST', '/v1/destinations', other)).body.id);
    const both = (enabled: boolean) => [
      { destinationID, enabled: true },
      { destinationID: second, enabled },
    ];
    const stream = await create({ destinationID: undefined, destinations: [{ destinationID }, both(false)[1]] });
    expect(stream).toMatchObject({ destinationIDs: [destinationID], destinations: both(false) });
    expect(await ada.call('DELETE', `/v1/destinations/${second}`)).toMatchObject({ status: 409 });
    const patch = async (fields: object) => (await ada.call('PATCH', `/v1/streams/${stream.id}`, fields)).body;
    expect(await patch({ destinations: both(true) })).toMatchObject({ destinationIDs: [destinationID, second] });
    expect(await patch({ destinations: both(false) })).toMatchObject({ destinations: both(false) });
    const query = `mutation ($input: StreamUpdateInput!) { updateStream(id: "${stream.id}", input: $input) {
      stream { destinationIDs destinations { destinationID enabled } } } }`;
    const { body } = await ada.call('POST', '/graphql', { query, variables: { input: { destinations: both(true) } } });
    expect(body.data).toEqual({
      updateStream: { stream: { destinationIDs: [destinationID, second], destinations: both(true) } },
    });
    await patch({ destinationIDs: [destinationID] });
    expect(await ada.call('DELETE', `/v1/destinations/${second}`)).toMatchObject({ status: 204 });
  });
});
