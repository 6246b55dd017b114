/** Tests the words about an upload, of its file and of its owner, through every API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import type { Upload } from '../../../src/service/domain/uploads/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
});
afterAll(() => api?.stop());

const LINK = { type: 'AUDIO', url: 'https://example.com/song.mp3' };
const make = async (more: object = {}) => {
  const { status, body } = await ada.call('POST', '/v1/uploads/from-link', { ...LINK, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body as unknown as Upload;
};
const read = async (id: string) => (await ada.call('GET', `/v1/uploads/${id}`)).body as unknown as Upload;
const change = (id: string, tags: object) => ada.call('PATCH', `/v1/uploads/${id}`, tags);
const stored = async (id: string) => (await api.kube.get(UPLOADS, NAMESPACE, id)).spec.tags;

/** Writes what an import has found, in the operator's place. */
async function importTags(id: string, tags: object) {
  const status = { phase: 'ready', observedGeneration: 1, media: { ...MEDIA, tags } };
  await api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
  await until('the API sees it', async () => (await read(id)).state === 'ready');
}

const NONE = { title: null, artist: null, album: null, isrc: null, label: null, license: null, licenseUrl: null };
const RIGHTS = { isrc: 'USRC17607839', label: 'Lab', license: 'CC BY 4.0', licenseUrl: 'https://example.com/by' };

describe('the tags of an upload', () => {
  test('are those of the file until the owner says otherwise, and again afterwards', async () => {
    const { objectID, ...made } = await make();
    expect(made).toMatchObject(NONE);
    await importTags(objectID, { title: 'track01', artist: 'Ada' });
    expect(await read(objectID)).toMatchObject({ ...NONE, title: 'track01', artist: 'Ada' });
    const { status, body } = await change(objectID, { title: 'Song', ...RIGHTS });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ title: 'Song', artist: 'Ada', album: null, ...RIGHTS });
    expect(await stored(objectID)).toEqual({ title: 'Song', ...RIGHTS });
    expect((await change(objectID, { title: null, label: '' })).body).toMatchObject({ title: 'track01', label: null });
    expect(await read(objectID)).toMatchObject({ title: 'track01', artist: 'Ada', label: null, license: 'CC BY 4.0' });
  });

  test('are given with a link, and kept without what nobody sees', async () => {
    const { objectID, ...made } = await make({ title: ' \u202eSong\n', isrc: 'us-rc1-76-07839', album: null });
    expect(made).toMatchObject({ ...NONE, title: 'Song', isrc: 'USRC17607839' });
    expect(await stored(objectID)).toEqual({ title: 'Song', isrc: 'USRC17607839' });
  });

  test.each([
    [{ isrc: 'US-1' }, '/isrc'],
    [{ licenseUrl: 'javascript:alert(1)' }, '/licenseUrl'],
    [{ licenseUrl: 'https://ada:secret@example.com/' }, '/licenseUrl'],
    [{ title: 'x'.repeat(257) }, '/title'],
    [{ artist: 1 }, '/artist'],
  ])('are refused with 422 where they are no such value: %j', async (tags, path) => {
    const { objectID } = await make();
    const { status, body } = await change(objectID, tags);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'validation_failed' });
    expect(JSON.stringify(body.errors)).toContain(path);
    expect((await ada.call('POST', '/v1/uploads/from-link', { ...LINK, ...tags })).status).toBe(422);
    expect(await stored(objectID)).toBeUndefined();
  });

  test('are changed by GraphQL, where an empty text takes a word away', async () => {
    const { objectID } = await make({ title: 'Song' });
    const query = `mutation ($id: ID!, $title: String!) {
      updateUpload(id: $id, input: { title: $title, artist: "Ada" }) { upload { title artist licenseUrl } }
    }`;
    const { body } = await ada.call('POST', '/graphql', { query, variables: { id: objectID, title: '' } });
    expect(body).toMatchObject({
      data: { updateUpload: { upload: { title: null, artist: 'Ada', licenseUrl: null } } },
    });
    expect(await stored(objectID)).toEqual({ artist: 'Ada' });
  });

  test('are refused by Kubernetes itself where they cannot be', async () => {
    const { objectID } = await make();
    const patch = (tags: object) => api.kube.mergePatch(UPLOADS, NAMESPACE, objectID, { spec: { tags } });
    await expect(patch({ licenseUrl: 'ftp://example.com' })).rejects.toThrow(/licenseUrl/);
    await expect(patch({ isrc: 'x' })).rejects.toThrow(/isrc/);
    await expect(patch({ title: 'x'.repeat(257) })).rejects.toThrow(/title/);
  });
});
