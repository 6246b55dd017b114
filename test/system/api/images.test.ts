/** Tests that images are uploads that nothing plays, through every API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
});
afterAll(() => api?.stop());

const INPUT = { type: 'IMAGE', url: 'https://example.com/logo.png' };
async function make(): Promise<string> {
  const { status, body } = await ada.call('POST', '/v1/uploads/from-link', INPUT);
  expect({ status, body }).toMatchObject({ status: 201, body: { type: 'IMAGE', name: 'logo.png' } });
  return String(body.objectID);
}

describe('an image', () => {
  test('is imported from a link, in REST and GraphQL', async () => {
    const id = await make();
    expect((await api.kube.get(UPLOADS, NAMESPACE, id)).spec.track).toBe('image');
    const query = 'mutation($input: UploadFromLinkInput!) { createUploadFromLink(input: $input) { upload { type } } }';
    const { body } = await ada.call('POST', '/graphql', { query, variables: { input: INPUT } });
    expect(body).toEqual({ data: { createUploadFromLink: { upload: { type: 'IMAGE' } } } });
  });

  test('has no preview, and asks for none', async () => {
    const id = await make();
    const media = { sha256: 'a'.repeat(64), sizeBytes: 9, durationSeconds: 0 };
    const video = { codec: 'png', width: 9, height: 9, framerate: 0 };
    const status = { phase: 'ready', observedGeneration: 1, media: { ...media, video } };
    await api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
    const read = async () => (await ada.call('GET', `/v1/uploads/${id}`)).body;
    await until('the API sees it', async () => (await read()).state === 'ready');
    expect(await read()).toMatchObject({ video, durationSeconds: 0, preview: null });
    const refused = await ada.call('GET', `/v1/uploads/${id}/preview.flv`);
    expect(refused.body).toMatchObject({ code: 'upload_not_prepared', detail: expect.stringContaining('its poster') });
    expect((await api.kube.get(UPLOADS, NAMESPACE, id)).metadata.annotations ?? {}).toEqual(
      expect.not.objectContaining({ 'loopstream.dev/preview-asked': expect.anything() }),
    );
  });

  test('is no item of a playlist of either kind, and no video of a stream', async () => {
    const id = await make();
    const message = expect.stringMatching(/^names an upload that is an image.*upload it as a video\.$/);
    for (const kind of ['video', 'audio']) {
      const { status, body } = await ada.call('POST', '/v1/playlists', {
        kind,
        mode: 'sequential',
        items: [{ uploadObjectID: id }],
      });
      expect({ status, errors: body.errors }).toEqual({
        status: 422,
        errors: [{ path: '/items/0/uploadObjectID', message }],
      });
    }
    const input = { name: 'x', quality: '720p', framerate: 30, destinationID: 'dst-x', videoUploadObjectID: id };
    const { status, body } = await ada.call('POST', '/v1/streams', input);
    expect(status).toBe(422);
    expect(body.errors, JSON.stringify(body)).toContainEqual({ path: '/videoUploadObjectID', message });
  });
});
