/** Tests POST /v1/playlists with `streamID`: the stream plays the new playlist, or no playlist remains. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { MAX_PLAYLISTS } from '../../../src/core/resources/stream/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type List, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { writeKubeconfig } from '../../kit/real/kube.ts';
import { call } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';

let started: StreamsApi;
beforeAll(async () => {
  started = await startStreamsApi();
});
afterAll(() => started?.api.stop());

const body = (kind: 'video' | 'audio', streamID?: string, name = 'Attached') => {
  const uploadObjectID = kind === 'video' ? started.videoUploadObjectID : started.audioUpload;
  return { name, kind, mode: 'sequential', items: [{ uploadObjectID }], ...(streamID !== undefined && { streamID }) };
};
const post = (kind: 'video' | 'audio', streamID: string, name?: string) =>
  started.ada.call('POST', '/v1/playlists', body(kind, streamID, name));
const playlists = async () => (await started.ada.call<List>('GET', '/v1/playlists?limit=100')).body.data;
const readStream = async (id: string) => (await started.ada.call('GET', `/v1/streams/${id}`)).body;
const refused = (message: string) => ({
  status: 422,
  body: { code: 'validation_failed', errors: [{ path: '/streamID', message }] },
});

describe('a new playlist for a stream', () => {
  test('takes the place of its video, comes after the playlists that it has, and is its sound when it is an audio one', async () => {
    const { ada, create } = started;
    const { id } = await create();
    const first = await post('video', id);
    expect(first).toMatchObject({ status: 201, body: { streamID: id } });
    expect(await readStream(id)).toMatchObject({ videoUploadObjectID: null, playlistIDs: [first.body.id] });
    const query = `mutation($input: PlaylistCreateInput!) { createPlaylist(input: $input) { playlist { id streamID } } }`;
    const { data } = await createQuery(ada)(query, { input: body('video', id) });
    const made = data?.createPlaylist as { playlist: Record<string, string> } | undefined;
    const second = made?.playlist.id;
    expect(made?.playlist.streamID).toBe(id);
    const sound = await post('audio', id);
    expect(await readStream(id)).toMatchObject({
      playlistIDs: [first.body.id, second],
      audioPlaylistIDs: [sound.body.id],
    });
    const listed = (await playlists()).filter(({ streamID }) => streamID === id).map((one) => one.id);
    expect(listed.sort()).toEqual([first.body.id, second, sound.body.id].sort());
    expect((await ada.call('DELETE', `/v1/playlists/${first.body.id}`)).body).toMatchObject({
      code: 'playlist_in_use',
      streamIDs: [id],
    });
  });

  test('survives concurrent requests, and is not made for a stream that has reached its limit', async () => {
    const { id } = await started.create();
    const made: unknown[] = [];
    for (let i = 0; i < MAX_PLAYLISTS; i += 4) {
      const four = await Promise.all(Array.from({ length: 4 }, () => post('video', id)));
      expect(four.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      made.push(...four.map((one) => one.body.id));
    }
    expect(((await readStream(id)).playlistIDs as string[]).sort()).toEqual(made.sort());
    const before = (await playlists()).length;
    expect(await post('video', id)).toMatchObject(refused(`names a stream that has ${MAX_PLAYLISTS} playlists`));
    expect((await playlists()).length).toBe(before);
    expect((await post('audio', id)).status).toBe(201);
  });

  test('is not made when there is no such stream, or it is another account’s, or on its way out', async () => {
    const { api, ada, eve, create } = started;
    const before = (await playlists()).length;
    const { id } = await create();
    const itsItem = await eve.call('POST', '/v1/uploads/from-link', {
      type: 'VIDEO',
      url: 'https://example.com/e.mp4',
    });
    const items = [{ uploadObjectID: itsItem.body.objectID }];
    for (const streamID of [id, 'str-none'])
      expect(await eve.call('POST', '/v1/playlists', { ...body('video', streamID), items })).toMatchObject(
        refused('names a stream that does not exist'),
      );
    const hold = (finalizers: string[]) =>
      api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { metadata: { finalizers } });
    await hold(['loopstream.dev/test']);
    await api.kube.delete(LOOPSTREAMS, NAMESPACE, id);
    await expect.poll(async () => (await readStream(id)).status).toBe('stopping');
    expect(await post('video', id)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await hold([]);
    expect((await playlists()).length).toBe(before);
    expect((await eve.call<List>('GET', '/v1/playlists')).body.data).toEqual([]);
    expect((await ada.call('GET', '/v1/playlists?limit=100')).status).toBe(200);
  });
});

/** Starts a replica with a way to Kubernetes that can fail. */
async function disturbed() {
  const { api, ada } = started;
  const proxy = await startFaultyProxy(api.kubernetes);
  const replica = await api.replica({ kubeconfig: await writeKubeconfig(join(tempDir(), 'config'), proxy.url) });
  onTestFinished(async () => {
    await replica.stop();
    await proxy.close();
  });
  const ask = (body: unknown, headers = {}) =>
    call<Record<string, unknown>>(`${replica.url}/v1/playlists`, 'POST', body, { 'x-api-key': ada.key, ...headers });
  return {
    proxy,
    ask,
    knows: (id: string) => call(`${replica.url}/v1/streams/${id}`, 'GET', undefined, { 'x-api-key': ada.key }),
  };
}

test('a playlist for a stream that was deleted meanwhile is removed again', async () => {
  const { id } = await started.create();
  const { proxy, ask, knows } = await disturbed();
  await expect.poll(async () => (await knows(id)).status).toBe(200);
  proxy.set('half-open');
  expect((await started.ada.call('DELETE', `/v1/streams/${id}`)).status).toBe(204);
  expect(await ask(body('video', id, 'Too late'))).toMatchObject(refused('names a stream that does not exist'));
  // Another server may know the new playlist, and not yet its removal: the test asks Kubernetes.
  const left = await started.api.kube.list(PLAYLISTS, { namespace: NAMESPACE });
  expect(left.filter(({ spec }) => spec.displayName === 'Too late')).toEqual([]);
});

test('a request whose first try got half of it done goes on where that one ended', async () => {
  const { id } = await started.create();
  const { proxy, ask, knows } = await disturbed();
  await expect.poll(async () => (await knows(id)).status).toBe(200);
  const key = { 'idempotency-key': 'attach' };
  proxy.set('write lost');
  expect(await ask(body('video', id, 'Once'), key)).toMatchObject({ status: 502 });
  proxy.set('none');
  const again = await ask(body('video', id, 'Once'), key);
  expect(again).toMatchObject({ status: 201, body: { streamID: id } });
  // The replica wrote both; another server shows them within a second, and not at once.
  const listShown = async () => (await playlists()).filter(({ name }) => name === 'Once').map((one) => one.id);
  await expect.poll(listShown).toEqual([again.body.id]);
  await expect.poll(async () => (await readStream(id)).playlistIDs).toEqual([again.body.id]);
});
