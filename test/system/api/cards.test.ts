/** Tests the cards of the songs of a stream, through every API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { cardProfile } from '../../../src/core/resources/upload/card.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { renditionKey } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { type Stream, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { until } from '../../kit/wait.ts';

let started: StreamsApi;
let songs: { audioPlaylistIDs: string[] };
beforeAll(async () => {
  started = await startStreamsApi();
  songs = { audioPlaylistIDs: [started.audioList] };
});
afterAll(() => started?.api.stop());

const patch = (id: string, body: object, query = '') =>
  started.ada.call<Stream>('PATCH', `/v1/streams/${id}${query}`, body);
const makeUpload = async (type = 'IMAGE', client = started.ada) => {
  const link = { type, url: 'https://example.com/sky.png' };
  return String((await client.call('POST', '/v1/uploads/from-link', link)).body.objectID);
};

test('cards come with songs, a picture of the owner is kept while they show it, and null removes both', async () => {
  const image = await makeUpload();
  const { id, cards } = await started.create({ ...songs, cards: { imageUploadObjectID: image } });
  expect(cards).toEqual({ imageUploadObjectID: image });
  expect((await started.resource(id)).spec.cards).toEqual({ imageUploadName: image });
  expect((await patch(id, { cards })).body.cards).toEqual(cards);
  const held = await started.ada.call('DELETE', `/v1/uploads/${image}`);
  expect(held.body).toMatchObject({ code: 'upload_in_use', streamIDs: [id] });

  expect((await patch(id, { cards: {} })).body.cards).toEqual({ imageUploadObjectID: null });
  expect((await started.resource(id)).spec.cards).toEqual({});
  const remove = async () => (await started.ada.call('DELETE', `/v1/uploads/${image}`)).status;
  await until('it can be deleted', async () => (await remove()) === 204);
  expect((await patch(id, { name: 'Named' })).body.cards).toEqual({ imageUploadObjectID: null });
  expect((await patch(id, { cards: null })).body.cards).toBeNull();
  expect((await started.resource(id)).spec).not.toHaveProperty('cards');
  expect((await started.create({ cards: null })).cards).toBeNull();
});

test('cards without songs are refused at every door, and songs cannot go while there are cards', async () => {
  const message = 'must be given together with an audio playlist, whose songs have the cards';
  const refused = await started.ada.call('POST', '/v1/streams', started.wish({ cards: {} }));
  expect([refused.status, refused.body.errors]).toEqual([422, [{ path: '/cards', message }]]);
  const { id } = await started.create();
  expect((await patch(id, { cards: {} })).body.errors).toEqual([{ path: '/cards', message }]);
  const direct = { spec: { cards: {} } };
  await expect(started.api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, direct)).rejects.toThrow(message);

  expect((await patch(id, { cards: {}, ...songs })).status).toBe(200);
  expect((await patch(id, { audioPlaylistIDs: [] })).body.errors).toEqual([
    { path: '/audioPlaylistIDs', message: expect.stringContaining('send `cards` null too') },
  ]);
  expect((await patch(id, { audioPlaylistIDs: [], cards: null })).body).toMatchObject({
    audioPlaylistIDs: [],
    cards: null,
  });
});

test('a picture that is none, and that of another account, are refused by name', async () => {
  const { id } = await started.create(songs);
  const refuse = async (imageUploadObjectID: string) => {
    const { status, body } = await patch(id, { cards: { imageUploadObjectID } });
    return [status, body.errors];
  };
  const at = (message: string) => [422, [{ path: '/cards/imageUploadObjectID', message }]];
  expect(await refuse(started.audioUpload)).toEqual(at('names an upload of type AUDIO'));
  expect(await refuse(await makeUpload('IMAGE', started.eve))).toEqual(at('names an upload that does not exist'));
  expect((await patch(id, { cards: { title: 'x' } })).body.errors).toMatchObject([{ path: '/cards/title' }]);
});

test('GraphQL sets, reads and removes them', async () => {
  const image = await makeUpload();
  const { id } = await started.create(songs);
  const query = `mutation ($id: ID!, $cards: StreamCardsInput) { updateStream(id: $id, input: { cards: $cards }) {
    stream { cards { imageUploadObjectID } } } }`;
  const set = async (cards: object | null) =>
    (await started.ada.call('POST', '/graphql', { query, variables: { id, cards } })).body;
  const read = (cards: object | null) => ({ data: { updateStream: { stream: { cards } } } });
  expect(await set({ imageUploadObjectID: image })).toEqual(read({ imageUploadObjectID: image }));
  expect(await set({})).toEqual(read({ imageUploadObjectID: null }));
  expect(await set(null)).toEqual(read(null));
});

test('a dry run tells what cards take of the storage: 1 MB a song, and nothing for one that is made', async () => {
  const { id } = await started.create(songs);
  const asks = async (body: object) => (await patch(id, body, '?dryRun=true')).body.storageBytes;
  expect(await asks({ cards: {} })).toBe(1_000_000);
  expect(await asks({ name: 'Named' })).toBe(0);

  const { spec } = await started.api.kube.get(UPLOADS, NAMESPACE, started.audioUpload);
  const profile = cardProfile('1080p30', { title: spec.displayName ?? '', artist: '' });
  const key = renditionKey(MEDIA.sha256, 'audio', profile);
  const card = { profile, state: 'ready', key, durationSeconds: 2, bitrateKbps: 1 };
  const status = { phase: 'ready', observedGeneration: 1, media: MEDIA, renditions: [card] };
  await started.api.kube.mergePatch(UPLOADS, NAMESPACE, started.audioUpload, { status }, { subresource: 'status' });
  const read = async () => (await started.ada.call('GET', `/v1/uploads/${started.audioUpload}`)).body;
  await until('the API sees the card', async () => ((await read()).cards as unknown[]).length === 1);
  expect(await read()).toMatchObject({ cards: [{ profile: '1080p30', state: 'ready', error: null }], looks: [] });
  expect(await asks({ cards: {} })).toBe(0);
  expect(await asks({ cards: { imageUploadObjectID: await makeUpload() } })).toBe(1_000_000);
});
