/** Tests the quarantine of an upload over every API: the resource says it, and no list changes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import type { Upload } from '../../../src/service/domain/uploads/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let ada: Client;
let eve: Client;

beforeAll(async () => {
  api = await startTestApi();
  [ada, eve] = [await api.client('ada'), await api.client('eve')];
});
afterAll(async () => api?.stop());

const REASON = 'A claim is being checked.';
const send = async (type = 'VIDEO'): Promise<string> =>
  String((await ada.call('POST', '/v1/uploads/from-link', { type, url: 'https://example.com/a.mp4' })).body.objectID);
const spec = async (id: string) => (await api.kube.get(UPLOADS, NAMESPACE, id)).spec;

test('an upload is put in quarantine and released by REST, and its playlist keeps its version', async () => {
  const id = await send();
  const items = [{ uploadObjectID: id }];
  const list = await ada.call('POST', '/v1/playlists', { kind: 'video', mode: 'sequential', items });
  const { status, body } = await ada.call<Upload>('POST', `/v1/uploads/${id}/quarantine`, { reason: ` ${REASON} ` });
  expect(status).toBe(200);
  expect(body.quarantine).toEqual({ reason: REASON, since: expect.stringMatching(/Z$/), cut: false });
  expect((await spec(id)).quarantine).toEqual({ reason: REASON, since: body.quarantine?.since });
  // The time stays that of the first request.
  const again = await ada.call<Upload>('POST', `/v1/uploads/${id}/quarantine`, { reason: 'Another.', cut: true });
  expect(again.body.quarantine).toEqual({ reason: 'Another.', since: body.quarantine?.since, cut: true });
  expect((await ada.call<Upload>('GET', `/v1/uploads/${id}`)).body.quarantine).toEqual(again.body.quarantine);
  const { metadata } = await api.kube.get(PLAYLISTS, NAMESPACE, String(list.body.id));
  expect(metadata.generation).toBe(1);
  for (let time = 0; time < 2; time++)
    expect(await ada.call('DELETE', `/v1/uploads/${id}/quarantine`)).toMatchObject({
      status: 200,
      body: { objectID: id, quarantine: null },
    });
  expect(await spec(id)).not.toHaveProperty('quarantine');
});

test('GraphQL does the same', async () => {
  const id = await send();
  const call = async (query: string) =>
    (await ada.call<{ data: unknown }>('POST', '/graphql', { query, variables: { id } })).body.data;
  const shown = '{ upload { quarantine { reason since cut } } }';
  const put = `mutation ($id: ID!) { quarantineUpload(id: $id, input: { reason: "${REASON}", cut: true }) ${shown} }`;
  expect(await call(put)).toMatchObject({
    quarantineUpload: { upload: { quarantine: { reason: REASON, cut: true } } },
  });
  const release = await call(`mutation ($id: ID!) { releaseUpload(id: $id) ${shown} }`);
  expect(release).toEqual({ releaseUpload: { upload: { quarantine: null } } });
});

test('a quarantine by kubectl is shown, with the time that the operator gives', async () => {
  const id = await send();
  await api.kube.mergePatch(UPLOADS, NAMESPACE, id, { spec: { quarantine: { reason: REASON } } });
  const read = async () => (await ada.call<Upload>('GET', `/v1/uploads/${id}`)).body.quarantine;
  await expect.poll(read).toEqual({ reason: REASON, since: null, cut: false });
  const lastTransitionTime = '2026-06-01T12:00:00Z';
  const condition = {
    type: 'Quarantined',
    status: 'True' as const,
    reason: 'Quarantined',
    message: '',
    lastTransitionTime,
  };
  await api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status: { conditions: [condition] } }, { subresource: 'status' });
  await expect.poll(read).toEqual({ reason: REASON, since: lastTransitionTime, cut: false });
});

test('an image, an upload of somebody else and a request without a reason are refused', async () => {
  const [video, image] = [await send(), await send('IMAGE')];
  const put = (client: Client, id: string, body: object) => client.call('POST', `/v1/uploads/${id}/quarantine`, body);
  expect(await put(ada, image, { reason: REASON })).toMatchObject({ status: 409, body: { code: 'upload_is_image' } });
  expect(await put(eve, video, { reason: REASON })).toMatchObject({ status: 404, body: { code: 'upload_not_found' } });
  expect(await eve.call('DELETE', `/v1/uploads/${video}/quarantine`)).toMatchObject({ status: 404 });
  for (const body of [{}, { reason: ' ' }, { reason: 'x'.repeat(301) }, { reason: REASON, later: true }])
    expect(await put(ada, video, body)).toMatchObject({ status: 422 });
  expect(await spec(video)).not.toHaveProperty('quarantine');
});
