import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONTROLLER_REVISIONS } from '../../../src/core/kube/core.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type {
  Playlist,
  PlaylistDiff,
  PlaylistVersion,
  PlaylistVersionSummary,
} from '../../../src/service/domain/playlists/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type Answer, type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';

type List = { data: PlaylistVersionSummary[]; page: { hasMore: boolean; nextCursor: string | null } };

let api: TestApi;
let ada: Client;
/** The objectIDs of three videos and a sound. */
let videos: string[];
let sound: string;

const upload = async (type = 'VIDEO'): Promise<string> => {
  const body = { type, url: 'https://example.com/clip.mp4' };
  return (await ada.call<{ objectID: string }>('POST', '/v1/uploads/from-link', body)).body.objectID;
};
const items = (...ids: string[]) => ids.map((uploadObjectID) => ({ uploadObjectID }));
const getItems = (playlist: { items: { uploadObjectID: string }[] }) =>
  playlist.items.map((item) => item.uploadObjectID);
const make = async (...ids: string[]): Promise<Playlist> => {
  const body = { kind: 'video', mode: 'sequential', items: items(...ids) };
  const made = await ada.call<Playlist>('POST', '/v1/playlists', body);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
};
const post = <T = Playlist>(id: string, action: string, body: unknown): Promise<Answer<T>> =>
  ada.call<T>('POST', `/v1/playlists/${id}/${action}`, body);
const append = (id: string, version: number, ...ids: string[]) =>
  post(id, 'changes', { version, changes: [{ op: 'insert', items: items(...ids) }] });
const read = async (id: string): Promise<Playlist> => (await ada.call<Playlist>('GET', `/v1/playlists/${id}`)).body;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
  videos = [await upload(), await upload(), await upload()];
  sound = await upload('AUDIO');
});
afterAll(() => api?.stop());

describe('a batch of changes', () => {
  test('is one version: all of it, or none', async () => {
    const [a = '', b = '', c = ''] = videos;
    const { id, version, publishedVersion } = await make(a);
    expect([version, publishedVersion]).toEqual([1, 1]);
    const changes = [
      { op: 'insert', items: items(b, c) },
      { op: 'move', from: 0, to: 2 },
    ];
    const changed = await post(id, 'changes', { version, changes });
    expect(changed.status).toBe(200);
    expect([changed.body.version, getItems(changed.body)]).toEqual([2, [b, c, a]]);
    // The version that streams play is independent.
    expect(changed.body.publishedVersion).toBe(1);
    const refused = await post<{ errors: unknown }>(id, 'changes', {
      version: 2,
      changes: [
        { op: 'remove', index: 0 },
        { op: 'insert', items: items(sound) },
        { op: 'remove', index: 9 },
      ],
    });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toMatchObject([{ path: '/changes/1/items/0/uploadObjectID' }]);
    const tooFar = await post<{ errors: unknown }>(id, 'changes', {
      version: 2,
      changes: [
        { op: 'remove', index: 0 },
        { op: 'remove', index: 2 },
      ],
    });
    expect(tooFar.body.errors).toEqual([{ path: '/changes/1/index', message: expect.stringContaining('1 or less') }]);
    expect(await read(id)).toEqual(changed.body);
  });

  test('of fifty that are sent at once for each version, over two replicas, exactly one wins, and no version is left out', async () => {
    const other = await api.replica();
    const { id } = await make(videos[0] ?? '');
    const send = (version: number, writer: number) => {
      const body = { version, name: `writer ${writer} of version ${version}` };
      if (writer % 2 === 0) return ada.call<Playlist>('PATCH', `/v1/playlists/${id}`, body);
      return call<Playlist>(`${other.url}/v1/playlists/${id}`, 'PATCH', body, { 'x-api-key': ada.key });
    };
    for (let version = 1; version <= 4; version += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, writer) => send(version, writer)));
      const won = answers.filter(({ status }) => status === 200);
      expect(won.map(({ body }) => (body as Playlist).version)).toEqual([version + 1]);
      const lost = answers.filter(({ status }) => status !== 200);
      for (const { status, body } of lost) {
        expect({ status, body }).toMatchObject({
          status: 409,
          body: { code: 'playlist_version_conflict', currentVersion: version + 1 },
        });
      }
      expect((await read(id)).name).toBe(won[0]?.body.name);
    }
    const { body } = await ada.call<List>('GET', `/v1/playlists/${id}/versions`);
    expect(body.data.map(({ version }) => version)).toEqual([5, 4, 3, 2, 1]);
    await other.stop();
  });

  test('for a version other than the current one is refused with the current one, also for a future version', async () => {
    const { id } = await make(videos[0] ?? '');
    await append(id, 1, videos[1] ?? '');
    for (const version of [1, 7])
      expect((await append(id, version, videos[2] ?? '')).body).toMatchObject({
        code: 'playlist_version_conflict',
        currentVersion: 2,
      });
  });

  test('a label that someone else sets in between is no conflict', async () => {
    const { id } = await make(videos[0] ?? '');
    const label = (value: number) =>
      api.kube.mergePatch(PLAYLISTS, NAMESPACE, id, { metadata: { labels: { 'example.com/touched': `${value}` } } });
    const [answer] = await Promise.all([append(id, 1, videos[1] ?? ''), label(1), label(2)]);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.version).toBe(2);
  });
});

describe('history', () => {
  test('every version can be read, compared, and taken again as a new one', async () => {
    const [a = '', b = '', c = ''] = videos;
    const { id } = await make(a, b);
    await append(id, 1, c);
    await ada.call('PATCH', `/v1/playlists/${id}`, { version: 2, mode: 'shuffle', items: items(c) });
    const page = await ada.call<List>('GET', `/v1/playlists/${id}/versions?limit=2`);
    expect(page.body.data.map(({ version, itemCount, mode }) => [version, itemCount, mode])).toEqual([
      [3, 1, 'shuffle'],
      [2, 3, 'sequential'],
    ]);
    const rest = await ada.call<List>('GET', `/v1/playlists/${id}/versions?cursor=${page.body.page.nextCursor}`);
    expect(rest.body.data.map(({ version, published }) => [version, published])).toEqual([[1, true]]);
    expect(rest.body.page).toEqual({ hasMore: false, nextCursor: null });
    const second = await ada.call<PlaylistVersion>('GET', `/v1/playlists/${id}/versions/2`);
    expect(getItems(second.body)).toEqual([a, b, c]);
    const diff = await ada.call<PlaylistDiff>('GET', `/v1/playlists/${id}/versions/3/diff?from=1`);
    expect(diff.body).toEqual({
      from: 1,
      to: 3,
      notWithin: null,
      rules: null,
      mode: 'shuffle',
      changes: [
        { op: 'remove', index: 0, count: 2 },
        { op: 'insert', index: 0, items: items(c) },
      ],
    });
    const back = await post(id, 'rollback', { version: 1 });
    expect([back.body.version, back.body.mode, getItems(back.body)]).toEqual([4, 'sequential', [a, b]]);
    for (const path of ['versions/9', 'versions/9/diff'])
      expect((await ada.call('GET', `/v1/playlists/${id}/${path}`)).body).toMatchObject({
        status: 404,
        code: 'playlist_version_not_found',
      });
    expect((await post(id, 'publish', { version: 9 })).body).toMatchObject({ code: 'playlist_version_not_found' });
  });

  test('fifty are kept beside the current one, the published one for ever, and none outlives its playlist', async () => {
    const { id } = await make(videos[0] ?? '');
    for (let version = 1; version <= 53; version += 1)
      await ada.call('PATCH', `/v1/playlists/${id}`, { version, name: `version ${version + 1}` });
    const { body } = await ada.call<List>('GET', `/v1/playlists/${id}/versions?limit=100`);
    expect(body.data.map(({ version }) => version)).toEqual(Array.from({ length: 50 }, (_, i) => 54 - i));
    expect((await read(id)).publication).toMatchObject({ version: 1, itemsTotal: 1 });
    const labelSelector = `loopstream.dev/playlist=${(await api.kube.get(PLAYLISTS, NAMESPACE, id)).metadata.uid}`;
    const listRevisions = () => api.kube.list(CONTROLLER_REVISIONS, { namespace: NAMESPACE, labelSelector });
    expect((await listRevisions())[0]?.metadata.ownerReferences).toBeUndefined();
    expect((await ada.call('DELETE', `/v1/playlists/${id}`)).status).toBe(204);
    expect(await listRevisions()).toEqual([]);
    await expect(api.kube.get(PLAYLISTS, NAMESPACE, id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('a published version', () => {
  test('is an immutable copy: streams play it, its uploads stay, and the progress of missing ones is shown', async () => {
    const [a = '', b = ''] = [await upload(), await upload()];
    const { id } = await make(a);
    const stream = {
      name: 'S',
      quality: 'q_720p',
      framerate: 'f_30',
      destinationID: await destination(),
      playlistIDs: [id],
    };
    const made = await ada.call<{ id: string }>('POST', '/v1/streams', stream);
    expect(made.status).toBe(201);
    await ada.call('PATCH', `/v1/playlists/${id}`, { version: 1, items: items(b) });
    // One is on air, the other follows.
    for (const held of [a, b])
      expect((await ada.call('DELETE', `/v1/uploads/${held}`)).body).toMatchObject({
        code: 'upload_in_use',
        playlistIDs: [id],
      });
    const sha256 = 'a'.repeat(64);
    const media = { sha256, sizeBytes: 1, durationSeconds: 2 };
    const rendition = { profile: '720p30', state: 'ready', key: `renditions/${sha256}/video-720p30.flv` } as const;
    await api.observeUpload(a, { phase: 'ready', media, renditions: [rendition] });
    await api.observeUpload(b, { phase: 'preparing', progress: 0.5, media });
    const published = await post(id, 'publish', { version: 2 });
    expect(published.body).toMatchObject({ publishedVersion: 2, version: 2 });
    await expect
      .poll(async () => (await read(id)).publication)
      .toEqual({
        version: 2,
        state: 'preparing',
        itemsReady: 0,
        itemsFailed: 0,
        itemsTotal: 1,
        progress: 0.5,
      });
    await api.observeUpload(b, { phase: 'ready', media, renditions: [rendition] });
    await expect.poll(async () => (await read(id)).publication).toMatchObject({ state: 'ready', progress: 1 });
    // Nothing plays the first any more; the version with it can no longer be published.
    expect((await ada.call('DELETE', `/v1/uploads/${a}`)).status).toBe(204);
    for (const action of ['publish', 'rollback'])
      expect((await post(id, action, { version: 1 })).body).toMatchObject({
        code: 'playlist_not_playable',
        detail: 'Version 1 has 1 items whose uploads no longer exist.',
      });
    expect((await ada.call('DELETE', `/v1/playlists/${id}`)).body).toMatchObject({ code: 'playlist_in_use' });
    await api.kube.delete(LOOPSTREAMS, NAMESPACE, made.body.id);
  });

  test('an empty version is not put on air; a playlist made with kubectl is played as it is until one is', async () => {
    const { id } = await make(videos[0] ?? '');
    await ada.call('PATCH', `/v1/playlists/${id}`, { version: 1, items: [] });
    expect((await post(id, 'publish', { version: 2 })).body).toMatchObject({ code: 'playlist_not_playable' });
    const made = await api.kube.create(PLAYLISTS, NAMESPACE, {
      apiVersion: 'loopstream.dev/v1beta1',
      kind: 'Playlist',
      metadata: { name: 'by-hand', labels: { 'loopstream.dev/account': ada.accountId } },
      spec: { track: 'video', mode: 'shuffle', items: [{ uploadName: videos[0] ?? '' }] },
    });
    await expect
      .poll(() => read('by-hand'))
      .toMatchObject({
        version: 1,
        publishedVersion: null,
        publication: { version: null, itemsTotal: 1 },
      });
    expect((await append('by-hand', 1, videos[1] ?? '')).body).toMatchObject({
      version: 2,
      publication: { itemsTotal: 2 },
    });
    expect((await post('by-hand', 'publish', { version: 1 })).body).toMatchObject({ publishedVersion: 1 });
    await api.kube.delete(PLAYLISTS, NAMESPACE, made.metadata.name);
  });

  test('five hundred items are taken, one more is not', async () => {
    const many = Array.from({ length: 500 }, (_, i) => videos[i % 3] ?? '');
    const { id } = await make(...many);
    expect((await read(id)).items).toHaveLength(500);
    expect((await append(id, 1, videos[0] ?? '')).body).toMatchObject({ errors: [{ path: '/changes/0/items' }] });
    const shorter = await post(id, 'changes', { version: 1, changes: [{ op: 'remove', index: 250 }] });
    expect(shorter.body.items).toHaveLength(499);
    expect((await post(id, 'publish', { version: 2 })).body).toMatchObject({ publishedVersion: 2 });
  });
});

describe('GraphQL', () => {
  test('makes, publishes and lists versions as REST does, and names the field of an impossible change', async () => {
    const ask = createQuery(ada);
    const [a = '', b = ''] = videos;
    const { id } = await make(a);
    const change = `mutation ($id: ID!, $input: PlaylistChangesInput!) {
      changePlaylist(id: $id, input: $input) { playlist { version publishedVersion items { uploadObjectID } } }
    }`;
    const input = { version: 1, changes: [{ insert: { items: items(b) } }, { move: { from: 1, to: 0 } }] };
    expect(await ask(change, { id, input })).toEqual({
      data: { changePlaylist: { playlist: { version: 2, publishedVersion: 1, items: items(b, a) } } },
    });
    expect((await ask(change, { id, input })).errors).toMatchObject([
      { extensions: { code: 'playlist_version_conflict', currentVersion: 2 } },
    ]);
    const late = { version: 2, changes: [{ remove: { index: 2 } }] };
    expect((await ask(change, { id, input: late })).errors).toMatchObject([
      { extensions: { code: 'validation_failed', errors: [{ path: '/input/changes/0/index' }] } },
    ]);
    const publish =
      'mutation ($id: ID!) { publishPlaylist(id: $id, version: 2) { playlist { publication { version state } } } }';
    expect((await ask(publish, { id })).data).toMatchObject({
      publishPlaylist: { playlist: { publication: { version: 2 } } },
    });
    const told = await ask(
      `query ($id: ID!) {
        playlistVersions(id: $id, first: 1) { totalCount edges { node { version published itemCount } } }
        playlistDiff(id: $id, version: 2) { from to changes { op index items { uploadObjectID } } }
      }`,
      { id },
    );
    expect(told.data).toEqual({
      playlistVersions: { totalCount: 2, edges: [{ node: { version: 2, published: true, itemCount: 2 } }] },
      playlistDiff: { from: 1, to: 2, changes: [{ op: 'insert', index: 0, items: items(b) }] },
    });
  });
});

async function destination(): Promise<string> {
  const body = { name: 'D', rtmpUrl: 'rtmp://a.example.com/live', rtmpKey: 'a-key-of-the-test' };
  return (await ada.call<{ id: string }>('POST', '/v1/destinations', body)).body.id;
}
