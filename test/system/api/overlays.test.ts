/** Tests texts and pictures over the items of a stream, through every API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { findItemFacts, resolveLayers } from '../../../src/core/resources/upload/layers.ts';
import { lookProfile } from '../../../src/core/resources/upload/look.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { renditionKey } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { type Stream, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Answer } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let started: StreamsApi;
beforeAll(async () => {
  started = await startStreamsApi();
});
afterAll(() => started?.api.stop());

const TITLE = '{{item.title}} – {{item.artist}}';
const TEXT = {
  ...{ text: TITLE, imageUploadObjectID: null, anchor: 'BottomRight', marginPercent: 4, sizePercent: 5 },
  ...{
    opacityPercent: 100,
    font: 'Sans',
    bold: false,
    color: '#FFFFFF',
    outlineColor: null,
    boxColor: null,
    show: null,
  },
};
const PICTURE = { ...TEXT, text: null, sizePercent: 15, font: null, bold: null, color: null };
const PNG = { ...MEDIA, video: { codec: 'png', width: 400, height: 100, framerate: 25 }, audio: undefined };

const getErrors = ({ body }: Answer): Record<string, string> =>
  Object.fromEntries((body.errors as { path: string; message: string }[]).map(({ path, message }) => [path, message]));
const patch = (id: string, body: object, query = '') =>
  started.ada.call<Stream>('PATCH', `/v1/streams/${id}${query}`, body);
const setOverlays = async (id: string, ...layers: object[]) => {
  const { status, body } = await patch(id, { overlays: { layers } });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.overlays;
};
const makeUpload = async (more: object = {}, client = started.ada) => {
  const link = { type: 'VIDEO', url: 'https://example.com/logo.png', ...more };
  return String((await client.call('POST', '/v1/uploads/from-link', link)).body.objectID);
};
const readUpload = async (id: string) => (await started.ada.call('GET', `/v1/uploads/${id}`)).body;

/** Writes what an import has found, in the operator's place. */
async function importMedia(id: string, media: object, renditions: object[] = [], client = started.ada) {
  const status = { phase: 'ready', observedGeneration: 1, media, renditions };
  await started.api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
  await until('the API sees it', async () => {
    const { body } = await client.call('GET', `/v1/uploads/${id}`);
    return body.state === 'ready' && (body.looks as unknown[]).length === renditions.length;
  });
}

describe('the overlays of a stream', () => {
  test('have defaults, are replaced as a whole, and null removes them', async () => {
    const { id, overlays } = await started.create({ overlays: { layers: [{ text: TITLE }], required: true } });
    expect(overlays).toEqual({ layers: [TEXT], sceneID: null, required: true });
    expect((await started.resource(id)).spec.overlays).toMatchObject({ layers: [{ text: TITLE }], required: true });
    const box = { text: 'On air', anchor: 'TopLeft', boxColor: '#00000080', show: { everySeconds: 60, forSeconds: 5 } };
    const show = { firstSeconds: null, lastSeconds: null, everySeconds: 60, forSeconds: 5 };
    expect(await setOverlays(id, box)).toEqual({ layers: [{ ...TEXT, ...box, show }], sceneID: null, required: false });
    expect((await patch(id, { name: 'Named' })).body.overlays).toMatchObject({ layers: [{ text: 'On air' }] });
    expect((await patch(id, { overlays: null })).body.overlays).toBeNull();
    expect((await started.resource(id)).spec).not.toHaveProperty('overlays');
    expect((await started.create({ overlays: null })).overlays).toBeNull();
  });

  test('take the place of the scene that kubectl gave the stream', async () => {
    const { id } = await started.create();
    const spec = { overlays: { sceneName: 'evening' } };
    await started.api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { spec });
    const named = async () => (await started.ada.call<Stream>('GET', `/v1/streams/${id}`)).body.overlays;
    await until('the API sees it', async () => (await named()) !== null);
    expect(await named()).toEqual({ layers: [], sceneID: 'evening', required: false });
    expect((await patch(id, { overlays: { layers: [{ text: TITLE }] } })).body.overlays).toMatchObject({
      layers: [TEXT],
    });
    expect((await started.resource(id)).spec.overlays).not.toHaveProperty('sceneName');
  });

  test('can be sent as they are read', async () => {
    const { id, overlays } = await started.create({ overlays: { layers: [{ text: TITLE }] } });
    expect((await patch(id, { overlays })).body.overlays).toEqual(overlays);
  });

  const refused: [string, object, string, string?][] = [
    ['no layer', { layers: [] }, '/overlays/layers'],
    ['nine layers', { layers: Array.from({ length: 9 }, () => ({ text: 'a' })) }, '/overlays/layers'],
    ['neither a text nor a picture', { layers: [{ anchor: 'Top' }] }, '/overlays/layers/0'],
    ['both', { layers: [{ text: 'a', imageUploadObjectID: 'upl-none' }] }, '/overlays/layers/0'],
    ['an empty text', { layers: [{ text: '' }] }, '/overlays/layers/0/text'],
    ['501 characters', { layers: [{ text: 'a'.repeat(501) }] }, '/overlays/layers/0/text'],
    [
      'an unknown field',
      { layers: [{ text: 'a' }, { text: 'Next: {{next.title}}' }] },
      '/overlays/layers/1/text',
      'must not have {{ but for a field: {{item.title}}, {{item.artist}}, {{item.album}}, {{playlist.name}}, {{stream.name}}',
    ],
    ['a control character', { layers: [{ text: 'a\u0007b' }] }, '/overlays/layers/0/text'],
    ['an unknown place', { layers: [{ text: 'a', anchor: 'Middle' }] }, '/overlays/layers/0/anchor'],
    ['half a percent', { layers: [{ text: 'a', sizePercent: 0.5 }] }, '/overlays/layers/0/sizePercent'],
    ['a colour by its name', { layers: [{ text: 'a', color: 'red' }] }, '/overlays/layers/0/color'],
    ['two times', { layers: [{ text: 'a', show: { firstSeconds: 1, lastSeconds: 1 } }] }, '/overlays/layers/0/show'],
    ['no time', { layers: [{ text: 'a', show: {} }] }, '/overlays/layers/0/show'],
    [
      'an interval that it fills',
      { layers: [{ text: 'a', show: { everySeconds: 5, forSeconds: 5 } }] },
      '/overlays/layers/0/show',
    ],
    [
      'an upload that is not',
      { layers: [{ imageUploadObjectID: 'upl-none' }] },
      '/overlays/layers/0/imageUploadObjectID',
      'names an upload that does not exist',
    ],
    ['an unknown part', { layers: [{ text: 'a', blink: true }] }, '/overlays/layers/0/blink'],
    ['a list', [], '/overlays'],
  ];
  test.each(refused)(
    'with %s are refused with the field named, on creation and later',
    async (_, overlays, path, message) => {
      const { id } = await started.create();
      const answers = [
        await started.ada.call('POST', '/v1/streams', started.wish({ overlays })),
        await patch(id, { overlays }),
      ];
      for (const answer of answers) {
        expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'validation_failed' });
        expect(Object.keys(getErrors(answer))).toContain(path);
        if (message !== undefined) expect(getErrors(answer)[path]).toBe(message);
      }
    },
  );

  test('are given and read by GraphQL, and null removes them', async () => {
    const { id } = await started.create();
    const query = `mutation ($id: ID!, $input: StreamUpdateInput!) { updateStream(id: $id, input: $input) { storageBytes stream {
      overlays { required layers { text anchor sizePercent boxColor show { firstSeconds lastSeconds } } } } } }`;
    const update = async (input: object) =>
      (await started.ada.call('POST', '/graphql', { query, variables: { id, input } })).body;
    const layer = { text: 'Hi', anchor: 'Top', boxColor: null, show: { firstSeconds: 3 } };
    const overlays = {
      required: false,
      layers: [{ ...layer, sizePercent: 5, show: { firstSeconds: 3, lastSeconds: null } }],
    };
    expect(await update({ overlays: { layers: [layer] } })).toEqual({
      data: { updateStream: { storageBytes: 0, stream: { overlays } } },
    });
    expect((await started.ada.call('GET', `/v1/streams/${id}`)).body.overlays).toMatchObject({
      layers: [{ text: 'Hi' }],
    });
    expect(await update({ overlays: { layers: [{ text: '{{x}}' }] } })).toMatchObject({
      errors: [{ extensions: { errors: [{ path: '/input/overlays/layers/0/text' }] } }],
    });
    expect(await update({ overlays: null })).toMatchObject({ data: { updateStream: { stream: { overlays: null } } } });
  });
});

describe('a picture of the overlays', () => {
  test('is an upload of the account that is still, or is not known yet, and is kept while it is shown', async () => {
    const { id } = await started.create();
    const logo = await makeUpload();
    expect(await setOverlays(id, { imageUploadObjectID: logo })).toEqual({
      layers: [{ ...PICTURE, imageUploadObjectID: logo }],
      sceneID: null,
      required: false,
    });
    await importMedia(logo, PNG);
    await setOverlays(id, { imageUploadObjectID: logo, anchor: 'Top' });
    const held = await started.ada.call('DELETE', `/v1/uploads/${logo}`);
    expect(held.body).toMatchObject({ code: 'upload_in_use', streamIDs: [id] });
    await patch(id, { overlays: null });
    await until(
      'it can be deleted',
      async () => (await started.ada.call('DELETE', `/v1/uploads/${logo}`)).status === 204,
    );
  });

  test('is no video, no sound and no upload of another account', async () => {
    const { id } = await started.create();
    const [video, foreign] = [await makeUpload(), await makeUpload({}, started.eve)];
    await importMedia(video, MEDIA);
    await importMedia(foreign, PNG, [], started.eve);
    const refuse = async (imageUploadObjectID: string) =>
      getErrors(await patch(id, { overlays: { layers: [{ imageUploadObjectID }] } }))[
        '/overlays/layers/0/imageUploadObjectID'
      ];
    expect(await refuse(video)).toBe('names a video: a still picture is needed, such as a PNG');
    expect(await refuse(started.audioUpload)).toBe('names an upload of type AUDIO');
    expect(await refuse(foreign)).toBe('names an upload that does not exist');
  });

  test('has neither a font nor colours', async () => {
    const { id } = await started.create();
    const answer = await patch(id, { overlays: { layers: [{ imageUploadObjectID: await makeUpload(), bold: true }] } });
    expect(getErrors(answer)).toEqual({ '/overlays/layers/0': 'must have font, bold and colours for a text alone' });
  });
});

describe('an upload', () => {
  test('shows no overlays where its owner says so, by REST and by GraphQL', async () => {
    const id = await makeUpload({ overlays: 'NONE' });
    const stored = async () => (await started.api.kube.get(UPLOADS, NAMESPACE, id)).spec.overlays;
    expect([(await readUpload(id)).overlays, await stored()]).toEqual(['NONE', 'None']);
    const shown = await started.ada.call('PATCH', `/v1/uploads/${id}`, { overlays: 'SHOWN' });
    expect([shown.body.overlays, await stored()]).toEqual(['SHOWN', undefined]);
    const query = `mutation { updateUpload(id: "${id}", input: { overlays: NONE }) { upload { overlays looks { state } } } }`;
    expect((await started.ada.call('POST', '/graphql', { query })).body).toEqual({
      data: { updateUpload: { upload: { overlays: 'NONE', looks: [] } } },
    });
    expect((await started.ada.call('PATCH', `/v1/uploads/${id}`, { overlays: null })).status).toBe(422);
  });

  test('tells what was made of it with overlays, and why it was not', async () => {
    const id = await makeUpload();
    const key = (profile: string) => renditionKey(MEDIA.sha256, 'video', profile);
    const error = { code: 'prepare_failed', message: 'It did not work.' };
    await importMedia(id, MEDIA, [
      { profile: '1080p30-labc123', state: 'ready', key: key('1080p30-labc123'), durationSeconds: 1, bitrateKbps: 1 },
      { profile: '720p60-l000000', state: 'failed', error },
    ]);
    expect((await readUpload(id)).looks).toEqual([
      { profile: '1080p30', state: 'ready', error: null },
      { profile: '720p60', state: 'failed', error: { ...error, fix: expect.any(String) } },
    ]);
    expect((await readUpload(id)).preview).toBeNull();
  });
});

describe('a change, and its dry run, tell what it takes of the storage', () => {
  const SECONDS = 3600;
  const LOOK_BYTES = SECONDS * (6000 + 160) * 125;
  const overlays = { layers: [{ text: TITLE }] };
  const asks = async (id: string, body: object) => (await patch(id, body, '?dryRun=true')).body.storageBytes;

  test('overlays take as much again, and nothing over an item without them', async () => {
    const video = await makeUpload();
    await importMedia(video, { ...MEDIA, durationSeconds: SECONDS });
    const { id } = await started.create({ videoUploadObjectID: video });
    expect(await asks(id, { overlays })).toBe(LOOK_BYTES);
    expect((await started.resource(id)).spec).not.toHaveProperty('overlays');
    expect(await asks(id, { name: 'Named' })).toBe(0);
    expect(await asks(id, { loudness: {} })).toBe(SECONDS * 160 * 125);
    expect((await patch(id, { overlays })).body.storageBytes).toBe(LOOK_BYTES);
    expect(await asks(id, { overlays })).toBe(0);
    expect(await asks(id, { overlays: null })).toBe(0);
    expect(await asks(id, { overlays: { layers: [{ text: 'Other' }] } })).toBe(LOOK_BYTES);
    await started.ada.call('PATCH', `/v1/uploads/${video}`, { overlays: 'NONE' });
    expect(await asks(id, { overlays: { layers: [{ text: 'Third' }] } })).toBe(0);
  });

  test('what is made already takes nothing more', async () => {
    const video = await makeUpload();
    const { id } = await started.create({ videoUploadObjectID: video });
    const { spec, metadata } = await started.api.kube.get(UPLOADS, NAMESPACE, video);
    const facts = findItemFacts({ metadata, spec, status: { media: MEDIA } }, await started.resource(id));
    const whole = { text: TITLE, anchor: 'BottomRight', marginPercent: 4, opacityPercent: 100 } as const;
    const profile = lookProfile('1080p30', resolveLayers({ layers: [whole] }, facts, () => undefined) ?? []);
    const key = renditionKey(MEDIA.sha256, 'video', profile);
    await importMedia(video, MEDIA, [{ profile, state: 'ready', key, durationSeconds: 1, bitrateKbps: 1 }]);
    expect(await asks(id, { overlays })).toBe(0);
  });
});
