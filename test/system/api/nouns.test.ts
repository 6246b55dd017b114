import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { SECRETS } from '../../../src/core/kube/core.ts';
import { PLATFORM_CODES } from '../../../src/core/lib/codes/platforms.ts';
import { UPLOAD_ERRORS } from '../../../src/core/lib/codes/uploads.ts';
import {
  RETRY_ANNOTATION,
  SECRET_FINALIZER,
  SECRET_VERSION_ANNOTATION,
} from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { posterKey } from '../../../src/core/resources/upload/poster.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { importContent } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { buildPlatformStatus } from '../../kit/make/platform-status.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';

type Item = Record<string, unknown> & { id: string; objectID: string };
type List = { data: Item[]; page: { hasMore: boolean; nextCursor: string | null } };

let api: TestApi;
let ada: Client;
let eve: Client;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
  eve = await api.client('eve');
});
afterAll(() => api?.stop());

const KEY = 'live-7f3k-secret-9z2q';
const target = { name: 'Home', rtmpUrl: 'rtmp://a.rtmp.example.com/live2', rtmpKey: KEY };

async function make(path: string, body: unknown, client = ada): Promise<Item> {
  const answer = await client.call<Item>('POST', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const { id, objectID } = answer.body;
  const collection = path.replace('/from-link', '');
  expect(answer.headers.get('location')).toBe(`${collection}/${id ?? objectID}`);
  return answer.body;
}
const link = (type = 'VIDEO') => make('/v1/uploads/from-link', { type, url: 'https://example.com/My%20clip.mp4' });
const stream = (more: Record<string, unknown>) =>
  make('/v1/streams', { name: 'S', quality: 'q_720p', framerate: 'f_30', ...more });
const decode = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();
const del = (path: string, client = ada) => client.call('DELETE', path);

describe('destinations', () => {
  test('keep the key in a Secret alone: answers, resource, status and database lack it', async () => {
    const made = await make('/v1/destinations', target);
    expect(made).toEqual({
      id: made.id,
      name: 'Home',
      rtmpUrl: target.rtmpUrl,
      url: target.rtmpUrl,
      rtmpKeyHint: '9z2q',
      keyHint: '9z2q',
      hasLogin: false,
      labels: {},
      leastBitrateKbps: null,
      lastTest: null,
      platform: null,
      platformLive: null,
      createdAt: expect.stringMatching(/Z$/),
    });
    expect(made.id).toMatch(/^dst-/);
    const resource = await api.kube.get(DESTINATIONS, NAMESPACE, made.id);
    const secret = await api.kube.get(SECRETS, NAMESPACE, made.id);
    expect(decode(secret.data?.rtmpKey)).toBe(KEY);
    // Restored under another UID, its owner would take it along.
    expect(secret.metadata.ownerReferences).toBeUndefined();
    expect(resource.metadata.finalizers).toEqual([SECRET_FINALIZER]);
    const list = await ada.call('GET', '/v1/destinations');
    for (const shown of [made, resource, list.body]) expect(JSON.stringify(shown)).not.toContain(KEY);
  });

  test('keep the token of a platform in a Secret of its own, which goes when the platform or the destination does', async () => {
    const refreshToken = '1//0-the-refresh-token';
    const platform = { kind: 'youtube', policy: 'Repair', refreshToken };
    const made = await make('/v1/destinations', { ...target, platform });
    const { id } = made;
    const patch = (body: unknown) => ada.call('PATCH', `/v1/destinations/${id}`, body);
    const findToken = () =>
      api.kube.get(SECRETS, NAMESPACE, `${id}-platform`).then(
        ({ data }) => data,
        () => undefined,
      );
    const resource = await api.kube.get(DESTINATIONS, NAMESPACE, id);
    expect(made).toMatchObject({
      platform: { kind: 'youtube', policy: 'Repair', url: null, channel: null, videoId: null, hasToken: true },
      platformLive: { status: 'unknown', code: 'not_checked' },
    });
    expect(resource.spec.platform).toEqual({ kind: 'youtube', policy: 'Repair', secretName: `${id}-platform` });
    for (const shown of [made, resource]) expect(JSON.stringify(shown)).not.toContain(refreshToken);
    expect(decode((await findToken())?.refreshToken)).toBe(refreshToken);
    const watched = await patch({ platform: { kind: 'youtube', videoId: 'https://youtu.be/aqz-KE-bpKQ' } });
    expect(watched.body.platform).toMatchObject({ policy: 'Observe', videoId: 'aqz-KE-bpKQ', hasToken: true });
    const tried = await ada.call('PATCH', `/v1/destinations/${id}?dryRun=true`, { platform: null });
    expect(tried.body).toMatchObject({ dryRun: true, platform: null });
    expect(await findToken()).toBeDefined();
    const changed = await patch({ platform: { kind: 'watch', url: 'https://cdn.example.com/live.m3u8' } });
    expect(changed.body).toMatchObject({
      streamIDs: [],
      platform: { url: 'https://cdn.example.com/live.m3u8', hasToken: false },
    });
    expect(await findToken()).toBeUndefined();
    await patch({ platform });
    expect(await findToken()).toBeDefined();
    expect((await del(`/v1/destinations/${id}`)).status).toBe(204);
    expect(await findToken()).toBeUndefined();
  });

  test('say what viewers see, with cause, fix and numbers, and let a stalled repair go on', async () => {
    const platform = { kind: 'youtube', policy: 'Repair', refreshToken: 'a-token' };
    const { id } = await make('/v1/destinations', { ...target, platform });
    const repair = { phase: 'stalled' as const, inserts: [], stalled: 'limit' as const };
    const issues = [{ code: 'keyframes_rare', severity: 'error' as const }];
    const status = buildPlatformStatus({ status: 'False', reason: 'broadcast_ended', viewers: 3, repair, issues });
    await api.kube.mergePatch(DESTINATIONS, NAMESPACE, id, { status }, { subresource: 'status' });
    const get = async () => (await ada.call<Item>('GET', `/v1/destinations/${id}`)).body;
    await expect.poll(get).toMatchObject({
      platformLive: {
        status: 'false',
        code: 'broadcast_ended',
        message: PLATFORM_CODES.broadcast_ended.meaning,
        fix: PLATFORM_CODES.broadcast_ended.fix,
        viewers: 3,
        issues: [{ code: 'keyframes_rare', severity: 'error', fix: expect.any(String) }],
        repairStalled: true,
      },
    });
    const graphql = await ada.call('POST', '/graphql', {
      query: `{ destination(id: "${id}") { platform { kind hasToken } platformLive { status code issues { severity } } } }`,
    });
    expect(graphql.body.data).toEqual({
      destination: {
        platform: { kind: 'youtube', hasToken: true },
        platformLive: { status: 'FALSE', code: 'broadcast_ended', issues: [{ severity: 'error' }] },
      },
    });
    const resumed = await ada.call('POST', `/v1/destinations/${id}/resume-repair`);
    expect(resumed).toMatchObject({ status: 200, body: { id, platformLive: { repairStalled: false } } });
    const { metadata } = await api.kube.get(DESTINATIONS, NAMESPACE, id);
    expect(metadata.annotations?.[RETRY_ANNOTATION]).toMatch(/^20.+ try-/);
    const elsewhere = { kind: 'watch', url: 'https://cdn.example.com/live.m3u8' };
    expect((await ada.call('PATCH', `/v1/destinations/${id}`, { name: 'Same view' })).body).toMatchObject({
      platformLive: { status: 'false' },
    });
    expect((await ada.call('PATCH', `/v1/destinations/${id}`, { platform: elsewhere })).body).toMatchObject({
      platformLive: { status: 'unknown', code: 'not_checked', viewers: null },
    });
    const again = await ada.call('POST', `/v1/destinations/${id}/resume-repair`);
    expect(again).toMatchObject({ status: 409, body: { code: 'repair_not_stalled' } });
  });

  test('are changed by GraphQL as by REST, with the field of a mistake', async () => {
    const { id } = await make('/v1/destinations', target);
    const change = async (platform: string) =>
      (
        await ada.call('POST', '/graphql', {
          query: `mutation { updateDestination(id: "${id}", input: { platform: ${platform} }) { destination { platform { kind url } } } }`,
        })
      ).body;
    const shown = (platform: unknown) => ({ data: { updateDestination: { destination: { platform } } } });
    const url = 'https://cdn.example.com/live.m3u8';
    expect(await change(`{ kind: watch, url: "${url}", channel: null }`)).toMatchObject(shown({ kind: 'watch', url }));
    expect(JSON.stringify(await change('{ kind: twitch }'))).toContain('/input/platform/channel');
    expect(await change('{ kind: none }')).toMatchObject(shown(null));
  });

  test('the API server has no right to read Secrets', async () => {
    const kube = createKube({ kubeconfig: api.config.kubeconfig });
    const { id } = await make('/v1/destinations', target);
    await expect(kube.get(SECRETS, NAMESPACE, id)).rejects.toMatchObject({ status: 403 });
    await expect(kube.list(SECRETS, { namespace: NAMESPACE })).rejects.toMatchObject({ status: 403 });
    await kube.close();
  });

  test('pass a change to the Secret and trigger a reconcile; a new name alone does not', async () => {
    const { id } = await make('/v1/destinations', target);
    const patch = async (body: unknown) => (await ada.call('PATCH', `/v1/destinations/${id}`, body)).body;
    expect(await patch({ rtmpKey: 'another-key-5678' })).toMatchObject({
      rtmpUrl: target.rtmpUrl,
      rtmpKeyHint: '5678',
    });
    const { data } = await api.kube.get(SECRETS, NAMESPACE, id);
    expect([decode(data?.rtmpUrl), decode(data?.rtmpKey)]).toEqual([target.rtmpUrl, 'another-key-5678']);
    const versionNow = async () =>
      (await api.kube.get(DESTINATIONS, NAMESPACE, id)).metadata.annotations?.[SECRET_VERSION_ANNOTATION];
    const version = await versionNow();
    expect(version).toBeTypeOf('string');
    expect(await patch({ name: 'Renamed' })).toMatchObject({ name: 'Renamed', rtmpKeyHint: '5678' });
    expect(await versionNow()).toBe(version);
    await patch({ rtmpUrl: 'rtmps://b.example.com/app' });
    expect(await versionNow()).not.toBe(version);
  });

  test('are made and changed by url and key as by rtmpUrl and rtmpKey; two that differ are refused, and no key is shown', async () => {
    const { name, rtmpUrl: url, rtmpKey: key } = target;
    const made = await make('/v1/destinations', { name, url, key });
    expect(made).toMatchObject({ rtmpUrl: url, url, rtmpKeyHint: '9z2q', keyHint: '9z2q' });
    const readSecret = async () => {
      const { data } = await api.kube.get(SECRETS, NAMESPACE, made.id);
      return [decode(data?.rtmpUrl), decode(data?.rtmpKey), Object.keys(data ?? {}).length];
    };
    expect(await readSecret()).toEqual([url, key, 2]);
    const patch = (body: unknown) => ada.call('PATCH', `/v1/destinations/${made.id}`, body);
    const answers = [
      await patch({ key: 'another-key-5678' }),
      // A client can send back the record that it read. One value under both names is one.
      await patch({ url, rtmpUrl: url, rtmpKey: 'another-key-5678', key: 'another-key-5678' }),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { keyHint: '5678' } });
    // A client that sends it back with one name of the URL changed means that one.
    expect((await patch({ url, rtmpUrl: `${url}/2` })).body).toMatchObject({ url: `${url}/2`, rtmpUrl: `${url}/2` });
    expect((await patch({ url, rtmpUrl: `${url}/2` })).body).toMatchObject({ url, rtmpUrl: url });
    expect(await readSecret()).toEqual([url, 'another-key-5678', 2]);
    const mutation = `mutation ($id: ID!, $key: String!) {
      updateDestination(id: $id, input: { key: $key }) { destination { url keyHint } } }`;
    const graphql = await ada.call('POST', '/graphql', { query: mutation, variables: { id: made.id, key } });
    expect(graphql.body).toEqual({ data: { updateDestination: { destination: { url, keyHint: '9z2q' } } } });

    const differs = { message: expect.stringMatching(/^differs from rtmp(Url|Key), which is the same field/) };
    const refusals = [
      [
        await patch({ url: `${url}/y`, rtmpUrl: `${url}/x`, key, rtmpKey: 'other' }),
        ['/url', '/key'].map((path) => ({ path, ...differs })),
      ],
      [await patch({ url: 'http://example.com' }), [expect.objectContaining({ path: '/url' })]],
      [await patch({ key: `${key} with spaces` }), [expect.objectContaining({ path: '/key' })]],
      [await ada.call('POST', '/v1/destinations', { name, key }), [{ path: '/rtmpUrl', message: 'is required' }]],
    ] as const;
    for (const [refused, errors] of refusals)
      expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed', errors } });
    for (const { body } of [...answers, graphql, ...refusals.map(([refused]) => refused)])
      expect(JSON.stringify(body)).not.toContain(key);
    expect(await readSecret()).toEqual([url, key, 2]);
  });

  test('a least bitrate of its own is in the resource, of 0 to 50,000 kbit/s; -1 and null give it back to the platform', async () => {
    const { id, leastBitrateKbps } = await make('/v1/destinations', { ...target, leastBitrateKbps: 3000 });
    expect(leastBitrateKbps).toBe(3000);
    const patch = (body: unknown) => ada.call('PATCH', `/v1/destinations/${id}`, body);
    const readSpec = async () => (await api.kube.get(DESTINATIONS, NAMESPACE, id)).spec;
    expect(await readSpec()).toMatchObject({ leastBitrateKbps: 3000 });
    for (const wrong of [-2, 50_001, 1.5, '3000'])
      expect(await patch({ leastBitrateKbps: wrong })).toMatchObject({
        status: 422,
        body: { errors: [{ path: '/leastBitrateKbps' }] },
      });
    expect((await patch({ leastBitrateKbps: 0 })).body).toMatchObject({ leastBitrateKbps: 0, takesOffAir: false });
    const query = `mutation { updateDestination(id: "${id}", input: { leastBitrateKbps: -1 }) {
      destination { leastBitrateKbps } } }`;
    const { body } = await ada.call('POST', '/graphql', { query });
    expect(body).toEqual({ data: { updateDestination: { destination: { leastBitrateKbps: null } } } });
    expect(await readSpec()).not.toHaveProperty('leastBitrateKbps');
  });

  test('a login goes into the Secret, from its fields or out of the URL, and an empty one ends it', async () => {
    const rtmpUrl = 'rtmp://ada:p%40ss@a.rtmp.example.com/live2';
    const made = await make('/v1/destinations', { ...target, rtmpUrl });
    expect(made).toMatchObject({ rtmpUrl: target.rtmpUrl, hasLogin: true });
    const secret = async () => {
      const { data = {} } = await api.kube.get(SECRETS, NAMESPACE, made.id);
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)]));
    };
    const kept = { rtmpUrl: target.rtmpUrl, rtmpKey: KEY };
    expect(await secret()).toEqual({ ...kept, rtmpUser: 'ada', rtmpPassword: 'p@ss' });
    const patch = (body: unknown) => ada.call('PATCH', `/v1/destinations/${made.id}`, body);
    expect((await patch({ rtmpPassword: 'other' })).body).toMatchObject({ hasLogin: true });
    expect(await secret()).toEqual({ ...kept, rtmpUser: 'ada', rtmpPassword: 'other' });
    expect((await patch({ rtmpUser: '' })).body).toMatchObject({ hasLogin: false });
    expect(await secret()).toEqual({ ...kept, rtmpUser: '', rtmpPassword: '' });
    const half = await patch({ rtmpUser: 'ada' });
    expect(half).toMatchObject({ status: 422, body: { errors: [{ path: '/rtmpPassword' }] } });
  });

  test('a Secret that someone removed is made again when URL and key are both given', async () => {
    const { id } = await make('/v1/destinations', target);
    await api.kube.delete(SECRETS, NAMESPACE, id);
    const patch = (body: unknown) => ada.call('PATCH', `/v1/destinations/${id}`, body);
    expect((await patch({ rtmpKey: 'new-key-12345' })).body.code).toBe('conflict');
    expect((await patch({ rtmpKey: 'new-key-12345', rtmpUrl: target.rtmpUrl })).status).toBe(200);
    expect(decode((await api.kube.get(SECRETS, NAMESPACE, id)).data?.rtmpKey)).toBe('new-key-12345');
  });

  test.each([
    ['http://example.com/live', /rtmp:\/\//],
    ['rtmp://user:word@example.com/live/{app}', /placeholder/],
    ['not a url', /must be a URL/],
    ['rtmp://exa mple/live', /./],
  ])('%s is refused as rtmpUrl', async (rtmpUrl, message) => {
    const { status, body } = await ada.call('POST', '/v1/destinations', { ...target, rtmpUrl });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { errors: [{ path: '/rtmpUrl', message: expect.stringMatching(message) }] },
    });
    expect(JSON.stringify(body)).not.toContain('word@');
  });

  test('cannot be deleted while a stream sends to one, and the error names the streams', async () => {
    const { id: destinationID } = await make('/v1/destinations', target);
    const { objectID: videoUploadObjectID } = await link();
    const { id } = await stream({ destinationID, videoUploadObjectID });
    const refused = await del(`/v1/destinations/${destinationID}`);
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 409,
      body: { code: 'destination_in_use', streamIDs: [id] },
    });
    await del(`/v1/streams/${id}`);
    expect((await del(`/v1/destinations/${destinationID}`)).status).toBe(204);
    expect((await del(`/v1/destinations/${destinationID}`)).body.code).toBe('destination_not_found');
    await expect(api.kube.get(SECRETS, NAMESPACE, destinationID)).rejects.toMatchObject({ status: 404 });
  });

  test('when the Secret cannot be written, nothing is left behind', async () => {
    // A quota of the present number of Secrets makes Kubernetes refuse the next one.
    const quotas = { group: '', version: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true };
    const quota = { metadata: { name: 'no-secrets' }, spec: { hard: { secrets: '0' } } };
    const before = (await ada.call<List>('GET', '/v1/destinations?limit=100')).body.data.length;
    await api.kube.create(quotas, NAMESPACE, quota);
    await expect.poll(async () => (await ada.call('POST', '/v1/destinations', target)).status).toBe(502);
    await api.kube.delete(quotas, NAMESPACE, 'no-secrets');
    const after = (await ada.call<List>('GET', '/v1/destinations?limit=100')).body.data;
    expect(after.filter(({ rtmpUrl }) => rtmpUrl === '')).toEqual([]);
    expect(after.length).toBeGreaterThanOrEqual(before);
  });
});

describe('uploads', () => {
  test('a link becomes an upload that is importing, named after the file', async () => {
    const made = await link();
    expect(made).toEqual({
      id: made.objectID,
      objectID: made.objectID,
      type: 'VIDEO',
      name: 'My clip.mp4',
      fromLink: true,
      state: 'importing',
      progress: 0,
      sizeBytes: null,
      durationSeconds: null,
      video: null,
      audio: null,
      tracks: null,
      declaredTracks: [],
      moreTracks: 0,
      loudness: null,
      sounds: [],
      cards: [],
      looks: [],
      labels: {},
      overlays: 'SHOWN',
      title: null,
      artist: null,
      album: null,
      isrc: null,
      label: null,
      license: null,
      licenseUrl: null,
      posterUrl: null,
      preview: null,
      quarantine: null,
      warnings: [],
      error: null,
      waiting: null,
      createdAt: expect.stringMatching(/Z$/),
    });
    expect((await api.kube.get(UPLOADS, NAMESPACE, made.objectID)).spec).toEqual({
      displayName: 'My clip.mp4',
      track: 'video',
      source: { url: 'https://example.com/My%20clip.mp4' },
      accountMaxBytes: 2 ** 40,
      maxDurationSeconds: 86_400,
    });
  });

  test('state, media and error come from the resource, and the error says how to mend it', async () => {
    const { objectID } = await link();
    const media = {
      sha256: 'a'.repeat(64),
      sizeBytes: 1_055_736,
      durationSeconds: 5.3,
      video: { codec: 'h264', width: 1280, height: 720, framerate: 25 },
      audio: { codec: 'aac', sampleRate: 48_000, channels: 6 },
    };
    await api.observeUpload(objectID, { phase: 'ready', progress: 1, media });
    const read = async () => (await ada.call('GET', `/v1/uploads/${objectID}`)).body;
    await expect.poll(async () => (await read()).state).toBe('ready');
    expect(await read()).toMatchObject({ sizeBytes: 1_055_736, video: media.video, audio: media.audio, error: null });
    const error = { code: 'link_unreachable' as const, message: 'The link answered 404.' };
    await api.observeUpload(objectID, { phase: 'failed', error });
    const { fix } = UPLOAD_ERRORS.link_unreachable;
    await expect.poll(async () => (await read()).error).toEqual({ ...error, fix });
  });

  test.each([
    [{ type: 'VIDEO', url: 'ftp://example.com/a.mp4' }, '/url'],
    [{ type: 'VIDEO', url: 'file:///etc/passwd' }, '/url'],
    [{ type: 'VIDEO', url: 'https://u:p@example.com/a.mp4' }, '/url'],
    [{ type: 'VIDEO', url: 'nope' }, '/url'],
    [{ type: 'VIDEO' }, '/url'],
    [{ type: 'FONT', url: 'https://example.com/a.ttf' }, '/type'],
    [{ url: 'https://example.com/a.png' }, '/type'],
    [{ type: 'VIDEO', url: `https://example.com/${'a'.repeat(5000)}` }, '/url'],
  ])('%j is refused', async (body, path) => {
    const answer = await ada.call<{ errors: { path: string }[] }>('POST', '/v1/uploads/from-link', body);
    expect(answer.status).toBe(422);
    expect(answer.body.errors.map((error) => error.path)).toEqual([path]);
  });

  test('cannot be deleted while a stream or a playlist plays one', async () => {
    const { objectID } = await link();
    const { id: destinationID } = await make('/v1/destinations', target);
    const items = [{ uploadObjectID: objectID }];
    const { id: playlist } = await make('/v1/playlists', { kind: 'video', mode: 'sequential', items });
    const { id } = await stream({ destinationID, videoUploadObjectID: objectID });
    const { status, body } = await del(`/v1/uploads/${objectID}`);
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { code: 'upload_in_use', streamIDs: [id], playlistIDs: [playlist] },
    });
    await del(`/v1/streams/${id}`);
    await del(`/v1/playlists/${playlist}`);
    expect((await del(`/v1/uploads/${objectID}`)).status).toBe(204);
  });
});

describe('playlists', () => {
  test('have the fields of the contract, items in order, and belong to no stream at first', async () => {
    const [a, b] = [await link(), await link('AUDIO')];
    const items = [{ uploadObjectID: b.objectID }, { uploadObjectID: a.objectID }];
    const made = await make('/v1/playlists', { name: 'Mix', kind: 'audio', mode: 'shuffle', items });
    const summary = {
      id: made.id,
      name: 'Mix',
      kind: 'audio',
      mode: 'shuffle',
      streamID: '',
      version: 1,
      publishedVersion: 1,
      labels: {},
      posterUrl: null,
    };
    const publication = {
      version: 1,
      state: 'preparing',
      progress: 0,
      itemsReady: 0,
      itemsFailed: 0,
      itemsTotal: 2,
    };
    const unruled = { notWithin: { sameArtist: 0 }, rules: [] };
    expect(made).toEqual({ ...summary, createdAt: expect.stringMatching(/Z$/), items, ...unruled, publication });
    const { body } = await ada.call<List>('GET', '/v1/playlists?limit=1');
    expect(body.data).toEqual([{ ...summary, createdAt: made.createdAt }]);
    expect((await ada.call('GET', `/v1/playlists/${made.id}`)).body).toEqual(made);
  });

  test('an audio file has no place in a video playlist, nor has one that does not exist', async () => {
    const { objectID } = await link('AUDIO');
    const items = [{ uploadObjectID: objectID }, { uploadObjectID: 'upl-none' }];
    const { body } = await ada.call('POST', '/v1/playlists', { kind: 'video', mode: 'sequential', items });
    expect(body).toMatchObject({
      errors: [{ path: '/items/0/uploadObjectID' }, { path: '/items/1/uploadObjectID' }],
    });
  });
});

describe('pictures', () => {
  test('of its media are in each list of streams and playlists, in REST and GraphQL, as soon as the upload has one', async () => {
    const { objectID } = await link();
    const { id: destinationID } = await make('/v1/destinations', target);
    const list = { kind: 'video', mode: 'sequential', items: [{ uploadObjectID: objectID }] };
    const { id: playlistID } = await make('/v1/playlists', list);
    const ids = [
      (await stream({ destinationID, videoUploadObjectID: objectID })).id,
      (await stream({ destinationID, playlistIDs: [playlistID] })).id,
    ];
    const readAll = async (path: string) => (await ada.call<List>('GET', path)).body.data;
    const read = async () => [
      ...(await readAll('/v1/streams')).filter(({ id }) => ids.includes(id)).map(({ posterUrl }) => posterUrl),
      ...(await readAll('/v1/playlists')).filter(({ id }) => id === playlistID).map(({ posterUrl }) => posterUrl),
    ];
    expect(await read()).toEqual([null, null, null]);
    const { uid } = (await api.kube.get(UPLOADS, NAMESPACE, objectID)).metadata;
    const media = { sha256: 'a'.repeat(64), sizeBytes: 1, durationSeconds: 1 };
    await api.observeUpload(objectID, { phase: 'ready', media, poster: posterKey(importContent(uid), 'video') });
    const readUpload = async () => (await ada.call('GET', `/v1/uploads/${objectID}`)).body.posterUrl;
    await expect.poll(readUpload).not.toBeNull();
    const posterUrl = await readUpload();
    expect(await read()).toEqual([posterUrl, posterUrl, posterUrl]);
    const query =
      '{ streams(first: 2) { edges { node { posterUrl } } } playlists(first: 1) { edges { node { posterUrl } } } }';
    const node = { node: { posterUrl } };
    expect((await ada.call('POST', '/graphql', { query })).body).toEqual({
      data: { streams: { edges: [node, node] }, playlists: { edges: [node] } },
    });
  });
});

describe('another account', () => {
  test('finds no destination, upload or playlist of it', async () => {
    const dst = await make('/v1/destinations', target);
    const upl = await link();
    const items = [{ uploadObjectID: upl.objectID }];
    const pls = await make('/v1/playlists', { kind: 'video', mode: 'sequential', items });
    for (const [method, path, code] of [
      ['GET', `/v1/destinations/${dst.id}`, 'destination_not_found'],
      ['DELETE', `/v1/destinations/${dst.id}`, 'destination_not_found'],
      ['GET', `/v1/uploads/${upl.objectID}`, 'upload_not_found'],
      ['DELETE', `/v1/uploads/${upl.objectID}`, 'upload_not_found'],
      ['GET', `/v1/playlists/${pls.id}`, 'playlist_not_found'],
      ['DELETE', `/v1/playlists/${pls.id}`, 'playlist_not_found'],
    ] as const) {
      const { status, body } = await eve.call(method, path);
      expect({ path, status, code: body.code }).toEqual({ path, status: 404, code });
    }
    const patch = await eve.call('PATCH', `/v1/destinations/${dst.id}`, { rtmpKey: 'stolen-key-1' });
    expect(patch.status).toBe(404);
    for (const path of ['destinations', 'uploads', 'playlists'])
      expect((await eve.call<List>('GET', `/v1/${path}`)).body.data).toEqual([]);
  });
});

describe('GraphQL', () => {
  type Result = { data?: Record<string, unknown>; errors?: { message: string; extensions: { code: string } }[] };
  const ask = async (query: string, variables?: Record<string, unknown>, client = ada) =>
    (await client.call<Result>('POST', '/graphql', { query, variables })).body;

  test('me and the lists match REST, as Relay connections', async () => {
    const { id: destinationID } = await make('/v1/destinations', target);
    const { objectID: videoUploadObjectID } = await link();
    for (const name of ['One', 'Two', 'Three']) await stream({ name, destinationID, videoUploadObjectID });
    const { data, errors } = await ask(`{
      me { id email firstName }
      streams(first: 2) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id name state createdAt } } }
      destinations { totalCount edges { node { id rtmpKeyHint } } }
      uploads(first: 1) { edges { node { objectID state } } }
      playlists { edges { node { id version } } }
    }`);
    expect(errors).toBeUndefined();
    expect(data?.me).toMatchObject({ email: 'ada@example.com', firstName: 'ada' });
    type Streams = { pageInfo: { hasNextPage: boolean; endCursor: string }; edges: { node: { name: string } }[] };
    const first = data?.streams as Streams;
    expect(first.edges.map(({ node }) => node.name)).toEqual(['Three', 'Two']);
    expect(first.pageInfo.hasNextPage).toBe(true);
    const after = first.pageInfo.endCursor;
    const query =
      'query($after: Cursor, $where: StreamWhereInput) { streams(after: $after, where: $where) { totalCount edges { node { name } } } }';
    const next = (await ask(query, { after })).data?.streams as Streams;
    expect(next.edges[0]?.node.name).toBe('One');
    const where = { state: { in: ['idle', 'live'] }, name: { contains: 'tw' } };
    expect((await ask(query, { where })).data?.streams).toMatchObject({
      totalCount: 1,
      edges: [{ node: { name: 'Two' } }],
    });
    expect((await ask(query, { where: { state: { eq: 'live' } } })).data?.streams).toMatchObject({ totalCount: 0 });
  });

  test('errors have the codes of REST, and another account finds nothing', async () => {
    const { id: destinationID } = await make('/v1/destinations', target);
    const { objectID: videoUploadObjectID } = await link();
    const { id } = await stream({ destinationID, videoUploadObjectID });
    const query = 'query($id: ID!) { stream(id: $id) { id name ready destinationIDs } }';
    expect((await ask(query, { id })).data?.stream).toMatchObject({
      id,
      ready: false,
      destinationIDs: [destinationID],
    });
    const code = async (text: string, variables?: Record<string, unknown>, client = ada) =>
      (await ask(text, variables, client)).errors?.[0]?.extensions.code;
    expect(await code(query, { id }, eve)).toBe('stream_not_found');
    expect(await code('{ streams(after: "x") { totalCount } }')).toBe('validation_failed');
    expect(await code('{ streams(first: 1000) { totalCount } }')).toBe('validation_failed');
    expect(await code('{ nothing }')).toBe('validation_failed');
    expect(await code('{')).toBe('validation_failed');
  });

  test('introspection is on; depth, tokens and root fields have limits', async () => {
    const { data } = await ask('{ __schema { queryType { fields { name } } types { name } } }');
    expect(JSON.stringify(data)).toContain('StreamConnection');
    const many = Array.from({ length: 21 }, (_, i) => `a${i}: me { id }`).join(' ');
    const deep = `{ __schema { types ${'{ fields { type '.repeat(10)} { name } ${'} }'.repeat(10)} } }`;
    for (const query of [
      `{ ${many} }`,
      `{ ...A } fragment A on Query { ${many} }`,
      deep,
      `{ ${'me { id } '.repeat(1000)} }`,
    ])
      expect((await ask(query)).errors?.[0]?.extensions.code).toBe('validation_failed');
  });
});

test('objects that kubectl makes with the account’s label are shown like all others', async () => {
  const { id: destinationID } = await make('/v1/destinations', target);
  const made = {
    apiVersion: 'loopstream.dev/v1beta1',
    kind: 'LoopStream',
    metadata: { name: 'by-hand', namespace: NAMESPACE, labels: { 'loopstream.dev/account': ada.accountId } },
    spec: { uploadName: 'some', destinationNames: [destinationID] },
  };
  await api.kube.create(LOOPSTREAMS, NAMESPACE, made as never);
  await expect.poll(async () => (await ada.call('GET', '/v1/streams/by-hand')).status).toBe(200);
  expect((await ada.call('GET', '/v1/streams/by-hand')).body).toMatchObject({ name: 'by-hand', quality: 'q_1080p' });
});
