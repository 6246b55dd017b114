/** Tests the helpers of a long preparation on a real control plane: the real Job controller makes and ends their pods. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENTS, JOBS, type Job, NODES, PODS, type Pod } from '../../../src/core/kube/core.ts';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { ACCOUNT_LABEL, helpersJobName } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { workingPod } from '../../kit/make/progress.ts';
import {
  aroundEachTest,
  buildObject,
  createDestination,
  createStream,
  createUpload,
  finishJob,
  kube,
  kubelet,
  NS,
  setSpec,
  waitForJobPod,
  waitUntilIdle,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

/** Ten hours. */
const LONG = { ...MEDIA, durationSeconds: 36_000 };
const RANGES = 112;
const PROFILE = '720p30';
const PROCESSORS = 'processors';

beforeAll(async () => {
  // Helpers need processors: the node of the pods reports none.
  const status = { allocatable: { cpu: '64' } };
  await kube.create(NODES, '', { metadata: { name: PROCESSORS }, spec: {}, status });
});
afterAll(() => kube.delete(NODES, '', PROCESSORS));

interface QuotaStatus {
  used?: Record<string, string>;
}
const QUOTAS: Resource<KubeObject<unknown, QuotaStatus>> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
};

const readJob = (name: string) => kube.get(JOBS, NS, name).catch(() => undefined) as Promise<Job | undefined>;
const listPods = async (job: string): Promise<Pod[]> => {
  const pods = await kube.list(PODS, { namespace: NS, labelSelector: `batch.kubernetes.io/job-name=${job}` });
  return pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase !== 'Succeeded');
};
const INDEX = 'batch.kubernetes.io/job-completion-index';
const listIndexes = async (job: string): Promise<number[]> =>
  (await listPods(job)).map(({ metadata }) => Number(metadata.annotations?.[INDEX])).sort((a, b) => a - b);
const indexesAre = (job: string, ...indexes: number[]) =>
  until(`pods of ${job}: ${indexes}`, async () => (await listIndexes(job)).join() === indexes.join(), 60_000);

/** Ends a pod that is to go, as its kubelet does. */
const endSurplus = async (job: string) => {
  const pods = await kube.list(PODS, { namespace: NS, labelSelector: `batch.kubernetes.io/job-name=${job}` });
  for (const { metadata } of pods) if (metadata.deletionTimestamp) await kubelet.remove(metadata.name);
};

/** Creates a stream that plays an upload, both of an account. */
async function createPair(account: string, upload: string, stream: string): Promise<void> {
  const labels = { [ACCOUNT_LABEL]: account };
  const source = { url: 'https://media.example/film' };
  const object = buildObject('Upload', upload, { track: 'video', source });
  await kube.create(UPLOADS, NS, { ...object, metadata: { name: upload, labels } } as never);
  const spec = { quality: '720p', uploadName: upload, destinationNames: ['tv'] };
  await kube.create(LOOPSTREAMS, NS, {
    ...buildObject('LoopStream', stream, spec),
    metadata: { name: stream, labels },
  } as never);
}

/** Imports an upload of ten hours, and lets the pod of its rendition report that others may help. Returns the names of both Jobs. */
async function beginLong(ip: string, name = 'film'): Promise<{ lead: string; helpers: string }> {
  await finishJob(`${name}-import`, { action: 'import', media: LONG });
  const lead = `${name}-${PROFILE}`;
  const pod = (await waitForJobPod(lead)).metadata.name;
  await kubelet.bind(pod);
  await kubelet.run(pod, true, 0, ip);
  const { uid = '' } = (await kube.get(UPLOADS, NS, name)).metadata;
  return { lead, helpers: helpersJobName(uid, PROFILE) };
}
/** Begins the preparation of a film that a stream plays. */
async function beginFilm(ip: string): Promise<{ lead: string; helpers: string }> {
  await createDestination();
  await createUpload();
  await createStream();
  return beginLong(ip);
}
const part = (seconds: number) => ({ prepared: { seconds, totalSeconds: 36_000, speed: 2 }, ranges: RANGES });

it('free places help a long preparation, the nearest ranges first, and are given back when another account needs one', async () => {
  await using pod = await workingPod();
  pod.at(0, part(0));
  await createDestination();
  await createPair('A', 'film', 'bunny');
  const { helpers } = await beginLong(pod.ip);
  await until('the Job is asked', () => pod.asked > 0);
  await waitUntilIdle();
  expect(await readJob(helpers)).toBeUndefined();

  pod.at(0.001, part(30));
  await indexesAre(helpers, 0, 1, 2);
  expect((await readJob(helpers))?.spec).toMatchObject({ completions: RANGES, parallelism: 3 });
  // A range that is made is followed by the next.
  const [first] = await listPods(helpers);
  await kubelet.bind(first?.metadata.name ?? '');
  await kubelet.end(first?.metadata.name ?? '', 0, JSON.stringify({ action: 'range', chunks: 10 }));
  await indexesAre(helpers, 1, 2, 3);

  await createPair('B', 'other', 'second');
  await finishJob('other-import', { action: 'import', media: { ...MEDIA, sha256: 'b'.repeat(64) } });
  await waitForJobPod(`other-${PROFILE}`);
  await until('a place is given back', async () => (await readJob(helpers))?.spec.parallelism === 2);
  await until('its pod ends', async () => {
    await endSurplus(helpers);
    return (await listPods(helpers)).length === 2;
  });
  await finishJob(`other-${PROFILE}`, {
    action: 'rendition',
    rendition: { profile: PROFILE, state: 'ready', durationSeconds: 10, bitrateKbps: 4000 },
  });
  await until('the place helps again', async () => (await readJob(helpers))?.spec.parallelism === 3);
  await indexesAre(helpers, 1, 2, 3);
  // A helper that gave its place back has not failed.
  expect((await readJob(helpers))?.status?.failed ?? 0).toBe(0);
  expect((await kube.get(UPLOADS, NS, 'film')).status?.phase).toBe('preparing');
});

it('helpers that fail change nothing, and leave with the rendition that is complete', async () => {
  await using pod = await workingPod();
  pod.at(0.001, part(30));
  const { lead, helpers } = await beginFilm(pod.ip);
  await indexesAre(helpers, 0, 1, 2);
  const [first] = await listPods(helpers);
  await kubelet.bind(first?.metadata.name ?? '');
  const error = { code: 'prepare_failed', message: 'No.' };
  await kubelet.end(first?.metadata.name ?? '', 1, JSON.stringify({ action: 'failed', error }));
  await until('it has failed', async () => (await readJob(helpers))?.status?.failed === 1);
  await waitUntilIdle();
  expect((await kube.get(UPLOADS, NS, 'film')).status).toMatchObject({ phase: 'preparing' });

  const working = await kube.list(PODS, { namespace: NS, labelSelector: `batch.kubernetes.io/job-name=${lead}` });
  const rendition = { profile: PROFILE, state: 'ready', durationSeconds: 36_000, bitrateKbps: 4000 };
  await kubelet.end(working[0]?.metadata.name ?? '', 0, JSON.stringify({ action: 'rendition', rendition }));
  await until('it is ready', async () => (await kube.get(UPLOADS, NS, 'film')).status?.phase === 'ready');
  await until('the helpers are gone', async () => {
    await endSurplus(helpers);
    return (await readJob(helpers)) === undefined && (await listPods(helpers)).length === 0;
  });
});

it('a quota that refuses pods of helpers is waited for, and holds up nothing else', async () => {
  await using pod = await workingPod();
  pod.at(0.001, part(0));
  const { helpers } = await beginFilm(pod.ip);
  const quota = { metadata: { name: 'pods' }, spec: { hard: { 'count/pods': '2' } } };
  await kube.create(QUOTAS, NS, quota as never);
  await until(
    'the quota counts',
    async () => (await kube.get(QUOTAS, NS, 'pods')).status?.used?.['count/pods'] !== undefined,
  );
  pod.at(0.002, part(30));
  // The pod of the stream that is on air with the beginning takes the other place, before or after one of a helper.
  await until('pods are refused', async () => (await readJob(helpers)) && (await listPods(helpers)).length < 3);
  await until('it is said', async () =>
    (await kube.list(EVENTS, { namespace: NS })).some(
      ({ involvedObject, reason }) => involvedObject.name === helpers && reason === 'FailedCreate',
    ),
  );
  await waitUntilIdle();
  expect((await kube.get(UPLOADS, NS, 'film')).status).toMatchObject({ phase: 'preparing' });
  await kube.delete(QUOTAS, NS, 'pods');
  await indexesAre(helpers, 0, 1, 2);
});

it('an edit of the quality ends the work on the old one, and its deletion leaves no Job', async () => {
  await using pod = await workingPod();
  pod.at(0.001, part(30));
  const { lead, helpers } = await beginFilm(pod.ip);
  await indexesAre(helpers, 0, 1, 2);
  await setSpec({ quality: '1080p' });
  const other = await waitForJobPod('film-1080p30');
  await until('the work on the old quality ends', async () => {
    for (const job of [lead, helpers]) await endSurplus(job);
    return (await readJob(lead)) === undefined && (await readJob(helpers)) === undefined;
  });

  await kubelet.bind(other.metadata.name);
  await kubelet.run(other.metadata.name, true, 0, pod.ip);
  const { uid = '' } = (await kube.get(UPLOADS, NS, 'film')).metadata;
  await indexesAre(helpersJobName(uid, '1080p30'), 0, 1, 2);
  await kube.delete(UPLOADS, NS, 'film');
  await until('nothing of it is left', async () => {
    for (const { metadata } of await kube.list(PODS, { namespace: NS }))
      if (metadata.deletionTimestamp) await kubelet.remove(metadata.name);
    return (await kube.list(JOBS, { namespace: NS })).length === 0;
  });
});
