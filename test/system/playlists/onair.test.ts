/** Tests that the sources of a stream on air cannot be deleted, also when no client's object refers to them any more. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PODS } from '../../../src/core/kube/core.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import { PROGRAM_ANNOTATION, STREAM_LABEL } from '../../../src/core/resources/common/names.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import type { Playing, ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { Playlist } from '../../../src/service/domain/playlists/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';

let started: StreamsApi;
let api: TestApi;
let ada: Client;
beforeAll(async () => {
  started = await startStreamsApi();
  ({ api, ada } = started);
});
afterAll(() => api?.stop());

const upload = async (type = 'VIDEO'): Promise<string> =>
  String((await ada.call('POST', '/v1/uploads/from-link', { type, url: 'https://example.com/a.mp4' })).body.objectID);
const buildItems = (...ids: string[]) => ids.map((uploadObjectID) => ({ uploadObjectID }));
const makeList = async (kind: 'video' | 'audio', ...ids: string[]): Promise<Playlist> =>
  (await ada.call<Playlist>('POST', '/v1/playlists', { kind, mode: 'sequential', items: buildItems(...ids) })).body;

const track = (ids: string[]) => ({
  mode: 'sequential' as const,
  items: ids.map((id): ProgramItem => ({ id, name: id, rendition: `renditions/${id}.flv` })),
});
const playing = (video: string[], audio?: string[]): Playing => ({
  version: 1,
  profile: '720p30',
  video: track(video),
  ...(audio && { audio: track(audio) }),
});
const buildProgram = (playing: Playing): string =>
  JSON.stringify({
    ...playing,
    epoch: '2026-01-01T00:00:00Z',
    seed: 1,
    destinations: ['tv'],
  } satisfies Program);

/** Makes the pod that the operator would make for the stream. */
async function putOnAir(id: string, playing: Playing): Promise<void> {
  const name = `${id}-onair`;
  const annotations = { [PROGRAM_ANNOTATION]: buildProgram(playing) };
  const metadata = { name, namespace: NAMESPACE, labels: { [STREAM_LABEL]: id }, annotations };
  const spec = { containers: [{ name: 'streamer', image: 'none' }] };
  await api.kube.create(PODS, NAMESPACE, { metadata, spec } as never);
}
const patchPod = (id: string, playing: Playing) =>
  api.kube.mergePatch(PODS, NAMESPACE, `${id}-onair`, {
    metadata: { annotations: { [PROGRAM_ANNOTATION]: buildProgram(playing) } },
  });
/** Deletes the pod, as after the removal of the operator's finalizer. */
const losePod = (id: string) => api.kube.delete(PODS, NAMESPACE, `${id}-onair`, { gracePeriodSeconds: 0 });

const preparing = { type: 'MediaReady', reason: 'MediaPreparing', message: 'It is being prepared.' };
const keep = (id: string, playing: Playing) => api.observe(id, { phase: 'live', playing: playing }, [preparing]);
const forget = (id: string) =>
  api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { status: { playing: null } }, { subresource: 'status' });

const deleteUpload = (id: string) => ada.call('DELETE', `/v1/uploads/${id}`);
const inUse = (streamIDs: string[], playlistIDs: string[] = []) => ({
  status: 409,
  body: expect.objectContaining({ code: 'upload_in_use', streamIDs, playlistIDs }),
});
/** Retries until the watches have arrived: until then the refusal has another reason. */
const untilRefused = (id: string, ...by: Parameters<typeof inUse>) =>
  expect.poll(() => deleteUpload(id)).toMatchObject(inUse(...by));
const untilDeleted = (id: string) => expect.poll(async () => (await deleteUpload(id)).status).toBe(204);

describe('an upload that is on air', () => {
  test('is kept from when another version is published until the pod has taken that up', async () => {
    const [a, b] = [await upload(), await upload()];
    const list = await makeList('video', a);
    const { id } = await started.create({ videoUploadObjectID: undefined, playlistIDs: [list.id] });
    await putOnAir(id, playing([a]));
    await untilRefused(a, [id], [list.id]);
    await ada.call('PATCH', `/v1/playlists/${list.id}`, { version: 1, items: buildItems(b) });
    await ada.call('POST', `/v1/playlists/${list.id}/publish`, { version: 2 });
    // No list refers to it now, neither as it is nor as it is published.
    expect(await deleteUpload(a)).toMatchObject(inUse([id]));
    const { errors } = await createQuery(ada)(`mutation { deleteUpload(id: "${a}") { done } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'upload_in_use', streamIDs: [id], playlistIDs: [] } }]);
    await patchPod(id, playing([b]));
    await untilDeleted(a);
    await losePod(id);
  });

  test('is kept while its pod is lost and replaced, for as long as the stream will return with it', async () => {
    const [a, b, c, told] = [await upload(), await upload(), await upload('AUDIO'), await upload()];
    const list = await makeList('video', a, told);
    const { id } = await started.create({ videoUploadObjectID: undefined, playlistIDs: [list.id] });
    await putOnAir(id, playing([a, told], [c]));
    await untilRefused(told, [id], [list.id]);
    await ada.call('PATCH', `/v1/playlists/${list.id}`, { version: 1, items: buildItems(b) });
    await ada.call('POST', `/v1/playlists/${list.id}/publish`, { version: 2 });
    await keep(id, playing([a], [c]));
    await losePod(id);
    // The watch has reported the pod's end when the objects that only the pod named are free.
    await untilDeleted(told);
    for (const held of [a, c]) expect(await deleteUpload(held)).toMatchObject(inUse([id]));
    await forget(id);
    await untilDeleted(a);
    await untilDeleted(c);
  });

  test('is kept when its stream is given another one, or another quality', async () => {
    const [a, b, told] = [await upload(), await upload(), await upload()];
    const { id } = await started.create({ videoUploadObjectID: a });
    await putOnAir(id, playing([a, told]));
    // A list of no stream shows that the watch has reported the pod.
    const list = await makeList('video', told);
    await untilRefused(told, [id], [list.id]);
    const change = { videoUploadObjectID: b, quality: 'q_720p' };
    expect((await ada.call('PATCH', `/v1/streams/${id}`, change)).status).toBe(200);
    expect(await deleteUpload(a)).toMatchObject(inUse([id]));
    await patchPod(id, playing([b]));
    await untilDeleted(a);
    expect(await deleteUpload(b)).toMatchObject(inUse([id]));
    await losePod(id);
  });

  test('is kept when its list is exchanged and deleted: the list may go, its played items not', async () => {
    const [a, song] = [await upload(), await upload('AUDIO')];
    const [pictures, sound] = [await makeList('video', a), await makeList('audio', song)];
    const lists = { playlistIDs: [pictures.id], audioPlaylistIDs: [sound.id] };
    const { id } = await started.create({ videoUploadObjectID: undefined, ...lists });
    await putOnAir(id, playing([a], [song]));
    await untilRefused(a, [id], [pictures.id]);
    for (const list of [pictures, sound])
      expect(await ada.call('DELETE', `/v1/playlists/${list.id}`)).toMatchObject({
        status: 409,
        body: { code: 'playlist_in_use', streamIDs: [id] },
      });
    const change = { playlistIDs: [started.videoList], audioPlaylistIDs: [] };
    expect((await ada.call('PATCH', `/v1/streams/${id}`, change)).status).toBe(200);
    for (const list of [pictures, sound]) {
      expect((await ada.call('DELETE', `/v1/playlists/${list.id}`)).status).toBe(204);
    }
    for (const held of [a, song]) expect(await deleteUpload(held)).toMatchObject(inUse([id]));
    await patchPod(id, playing([started.videoUploadObjectID]));
    for (const held of [a, song]) await untilDeleted(held);
    await losePod(id);
  });
});

describe('a request that is sent again after the server that did it has died', () => {
  test('makes no version where others have written since: it is answered with the playlist as it is', async () => {
    const pool = new pg.Pool({ connectionString: api.databaseUrl, max: 1 });
    onTestFinished(() => pool.end());
    const [a, b] = [await upload(), await upload()];
    const { id } = await makeList('video', a);
    const path = `/v1/playlists/${id}`;
    const change = (version: number) => ada.call('PATCH', path, { version, items: buildItems(b) });
    await change(1);
    const requests = {
      rollback: { version: 1 },
      changes: { version: 3, changes: [{ op: 'insert', items: buildItems(b) }] },
    };
    let version = 2;
    for (const [action, body] of Object.entries(requests)) {
      const send = () => ada.call<Playlist>('POST', `${path}/${action}`, body, { 'idempotency-key': `dead-${action}` });
      version += 1;
      expect(await send()).toMatchObject({ status: 200, body: { version } });
      // The server died before it kept its answer.
      await pool.query('update loopstream.idempotency set status = null, claimed_until = now() where key = $1', [
        `dead-${action}`,
      ]);
      const between = { version, name: `after ${action}` };
      version += 1;
      expect(await ada.call('PATCH', path, between)).toMatchObject({ status: 200, body: { version } });
      expect(await send()).toMatchObject({ status: 200, body: { version, name: between.name } });
      requests.changes.version = version;
    }
    const { metadata } = await api.kube.get(PLAYLISTS, NAMESPACE, id);
    expect(metadata.generation).toBe(version);
  });
});
