/** Tests the choice of tracks through every API: what reaches the operator, and what is refused. */
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import type { TrackChoice } from '../../../src/core/resources/upload/spec.ts';
import type { Upload } from '../../../src/service/domain/uploads/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { parseUploadId, tusWire } from '../../kit/make/tus-wire.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const dir = tempDir();
let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi({ storageUrl: pathToFileURL(dir).href });
  ada = await api.client('ada');
});
afterAll(() => api?.stop());

const LINK = { type: 'VIDEO', url: 'https://example.com/film.mkv' };
const make = async (more: object = {}) => {
  const { status, body } = await ada.call('POST', '/v1/uploads/from-link', { ...LINK, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body as unknown as Upload;
};
const read = async (id: string) => (await ada.call('GET', `/v1/uploads/${id}`)).body as unknown as Upload;
const choose = (id: string, tracks: unknown) => ada.call('PATCH', `/v1/uploads/${id}`, { tracks });
const stored = async (id: string) => (await api.kube.get(UPLOADS, NAMESPACE, id)).spec.tracks;

/** Writes what an import has found, in the operator's place. */
async function importTracks(id: string) {
  const tracks = [
    { index: 0, kind: 'video', codec: 'h264', automatic: true },
    { index: 1, kind: 'audio', codec: 'aac', language: 'eng', channels: 2, automatic: true },
    { index: 2, kind: 'audio', codec: 'aac', language: 'deu', title: 'Deutsch', channels: 2 },
    { index: 3, kind: 'audio', codec: 'apac', unplayable: true },
  ];
  const status = { phase: 'ready', observedGeneration: 1, media: { ...MEDIA, tracks } };
  await api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
  await until('the API sees it', async () => (await read(id)).declaredTracks.length === 4);
}

describe('the tracks of an upload', () => {
  test('are chosen with its link, and again by an edit that replaces the choice', async () => {
    const { objectID, tracks } = await make({ tracks: { audio: 1, audioRight: 2 } });
    expect(tracks).toEqual({ video: null, audio: 1, audioRight: 2 });
    expect(await stored(objectID)).toEqual({ audio: 1, audioRight: 2 });
    const { status, body } = await choose(objectID, { video: 0, audio: 2 });
    expect(status).toBe(200);
    expect(body.tracks).toEqual({ video: 0, audio: 2, audioRight: null });
    expect(await stored(objectID)).toEqual({ video: 0, audio: 2 });
    expect((await choose(objectID, {})).body.tracks).toBeNull();
    expect(await stored(objectID)).toBeUndefined();
  });

  test('are listed as the import has found them', async () => {
    const { objectID, declaredTracks } = await make();
    expect(declaredTracks).toEqual([]);
    await importTracks(objectID);
    const { declaredTracks: found, moreTracks } = await read(objectID);
    expect(moreTracks).toBe(0);
    expect(found.slice(2)).toEqual([
      {
        index: 2,
        kind: 'AUDIO',
        codec: 'aac',
        language: 'deu',
        title: 'Deutsch',
        channels: 2,
        playable: true,
        automatic: false,
      },
      {
        index: 3,
        kind: 'AUDIO',
        codec: 'apac',
        language: null,
        title: null,
        channels: null,
        playable: false,
        automatic: false,
      },
    ]);
  });

  test.each([
    [{ audio: 9 }, 'It has no audio track 9. Choose one of its audio tracks 1, 2.'],
    [{ audio: 3 }, 'Its audio track 3 (apac) cannot be decoded.'],
    [{ audioRight: 1 }, 'must be given together with audio'],
    [{ audio: -1 }, '0'],
    [{ audio: 1.5 }, 'whole number'],
    [{ sound: 1 }, 'sound'],
  ])('are refused with 422 where the file cannot serve %j', async (tracks, words) => {
    const { objectID } = await make();
    await importTracks(objectID);
    const { status, body } = await choose(objectID, tracks);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'validation_failed' });
    expect(JSON.stringify(body)).toContain(words);
    expect(await stored(objectID)).toBeUndefined();
  });

  test('are chosen by GraphQL', async () => {
    const { objectID } = await make();
    const query = `mutation ($id: ID!, $tracks: UploadTracksInput!) {
      updateUpload(id: $id, input: { tracks: $tracks }) { upload { tracks { video audio } declaredTracks { index kind } } }
    }`;
    const { body } = await ada.call('POST', '/graphql', { query, variables: { id: objectID, tracks: { audio: 2 } } });
    expect(body).toMatchObject({ data: { updateUpload: { upload: { tracks: { video: null, audio: 2 } } } } });
    expect(await stored(objectID)).toEqual({ audio: 2 });
  });

  test('are chosen with the metadata of a file that a client sends', async () => {
    const wire = tusWire(api.url, ada);
    const begin = (metadata: Record<string, string>) =>
      wire.create({ 'Upload-Length': '5' }, { type: 'VIDEO', ...metadata });
    const made = await begin({ audioTrack: '2', videoTrack: '0' });
    expect(made.status).toBe(201);
    expect(await stored(parseUploadId(made))).toEqual({ video: 0, audio: 2 });
    expect((await begin({ audioTrack: 'two' })).status).toBe(422);
    expect((await begin({ audioRightTrack: '2' })).status).toBe(422);
  });

  test('are refused by Kubernetes itself where they cannot be', async () => {
    const { objectID } = await make();
    const patch = (tracks: TrackChoice | Record<string, unknown>) =>
      api.kube.mergePatch(UPLOADS, NAMESPACE, objectID, { spec: { tracks } });
    await expect(patch({ audioRight: 1 })).rejects.toMatchObject({ status: 422 });
    await expect(patch({ audio: 'two' })).rejects.toMatchObject({ status: 422 });
    expect((await patch({ audio: 2 })).spec.tracks).toEqual({ audio: 2 });
  });
});
