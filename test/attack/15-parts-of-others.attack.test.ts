/**
 * Attacks the bytes of an account's upload: a person with kubectl makes an Upload that names its parts, or one of its name. The bytes are
 * neither read nor deleted, and the owner has them afterwards. An API server runs on a real Kubernetes; the Job of the import runs on its
 * storage.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lifecycle } from '../../src/core/lib/lifecycle.ts';
import { wantImport } from '../../src/core/operator/upload/job.ts';
import { buildImportRecords, type DeletedUpload } from '../../src/core/operator/upload/records.ts';
import { runPrepare } from '../../src/core/pods/prepare/main.ts';
import { openStorage } from '../../src/core/pods/storage/open.ts';
import type { Storage } from '../../src/core/pods/storage/storage.ts';
import { prepareConfig } from '../../src/core/protocol/environment.ts';
import { PrepareResult } from '../../src/core/protocol/task.ts';
import { ACCOUNT_LABEL } from '../../src/core/resources/common/names.ts';
import { UPLOADS, type Upload } from '../../src/core/resources/upload/resource.ts';
import type { RenditionPart } from '../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { makeMedia } from '../kit/make/made-media.ts';
import { quiet } from '../kit/make/prepare.ts';
import { parseUploadId, TUS_PATH, type TusWire, tusWire } from '../kit/make/tus-wire.ts';
import { type Client, startTestApi, type TestApi } from '../kit/system/api.ts';
import { tempDir } from '../kit/temp-dir.ts';

const dir = tempDir();
let api: TestApi;
let storageUrl: string;
let storage: Storage;
let film: Buffer;
let ada: Client;
let tus: TusWire;
beforeAll(async () => {
  storageUrl = pathToFileURL(join(dir, 'media')).href;
  storage = await openStorage(storageUrl);
  await makeMedia(join(dir, 'in.mp4'), '-f', 'lavfi', '-i', 'testsrc=s=64x64:r=30:d=0.5');
  film = await readFile(join(dir, 'in.mp4'));
  api = await startTestApi({ storageUrl });
  ada = await api.client('ada');
  tus = tusWire(api.url, ada);
});
afterAll(() => api?.stop());

async function sendPart(content: Buffer): Promise<string> {
  const headers = { 'Upload-Concat': 'partial', 'Upload-Length': String(content.length) };
  const made = await tus.send('POST', '', headers);
  expect(made.status).toBe(201);
  expect((await tus.append(parseUploadId(made), 0, content)).status).toBe(204);
  return parseUploadId(made);
}
const sendParts = () => Promise.all([sendPart(film.subarray(0, 500)), sendPart(film.subarray(500))]);
const joinParts = (ids: readonly string[]) =>
  tus.create({ 'Upload-Concat': `final;${ids.map((id) => `${TUS_PATH}/${id}`).join(' ')}` }, { filename: 'film.mp4' });
const getUpload = (id: string) => api.kube.get(UPLOADS, NAMESPACE, id);
const findParts = (ids: readonly string[]): Promise<RenditionPart[]> =>
  Promise.all(ids.map(async (name) => ({ name, uid: (await getUpload(name)).metadata.uid })));

/** Makes an Upload as kubectl does. */
const forge = (name: string, parts: RenditionPart[] | undefined, account?: string) =>
  api.kube.create(UPLOADS, NAMESPACE, {
    apiVersion: `${UPLOADS.group}/${UPLOADS.version}`,
    kind: 'Upload',
    metadata: { name, namespace: NAMESPACE, ...(account && { labels: { [ACCOUNT_LABEL]: account } }) },
    spec: {
      track: 'video',
      source: { sent: { sizeBytes: film.length, receivedBytes: film.length, ...(parts && { parts }) } },
    },
  } as never);

/** Runs the Job that the operator makes. */
async function importUpload(upload: Upload, deleted: DeletedUpload[] = []): Promise<PrepareResult> {
  const file = join(dir, `result-${upload.metadata.name}`);
  const config = prepareConfig({
    LOOPSTREAM_TASK: JSON.stringify(wantImport(upload).task),
    LOOPSTREAM_RECORDS: JSON.stringify(buildImportRecords(upload, 'cluster-1', deleted)),
    LOOPSTREAM_RESULT_FILE: file,
    LOOPSTREAM_STORAGE_URL: storageUrl,
  });
  await runPrepare(config, new Lifecycle(), quiet);
  const result: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!Value.Check(PrepareResult, result)) throw new Error(`not a result: ${JSON.stringify(result)}`);
  return result;
}
const listSent = async () => {
  const keys: string[] = [];
  for await (const key of storage.list('incoming/')) keys.push(key);
  return keys.sort();
};
const REFUSED = { action: 'failed', error: { code: 'prepare_failed', message: expect.stringContaining('not joined') } };

test('an Upload that names the parts of an account gets nothing, whatever its label, and takes nothing away', async () => {
  const ids = await sendParts();
  const parts = await findParts(ids);
  const account = (await getUpload(ids[0])).metadata.labels?.[ACCOUNT_LABEL];
  const before = await listSent();
  for (const [name, named, label] of [
    ['thief', parts, undefined],
    ['thief-of-another-account', parts, 'acc-mallory'],
    ['thief-with-the-owners-label', parts, account],
    ['thief-of-one-part', parts.slice(0, 1), undefined],
  ] as const)
    expect(await importUpload(await forge(name, [...named], label)), name).toMatchObject(REFUSED);
  expect(await listSent()).toEqual(before);
});

test('an Upload of an account that names parts of another one deletes none of them when the API deletes it', async () => {
  const parts = await findParts(await sendParts());
  const eve = await api.client('eve');
  const own = parseUploadId(await tusWire(api.url, eve).create({ 'Upload-Length': '3' }, { type: 'VIDEO' }, 'abc'));
  const before = await listSent();
  await forge('eves-claim', parts, (await getUpload(own)).metadata.labels?.[ACCOUNT_LABEL]);
  await expect.poll(async () => (await eve.call('DELETE', '/v1/uploads/eves-claim')).status).toBe(204);
  expect(await listSent()).toEqual(before);
});

test('the owner joins the parts that another Upload names, and a join is the upload’s own alone', async () => {
  const ids = await sendParts();
  const parts = await findParts(ids);
  await forge('claims-first', parts);
  const made = await joinParts(ids);
  expect(made.status).toBe(201);
  const joined = await getUpload(parseUploadId(made));
  const late = await forge('claims-late', parts);
  // The same name does not give the proof either: that is the UID’s.
  const copy = { ...joined, metadata: { ...joined.metadata, uid: late.metadata.uid } };
  expect(await importUpload(late)).toMatchObject(REFUSED);
  expect(await importUpload(copy)).toMatchObject(REFUSED);
  const other = { ...joined, spec: { ...joined.spec, source: (late as Upload).spec.source } };
  (other.spec.source.sent as { parts: RenditionPart[] }).parts = [...parts].reverse();
  expect(await importUpload(other)).toMatchObject(REFUSED);
  expect(await importUpload(joined)).toMatchObject({ action: 'import', media: { sizeBytes: film.length } });
  const left = await listSent();
  expect(left.filter((key) => [joined.metadata, ...parts].some(({ uid }) => key.includes(uid)))).toEqual([]);
  // A Job that is tried again has the source.
  expect(await importUpload(joined)).toMatchObject({ action: 'import', media: { sizeBytes: film.length } });
});

test('a join that was interrupted is finished by the client’s next try, and not for parts of others', async () => {
  const ids = await sendParts();
  const parts = await findParts(ids);
  const account = (await getUpload(ids[0])).metadata.labels?.[ACCOUNT_LABEL] ?? '';
  const interrupted = (name: string, named: RenditionPart[]) =>
    api.kube.create(UPLOADS, NAMESPACE, {
      apiVersion: `${UPLOADS.group}/${UPLOADS.version}`,
      kind: 'Upload',
      metadata: { name, namespace: NAMESPACE, labels: { [ACCOUNT_LABEL]: account } },
      spec: { track: 'video', source: { sent: { sizeBytes: film.length, receivedBytes: 0, parts: named } } },
    } as never);
  const seen = (name: string) =>
    expect.poll(async () => (await ada.call('GET', `/v1/uploads/${name}`)).status).toBe(200);
  const victims = await findParts([await sendPart(film), await sendPart(film)]);
  const forged = parts.map(({ name }, i) => ({ name, uid: victims[i]?.uid ?? '' }));
  await interrupted('forged-join', forged);
  await seen('forged-join');
  expect(await joinParts(ids)).toMatchObject({ status: 409, body: { code: 'upload_conflict' } });
  await api.kube.delete(UPLOADS, NAMESPACE, 'forged-join');
  await expect.poll(async () => (await ada.call('GET', '/v1/uploads/forged-join')).status).toBe(404);
  await interrupted('half-joined', parts);
  await seen('half-joined');
  expect(parseUploadId(await joinParts(ids))).toBe('half-joined');
  expect(await importUpload(await getUpload('half-joined'))).toMatchObject({ action: 'import' });
});

test('an Upload that is named like a lost one of an account does not get its media; the restored one does', async () => {
  const made = await tus.create({ 'Upload-Length': String(film.length) }, { filename: 'film.mp4' });
  const name = parseUploadId(made);
  expect((await tus.append(name, 0, film)).status).toBe(204);
  const lost = await getUpload(name);
  const { uid, labels } = lost.metadata;
  expect(await importUpload(lost)).toMatchObject({ action: 'import' });
  await api.kube.delete(UPLOADS, NAMESPACE, name);
  const GONE = { action: 'failed', error: { code: 'prepare_failed' } };
  for (const account of [undefined, 'acc-mallory', `${labels?.[ACCOUNT_LABEL]}0`]) {
    expect(await importUpload(await forge(name, undefined, account)), String(account)).toMatchObject(GONE);
    await api.kube.delete(UPLOADS, NAMESPACE, name);
  }
  const restored = await forge(name, undefined, labels?.[ACCOUNT_LABEL]);
  // Nobody gets an upload that its owner has deleted.
  const deleted = [{ uid, name, sourceKey: `sources/${uid}` }];
  expect(await importUpload(restored, deleted)).toMatchObject(GONE);
  expect(await importUpload(restored)).toMatchObject({ action: 'import', sourceKey: `sources/${uid}` });
});
