/** Tests scenes, overlays that streams share by name, through REST and GraphQL. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import { SCENES } from '../../../src/core/resources/scene/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { type Stream, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { until } from '../../kit/wait.ts';

interface Scene {
  id: string;
  version: number;
  layers: { text: string | null }[];
  streamIDs: string[];
  storageBytes?: number;
  code?: string;
  errors?: { path: string; message: string }[];
}

let started: StreamsApi;
beforeAll(async () => {
  started = await startStreamsApi();
});
afterAll(() => started?.api.stop());

const LAYERS = [{ text: '{{item.title}}' }];
const make = async (more: object = {}): Promise<Scene> => {
  const { status, body } = await started.ada.call<Scene>('POST', '/v1/scenes', {
    name: 'Evening',
    layers: LAYERS,
    ...more,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
const read = async (id: string) => (await started.ada.call<Scene>('GET', `/v1/scenes/${id}`)).body;
const patch = (id: string, body: object, query = '') =>
  started.ada.call<Scene>('PATCH', `/v1/scenes/${id}${query}`, body);
const patchStream = (id: string, overlays: object | null) =>
  started.ada.call<Stream & Scene>('PATCH', `/v1/streams/${id}`, { overlays });

test('a scene is made, read, listed, changed and deleted', async () => {
  const scene = await make({ required: true });
  expect(scene).toMatchObject({ name: 'Evening', version: 1, required: true, streamIDs: [] });
  expect(scene.layers).toMatchObject([{ text: '{{item.title}}', anchor: 'BottomRight', sizePercent: 5, show: null }]);
  expect((await started.api.kube.get(SCENES, NAMESPACE, scene.id)).spec).toMatchObject({ displayName: 'Evening' });
  expect(await read(scene.id)).toEqual(scene);
  const { body } = await started.ada.call<{ data: Scene[] }>('GET', '/v1/scenes?q=even&limit=1');
  expect(body.data).toEqual([scene]);
  const changed = await patch(scene.id, { version: 1, name: 'Night', layers: [{ text: 'On air' }] });
  expect(changed.body).toMatchObject({ name: 'Night', version: 2, layers: [{ text: 'On air' }], required: true });
  expect(await read(scene.id)).toMatchObject({ name: 'Night', version: 2 });
  expect((await started.ada.call('DELETE', `/v1/scenes/${scene.id}`)).status).toBe(204);
  expect((await started.ada.call('GET', `/v1/scenes/${scene.id}`)).body).toMatchObject({ code: 'scene_not_found' });
});

test('a change for an earlier version is refused, and one that is sent twice is made once', async () => {
  const { id } = await make();
  const first = await patch(id, { version: 1, name: 'Night' });
  expect((await patch(id, { version: 1, name: 'Night' })).body).toMatchObject({ version: 2, storageBytes: 0 });
  expect(first.body.version).toBe(2);
  const late = await patch(id, { version: 1, name: 'Morning' });
  expect([late.status, late.body]).toMatchObject([409, { code: 'scene_version_conflict', currentVersion: 2 }]);
  expect(await read(id)).toMatchObject({ name: 'Night', version: 2 });
});

test('mistakes in layers are named at their place, as those of a stream', async () => {
  const refuse = async (layer: object) =>
    (await started.ada.call<Scene>('POST', '/v1/scenes', { name: 'Evening', layers: [layer] })).body.errors?.[0]?.path;
  expect(await refuse({ text: '{{next.title}}' })).toBe('/layers/0/text');
  expect(await refuse({ anchor: 'Top' })).toBe('/layers/0');
  expect(await refuse({ imageUploadObjectID: 'upl-none' })).toBe('/layers/0/imageUploadObjectID');
  const none = await started.ada.call<Scene>('POST', '/v1/scenes', { name: 'Evening', layers: [] });
  expect(none.body.errors?.[0]?.path).toBe('/layers');
});

test('a stream names a scene in place of layers, which keeps the scene, and layers take its place again', async () => {
  const scene = await make();
  const { id, overlays } = await started.create({ overlays: { sceneID: scene.id } });
  const byScene = { layers: [], sceneID: scene.id, required: false };
  expect(overlays).toEqual(byScene);
  expect((await started.resource(id)).spec.overlays).toEqual({ sceneName: scene.id });
  await until('the scene knows it', async () => (await read(scene.id)).streamIDs.includes(id));
  const kept = await started.ada.call('DELETE', `/v1/scenes/${scene.id}`);
  expect([kept.status, kept.body]).toMatchObject([409, { code: 'scene_in_use', streamIDs: [id] }]);
  expect((await patchStream(id, { layers: LAYERS })).body.overlays).toMatchObject({ sceneID: null, layers: LAYERS });
  expect((await started.resource(id)).spec.overlays).not.toHaveProperty('sceneName');
  expect((await patchStream(id, byScene)).body.overlays).toEqual(byScene);
  expect((await started.resource(id)).spec.overlays).toEqual({ sceneName: scene.id });
  expect((await patchStream(id, null)).body.overlays).toBeNull();
  const remove = async () => (await started.ada.call('DELETE', `/v1/scenes/${scene.id}`)).status;
  await until('it can be deleted', async () => (await remove()) === 204);
});

test('a stream cannot have both, nor a scene of nobody or of another account', async () => {
  const { id } = await started.create();
  const scene = await make();
  const foreign = await started.eve.call<Scene>('POST', '/v1/scenes', { name: 'Hers', layers: LAYERS });
  const refuse = async (overlays: object) => {
    const { status, body } = await patchStream(id, overlays);
    return [status, ...(body.errors ?? []).map(({ path }) => path)];
  };
  expect(await refuse({ layers: LAYERS, sceneID: scene.id })).toEqual([422, '/overlays']);
  expect(await refuse({ sceneID: scene.id, required: true })).toEqual([422, '/overlays/required']);
  for (const sceneID of ['scn-none', foreign.body.id])
    expect(await refuse({ sceneID })).toEqual([422, '/overlays/sceneID']);
  expect(await refuse({})).toEqual([422, '/overlays/layers']);
});

test('its picture is kept while the scene shows it', async () => {
  const link = { type: 'IMAGE', url: 'https://example.com/logo.png' };
  const logo = String((await started.ada.call('POST', '/v1/uploads/from-link', link)).body.objectID);
  const { id } = await make({ layers: [{ imageUploadObjectID: logo }] });
  const held = await started.ada.call('DELETE', `/v1/uploads/${logo}`);
  expect([held.status, held.body]).toMatchObject([409, { code: 'upload_in_use', streamIDs: [], sceneIDs: [id] }]);
  await started.ada.call('DELETE', `/v1/scenes/${id}`);
  const remove = async () => (await started.ada.call('DELETE', `/v1/uploads/${logo}`)).status;
  await until('it can be deleted', async () => (await remove()) === 204);
});

test('its picture is kept also for a scene of kubectl, which streams of the namespace may show', async () => {
  const link = { type: 'IMAGE', url: 'https://example.com/logo.png' };
  const logo = String((await started.ada.call('POST', '/v1/uploads/from-link', link)).body.objectID);
  const layer = { imageUploadName: logo, anchor: 'Top' as const, marginPercent: 4, opacityPercent: 100 };
  const metadata = { name: 'by-hand' };
  const spec = { displayName: 'By hand', layers: [layer] };
  const kind = { apiVersion: `${SCENES.group}/${SCENES.version}`, kind: SCENES.kind };
  await started.api.kube.create(SCENES, NAMESPACE, { ...kind, metadata, spec });
  // The account does not see it. A later one that it sees comes by the same watch.
  const later = { name: 'by-hand-later', labels: { [ACCOUNT_LABEL]: started.ada.accountId } };
  await started.api.kube.create(SCENES, NAMESPACE, {
    ...kind,
    metadata: later,
    spec: { layers: [{ text: 'On air', anchor: 'Top' as const, marginPercent: 4, opacityPercent: 100 }] },
  });
  await until(
    'the later one is known',
    async () => (await started.ada.call('GET', `/v1/scenes/${later.name}`)).status === 200,
  );
  const remove = () => started.ada.call('DELETE', `/v1/uploads/${logo}`);
  expect((await remove()).body).toMatchObject({ sceneIDs: ['by-hand'], detail: expect.stringContaining('"By hand"') });
  await started.api.kube.delete(SCENES, NAMESPACE, 'by-hand');
  await until('it can be deleted', async () => (await remove()).status === 204);
});

test('a clone of a stream shows the scene of its origin', async () => {
  const scene = await make();
  const { id } = await started.create({ overlays: { sceneID: scene.id } });
  const clone = await started.ada.call<Stream>('POST', `/v1/streams/${id}/clone`, {});
  expect(clone.body.overlays).toMatchObject({ sceneID: scene.id, layers: [] });
  expect((await started.resource(clone.body.id)).spec.overlays).toEqual({ sceneName: scene.id });
  await until('both are known', async () => (await read(scene.id)).streamIDs.length === 2);
});

test('a change tells what it takes for all streams of the scene, what they share once, and a dry run changes nothing', async () => {
  const SECONDS = 3600;
  const LOOK_BYTES = SECONDS * (6000 + 160) * 125;
  const link = { type: 'VIDEO', url: 'https://example.com/film.mp4' };
  const film = String((await started.ada.call('POST', '/v1/uploads/from-link', link)).body.objectID);
  const status = { phase: 'ready', observedGeneration: 1, media: { ...MEDIA, durationSeconds: SECONDS } };
  await started.api.kube.mergePatch(UPLOADS, NAMESPACE, film, { status }, { subresource: 'status' });
  await until('it is ready', async () => (await started.ada.call('GET', `/v1/uploads/${film}`)).body.state === 'ready');
  const scene = await make();
  const wish = { videoUploadObjectID: film, overlays: { sceneID: scene.id } };
  const ids = [await started.create(wish), await started.create({ ...wish, name: 'Other' })].map(({ id }) => id);
  await until('the scene knows both', async () => (await read(scene.id)).streamIDs.length === 2);
  const ask = async (text: string) =>
    (await patch(scene.id, { version: 1, layers: [{ text }] }, '?dryRun=true')).body.storageBytes;
  expect(await ask('On air')).toBe(LOOK_BYTES);
  expect(await ask('{{stream.name}}')).toBe(2 * LOOK_BYTES);
  expect(await ask('{{item.title}}')).toBe(0);
  expect(await read(scene.id)).toMatchObject({ version: 1, streamIDs: ids.toSorted() });
});

test('GraphQL has them too', async () => {
  const ask = async (query: string, variables: object = {}) =>
    (await started.ada.call<{ data: Record<string, unknown> }>('POST', '/graphql', { query, variables })).body.data;
  const made = await ask(
    'mutation ($input: SceneCreateInput!) { createScene(input: $input) { scene { id version layers { text anchor } } } }',
    { input: { name: 'Evening', layers: [{ text: 'On air', anchor: 'Top' }] } },
  );
  const { id } = (made.createScene as { scene: Scene }).scene;
  expect(made).toEqual({ createScene: { scene: { id, version: 1, layers: [{ text: 'On air', anchor: 'Top' }] } } });
  const stream = (await started.create({ overlays: { sceneID: id } })).id;
  await until('the scene knows it', async () => (await read(id)).streamIDs.includes(stream));
  const query = `query ($id: ID!, $stream: ID!) { scene(id: $id) { name streamIDs } stream(id: $stream) { overlays { sceneID } }
    node(id: $id) { id } scenes(first: 1) { edges { node { id } } } }`;
  expect(await ask(query, { id, stream })).toEqual({
    scene: { name: 'Evening', streamIDs: [stream] },
    stream: { overlays: { sceneID: id } },
    node: { id },
    scenes: { edges: [{ node: { id } }] },
  });
});
