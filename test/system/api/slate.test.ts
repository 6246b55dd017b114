/** Tests the slate of a stream, through every API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { type Stream, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { until } from '../../kit/wait.ts';

let started: StreamsApi;
beforeAll(async () => {
  started = await startStreamsApi();
});
afterAll(() => started?.api.stop());

const patch = (id: string, slateUploadObjectID: string | null, query = '') =>
  started.ada.call<Stream>('PATCH', `/v1/streams/${id}${query}`, { slateUploadObjectID });
const makeUpload = async (type: string, client = started.ada) => {
  const link = { type, url: 'https://example.com/soon.png' };
  return String((await client.call('POST', '/v1/uploads/from-link', link)).body.objectID);
};

test('a slate is an upload with a still picture, which is kept while a stream names it, and null removes it', async () => {
  const image = await makeUpload('IMAGE');
  const { id, slateUploadObjectID } = await started.create({ slateUploadObjectID: image });
  expect(slateUploadObjectID).toBe(image);
  expect((await started.resource(id)).spec.slate).toEqual({ uploadName: image });
  const held = await started.ada.call('DELETE', `/v1/uploads/${image}`);
  expect(held.body).toMatchObject({ code: 'upload_in_use', streamIDs: [id] });
  expect((await patch(id, null)).body.slateUploadObjectID).toBeNull();
  expect((await started.resource(id)).spec).not.toHaveProperty('slate');
  const remove = async () => (await started.ada.call('DELETE', `/v1/uploads/${image}`)).status;
  await until('it can be deleted', async () => (await remove()) === 204);
  expect((await started.create({ slateUploadObjectID: null })).slateUploadObjectID).toBeNull();
});

test('a video, a sound, and what the account does not have are refused by name', async () => {
  const { id } = await started.create();
  const video = await makeUpload('VIDEO');
  const status = { phase: 'ready', observedGeneration: 1, media: MEDIA };
  await started.api.kube.mergePatch(UPLOADS, NAMESPACE, video, { status }, { subresource: 'status' });
  const read = async () => (await started.ada.call('GET', `/v1/uploads/${video}`)).body.state;
  await until('the API sees the video', async () => (await read()) === 'ready');
  const refuse = async (upload: string) => {
    const { status, body } = await patch(id, upload);
    return [status, body.errors];
  };
  const at = (message: string) => [422, [{ path: '/slateUploadObjectID', message }]];
  expect(await refuse(video)).toEqual(at('names a video: a still picture is needed, such as a PNG'));
  expect(await refuse(started.audioUpload)).toEqual(at('names an upload of type AUDIO'));
  expect(await refuse(await makeUpload('IMAGE', started.eve))).toEqual(at('names an upload that does not exist'));
});

test('GraphQL sets, reads and removes it, and a dry run tells what it takes of the storage', async () => {
  const image = await makeUpload('IMAGE');
  const { id } = await started.create();
  const tried = await patch(id, image, '?dryRun=true');
  expect(tried.body).toMatchObject({ slateUploadObjectID: image, dryRun: true });
  const { storageBytes } = tried.body as { storageBytes?: number };
  expect(storageBytes).toBe(1_000_000);
  const query = `mutation ($id: ID!, $upload: ID) { updateStream(id: $id, input: { slateUploadObjectID: $upload }) {
    stream { slateUploadObjectID } } }`;
  const set = async (upload: string | null) =>
    (await started.ada.call('POST', '/graphql', { query, variables: { id, upload } })).body;
  expect(await set(image)).toEqual({ data: { updateStream: { stream: { slateUploadObjectID: image } } } });
  expect(await set(null)).toEqual({ data: { updateStream: { stream: { slateUploadObjectID: null } } } });
});
