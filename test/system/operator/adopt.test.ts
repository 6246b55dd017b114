/**
 * Tests the commands of the staff on a real control plane and a real storage: uploads of another namespace or cluster get their media back,
 * what does not match is refused, and sources that nobody has are given up.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { JOBS, type Job, NAMESPACES } from '../../../src/core/kube/core.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { isOwnedBy } from '../../../src/core/operator/pods/security.ts';
import { adopt } from '../../../src/core/operator/sources/adopt.ts';
import { readRecordsTask, readTask } from '../../../src/core/operator/upload/job.ts';
import { sweep } from '../../../src/core/pods/prepare/job/sweep.ts';
import { runPrepare } from '../../../src/core/pods/prepare/main.ts';
import { listRecords, readOwner, readRecord, writeOwner, writeRecord } from '../../../src/core/pods/records/store.ts';
import { packKeep } from '../../../src/core/pods/storage/keep-list.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import { prepareConfig } from '../../../src/core/protocol/environment.ts';
import { recordKey, type UploadIdentity, type UploadRecord } from '../../../src/core/protocol/records.ts';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import { UPLOADS, type Upload } from '../../../src/core/resources/upload/resource.ts';
import type { MediaInfo, UploadSpec } from '../../../src/core/resources/upload/spec.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { quiet, room } from '../../kit/make/prepare.ts';
import { aroundEachTest, buildObject, cluster, finishJob, kube, NS } from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const LOST = 'lost-cluster';
const FROM = 'studio';
let here: string;
let place: Awaited<ReturnType<typeof room>>;
let film: Buffer;
let media: MediaInfo;

beforeAll(async () => {
  await using made = await room();
  await makeMedia(made.path('in.mp4'), '-f', 'lavfi', '-i', 'testsrc=s=64x64:r=30:d=0.5');
  film = await readFile(made.path('in.mp4'));
  here = (await kube.get(NAMESPACES, '', 'kube-system')).metadata.uid;
});
beforeEach(async () => {
  await place?.[Symbol.asyncDispose]();
  place = await room();
});
afterAll(() => place?.[Symbol.asyncDispose]());

/** Runs the command as staff do, from the sources. */
function loopstream(...args: string[]): Promise<{ code: number; out: string }> {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig, LOOPSTREAM_STORAGE_URL: place.storageUrl };
  return new Promise((done) => {
    const ended = (error: unknown, stdout: string, stderr: string) =>
      done({ code: error ? Number((error as { code: unknown }).code) : 0, out: stdout + stderr });
    execFile(process.execPath, ['src/service/main.ts', ...args], { env }, ended);
  });
}
const adoptAll = (...more: string[]) => loopstream('adopt', '--from', FROM, '--to', NS, ...more);

async function runTask(task: unknown, records: unknown) {
  const config = prepareConfig({
    LOOPSTREAM_TASK: JSON.stringify(task),
    LOOPSTREAM_RECORDS: JSON.stringify(records),
    LOOPSTREAM_RESULT_FILE: place.path('result'),
    LOOPSTREAM_STORAGE_URL: place.storageUrl,
  });
  await runPrepare(config, new Lifecycle(), quiet);
  return JSON.parse(await readFile(place.path('result'), 'utf8'));
}

const IDENTITY: UploadIdentity = {
  ...{
    installation: LOST,
    namespace: FROM,
    name: 'film',
    account: 'acc-1',
    uid: 'old',
    track: 'video',
    origin: 'sent',
  },
};

/** Imports an upload in the cluster of before. */
async function importBefore(change: Partial<UploadIdentity> = {}): Promise<UploadRecord> {
  const upload = { ...IDENTITY, ...change };
  const { uid, installation, track } = upload;
  await writeOwner(place.storage, installation);
  const piece = [0, film.length].map((at) => String(at).padStart(16, '0')).join('-');
  await place.storage.write(`incoming/${uid}/${piece}`, film);
  const sent = { key: `incoming/${uid}`, sizeBytes: film.length };
  const task = { action: 'import', sent, type: track, sourceKey: `sources/${uid}` };
  const result = await runTask(task, { installation, upload });
  expect(result).toMatchObject({ action: 'import' });
  media = result.media;
  const record = await readRecord(place.storage, recordKey({ ...upload, sourceKey: `sources/${uid}` }));
  if (!record) throw new Error('the import has written no record');
  return record;
}

/** Restores an upload under a new UID, without a status. */
function restore(name = 'film', spec: Partial<UploadSpec> = {}, account = 'acc-1') {
  const sent = { sizeBytes: film.length, receivedBytes: film.length };
  const object = buildObject('Upload', name, { track: 'video', source: { sent }, ...spec });
  const labels = account === '' ? {} : { [ACCOUNT_LABEL]: account };
  return kube.create(UPLOADS, NS, { ...object, metadata: { name, labels } } as never);
}

const getUpload = (name = 'film') => kube.get(UPLOADS, NS, name);
/** Runs the Job that the operator makes next for an upload, in the kubelet's place. */
async function runImport(upload: Upload & { metadata: { uid: string } }, previous?: Job): Promise<Job> {
  const job = await until('its import', async () =>
    (await kube.list(JOBS, { namespace: NS })).find(
      (one) => isOwnedBy(one, upload) && one.metadata.uid !== previous?.metadata.uid && !one.metadata.deletionTimestamp,
    ),
  );
  await finishJob(job.metadata.name, await runTask(readTask(job), readRecordsTask(job)));
  return job;
}
const waitForState = (phase: string, name = 'film') =>
  until(`${name} is ${phase}`, async () => {
    const upload = await getUpload(name);
    return upload.status?.phase === phase && upload;
  });

async function listKeys(): Promise<string[]> {
  const keys: string[] = [];
  for (const prefix of ['records/', 'deleted/', 'sources/', 'installation.json'])
    for await (const key of place.storage.list(prefix)) keys.push(key);
  return keys.sort();
}
const recordsOf = async () => {
  const found: string[] = [];
  for await (const { installation, uid, sourceKey } of listRecords(place.storage))
    found.push(`${installation} ${uid} ${sourceKey}`);
  return found;
};

test('an upload of another cluster and namespace gets its media back after it has failed, and nothing is sent twice', async () => {
  await importBefore();
  const restored = await restore();
  const failed = await runImport(restored);
  expect((await waitForState('failed')).status?.error?.code).toBe('storage_taken');

  const before = await listKeys();
  expect(await adoptAll('--dry-run')).toMatchObject({ code: 0, out: expect.stringContaining('Would adopt 1;') });
  const refused = await adoptAll();
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('--take-over') });
  expect(refused.out).toContain(LOST);
  expect(await listKeys()).toEqual(before);
  expect(await readOwner(place.storage)).toBe(LOST);

  expect(await adoptAll('--take-over')).toMatchObject({ code: 0, out: expect.stringContaining('Adopted 1;') });
  await runImport(restored, failed);
  const { status } = await waitForState('ready');
  expect(status).toMatchObject({ sourceKey: 'sources/old', media });
  expect(await recordsOf()).toEqual([`${here} ${restored.metadata.uid} sources/old`]);
  expect(await readOwner(place.storage)).toBe(here);
  expect(await adoptAll('--take-over')).toMatchObject({ code: 1, out: expect.stringContaining('no record') });
});

test('an upload of another namespace of this cluster gets the media of one that is lost, and of none that is there', async () => {
  await importBefore({ installation: here });
  const restored = await restore();
  expect(await adoptAll()).toMatchObject({ code: 0, out: expect.stringContaining('Adopted 1;') });
  await runImport(restored);
  expect((await waitForState('ready')).status?.sourceKey).toBe('sources/old');
  // The same from the namespace here: its upload has the source.
  const back = await loopstream('adopt', '--from', NS, '--to', 'default');
  expect(back).toMatchObject({ code: 0, out: expect.stringContaining(`an upload of ${NS} has it`) });
  expect(await recordsOf()).toEqual([`${here} ${restored.metadata.uid} sources/old`]);
});

test('what does not match is refused with its reason, and stays as it is', async () => {
  const names = ['nobody', 'account', 'no-account', 'track', 'link', 'size', 'sending', 'gone', 'own'];
  for (const name of names) await importBefore({ name, uid: `old-${name}` });
  await place.storage.delete('sources/old-gone');
  const sent = { sizeBytes: film.length, receivedBytes: film.length };
  await restore('account', {}, 'acc-2');
  await restore('no-account', {}, '');
  await restore('track', { track: 'audio' });
  await restore('link', { source: { url: 'https://media.example/film' } });
  await restore('size', { source: { sent: { sizeBytes: 7, receivedBytes: 7 } } });
  await restore('sending', { source: { sent: { ...sent, receivedBytes: 1 } } });
  await restore('gone');
  const own = await restore('own');
  const status = { uid: own.metadata.uid, phase: 'ready', media, sourceKey: 'sources/own' };
  await kube.mergePatch(UPLOADS, NS, 'own', { status }, { subresource: 'status' });
  const before = await recordsOf();
  const { code, out } = await adoptAll('--take-over');
  expect(code).toBe(1);
  for (const [name, reason] of [
    ['nobody', 'has no upload of this name'],
    ['account', 'of account acc-1, and the upload of this name of account acc-2'],
    ['no-account', 'of account acc-1, and the upload of this name of no account'],
    ['track', 'its track is video'],
    ['link', 'another link'],
    ['size', `its source has ${film.length} bytes`],
    ['sending', 'still being sent'],
    ['gone', 'not in the storage'],
    ['own', 'media of its own'],
  ])
    expect(out, name).toMatch(new RegExp(`^refused {2}${name} {2}sources/old-${name}: .*${reason}`, 'm'));
  expect(out).toContain(`refused ${names.length}.`);
  expect(await recordsOf()).toEqual(before);
});

test('of several records of a name, the latest that matches is adopted; one of several installations has to be named', async () => {
  const first = await importBefore({ uid: 'first' });
  await importBefore({ uid: 'other', installation: 'second-cluster', account: 'acc-2' });
  await restore();
  const unclear = await adoptAll('--take-over');
  expect(unclear).toMatchObject({ code: 1, out: expect.stringContaining('second-cluster') });
  expect(unclear.out).toContain('--installation');
  await importBefore({ uid: 'second' });
  // A storage tells times to the millisecond, or only to the second.
  await until('the first record is older', async () => {
    await writeRecord(place.storage, { ...first, uid: 'second', sourceKey: 'sources/second' });
    const [older, newer] = await Promise.all(
      ['first', 'second'].map((uid) =>
        place.storage.head(recordKey({ ...IDENTITY, uid, sourceKey: `sources/${uid}` })),
      ),
    );
    return older && newer && older.modifiedAt < newer.modifiedAt;
  });
  const { out } = await adoptAll('--take-over', '--installation', LOST);
  expect(out).toMatch(/^adopted {2}film {2}sources\/second$/m);
  expect(out).toMatch(/^refused {2}film {2}sources\/first: a later record/m);
});

test('a run that is interrupted anywhere can be repeated', async () => {
  await importBefore();
  const restored = await restore();
  const failed = await runImport(restored);
  await waitForState('failed');
  const options = {
    from: FROM,
    to: NS,
    installation: here,
    takeOver: true,
    now: new Date(),
    onProgress: () => undefined,
  };
  const broken = { list: kube.list, mergePatch: () => Promise.reject(new Error('connection lost')) };
  await expect(adopt(broken, place.storage, options)).rejects.toThrow('connection lost');
  const late = await openStorage(place.storageUrl);
  late.delete = () => Promise.reject(new Error('disk lost'));
  await expect(adopt(kube, late, options)).rejects.toThrow('disk lost');
  await runImport(restored, failed);
  await waitForState('ready');
  expect(await adoptAll('--take-over')).toMatchObject({ code: 0, out: expect.stringContaining('Adopted 0; 1 need') });
  expect(await recordsOf()).toEqual([`${here} ${restored.metadata.uid} sources/old`]);
});

test('sources that nobody has are given up and go with the next sweep; what anybody has or may take up stays', async () => {
  const mine = { installation: here, namespace: NS };
  for (const name of ['orphan', 'restored']) await importBefore({ ...mine, name, uid: `old-${name}` });
  await importBefore({ installation: here, name: 'elsewhere', uid: 'old-elsewhere' });
  await importBefore({ ...mine, installation: LOST, name: 'foreign', uid: 'old-foreign' });
  await place.storage.write('sources/no-record', film);
  await restore('restored');
  const { metadata } = await restore('alive');
  await place.storage.write(`sources/${metadata.uid}`, film);
  await writeOwner(place.storage, LOST);
  expect(await loopstream('forget-sources', NS)).toMatchObject({ code: 1, out: expect.stringContaining(LOST) });
  await writeOwner(place.storage, here);

  const before = await listKeys();
  const dry = await loopstream('forget-sources', NS, '--dry-run');
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('Would give up 2') });
  expect(await listKeys()).toEqual(before);
  const { code, out } = await loopstream('forget-sources', NS);
  expect(code).toBe(0);
  expect(out).toMatch(/^forgotten {2}sources\/old-orphan .*orphan, acc-1$/m);
  expect(out).toMatch(/^forgotten {2}sources\/no-record .*no record$/m);
  expect(out).toMatch(/^kept {2}sources\/old-restored .*upload restored takes it up$/m);
  expect(out).toMatch(new RegExp(`^kept {2}sources/old-elsewhere .*namespace ${FROM} has it$`, 'm'));
  expect(out).toMatch(new RegExp(`^kept {2}sources/old-foreign .*installation ${LOST} has it$`, 'm'));
  expect(out).not.toContain(metadata.uid);
  expect(out).toContain(`Gave up 2 of ${2 * film.length} bytes together; kept 3.`);

  const signal = new AbortController().signal;
  const keep = packKeep([`sources/${metadata.uid}`], 0, 1);
  const hour = (count: number) => new Date(Date.now() + count * 3_600_000);
  const task = { action: 'sweep' as const, keep, shard: 0, shards: 1, graceSeconds: 3600 };
  const context = { storage: place.storage, signal, log: quiet, records: { installation: here } };
  await sweep(task, context, hour(0));
  expect(await sweep(task, context, hour(2))).toMatchObject({ deleted: 2, suspicious: 3 });
  const sources = (await listKeys()).filter((key) => key.startsWith('sources/'));
  const left = [metadata.uid, 'old-elsewhere', 'old-foreign', 'old-restored'].map((uid) => `sources/${uid}`);
  expect(sources).toEqual(left.sort());
  // A cluster that is gone for good leaves its sources to this one.
  const gone = await loopstream('forget-sources', NS, '--installation', LOST);
  expect(gone.out).toMatch(/^forgotten {2}sources\/old-foreign /m);
});

test('mistakes are told with the way to the help', async () => {
  for (const args of [['adopt'], ['adopt', '--from', 'a'], ['forget-sources'], ['forget-sources', 'a', 'b']])
    expect(await loopstream(...args)).toMatchObject({ code: 2, out: expect.stringContaining('--help') });
  expect(await adoptAll('--installation', '../x')).toMatchObject({ code: 2, out: expect.stringContaining('UID') });
  expect(await loopstream('adopt', '--help')).toMatchObject({ code: 0, out: expect.stringContaining('--take-over') });
  expect(await loopstream('forget-sources', '-h')).toMatchObject({
    code: 0,
    out: expect.stringContaining('--dry-run'),
  });
  expect(await adoptAll()).toMatchObject({ code: 1, out: expect.stringContaining('no record') });
});
