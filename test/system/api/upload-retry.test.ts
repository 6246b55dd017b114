/** Tests retries of a failed link under the same objectID, through every API, within the limits of a new one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RETRY_ANNOTATION } from '../../../src/core/resources/common/names.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import type { UploadStatus } from '../../../src/core/resources/upload/spec.ts';
import type { Upload } from '../../../src/service/domain/uploads/record.ts';
import { withOverrides } from '../../../src/service/settings/limits.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi({ limits: withOverrides({ full: { linkImports: 2 } }) });
  ada = await api.client('ada');
});
afterAll(async () => api?.stop());

const FAILED: UploadStatus = {
  phase: 'failed',
  observedGeneration: 1,
  error: { code: 'link_unreachable', message: 'The link could not be fetched. The server returned status 503.' },
};
const read = async (id: string) => (await ada.call('GET', `/v1/uploads/${id}`)).body as unknown as Upload;

/** Writes the status in the operator's place, and waits until the API knows it. */
async function writeStatus(id: string, status: UploadStatus) {
  await api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
  await until('the API sees it', async () => (await read(id)).state === status.phase);
}
async function failedUpload() {
  const body = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
  const id = String((await ada.call('POST', '/v1/uploads/from-link', body)).body.objectID);
  await writeStatus(id, FAILED);
  return id;
}

describe('an upload that has failed', () => {
  test('is on its way again at once, with its objectID, and asked of the operator by an annotation', async () => {
    const id = await failedUpload();
    const { status, body } = await ada.call('POST', `/v1/uploads/${id}/retry`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ objectID: id, state: 'importing', error: null, waiting: null });
    const { metadata } = await api.kube.get(UPLOADS, NAMESPACE, id);
    expect(metadata.annotations?.[RETRY_ANNOTATION]).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z try-/);
    const again = await ada.call('POST', `/v1/uploads/${id}/retry`);
    expect(again).toMatchObject({ status: 409, body: { code: 'upload_not_failed' } });
    await ada.call('DELETE', `/v1/uploads/${id}`);
  });

  test('is tried again by GraphQL', async () => {
    const id = await failedUpload();
    const query = 'mutation ($id: ID!) { retryUpload(id: $id) { upload { objectID state waiting { until } } } }';
    const { body } = await ada.call('POST', '/graphql', { query, variables: { id } });
    expect(body).toMatchObject({ data: { retryUpload: { upload: { objectID: id, waiting: null } } } });
    await ada.call('DELETE', `/v1/uploads/${id}`);
  });

  test('is not tried again beyond the imports that an account may have at once', async () => {
    const ids = [await failedUpload(), await failedUpload(), await failedUpload()];
    const answers = [];
    for (const id of ids) answers.push((await ada.call('POST', `/v1/uploads/${id}/retry`)).body);
    expect(answers.map(({ state, code }) => state ?? code)).toEqual(['importing', 'importing', 'quota_exceeded']);
    for (const id of ids) await ada.call('DELETE', `/v1/uploads/${id}`);
  });
});

test('an upload whose server is away reports its wait and the end of it', async () => {
  const link = { type: 'VIDEO', url: 'https://example.com/b.mp4' };
  const id = String((await ada.call('POST', '/v1/uploads/from-link', link)).body.objectID);
  const soon = new Date(Date.now() + 600_000).toISOString();
  const waiting = { message: 'The server returned status 503.', since: soon, nextTryAt: soon, until: soon, tries: 2 };
  await writeStatus(id, { phase: 'importing', waiting });
  await until('it waits', async () => (await read(id)).waiting !== null);
  expect(await read(id)).toMatchObject({ state: 'importing', waiting });
  const retry = await ada.call('POST', `/v1/uploads/${id}/retry`);
  expect(retry).toMatchObject({ status: 409, body: { code: 'upload_not_failed' } });
});

test('an upload of another account does not exist', async () => {
  const eve = await api.client('eve');
  const id = await failedUpload();
  expect(await eve.call('POST', `/v1/uploads/${id}/retry`)).toMatchObject({
    status: 404,
    body: { code: 'upload_not_found' },
  });
});
