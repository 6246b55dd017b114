/**
 * Runs the operator on a real control plane, for the system tests of one file: `aroundEachTest` starts them around the tests, and the rest
 * acts on them. The test drives the pods in kubelet's place.
 */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { EVENTS, JOBS, NAMESPACES, PODS, type Pod, SECRETS } from '../../../src/core/kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { type RunningOperator, runOperator } from '../../../src/core/operator/main.ts';
import type { OperatorConfig } from '../../../src/core/operator/runtime/settings.ts';
import { API_VERSION } from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { DEFAULT_PREPARED_BYTES } from '../../../src/core/settings/common.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { MEDIA, SETTINGS } from '../make/operator.ts';
import { silent } from '../real/kube.ts';
import { shareTestKubernetes, type TestKubernetes } from '../real/kubernetes.ts';
import { until } from '../wait.ts';
import { createKubelet, type Kubelet } from './kubelet.ts';

export const NS = 'tv';
export const KEY = 'live_s3cr3t-k3y';
export let cluster: TestKubernetes;
export let kube: Kube;
export let kubelet: Kubelet;
export let operator: RunningOperator & { lifecycle: Lifecycle };

/** The operator polls pods often: a test need not wait for an interval that is a quarter of a minute in production. */
const FOLLOW = { silentMs: 250 };

/** Pods that push are not asked within a test. */
const FOLLOW_PUSHES = { silentMs: 600_000 };

let isMetered = false;
/** The port at which pods report; undefined where they are asked. It stays while operators come and go. */
let reportsPort: number | undefined;

type Options = Parameters<typeof runOperator>[3];

export async function startOperator(options: Options = {}, changes: Partial<OperatorConfig> = {}) {
  const lifecycle = new Lifecycle();
  const config = {
    ...SETTINGS,
    storageVolume: { emptyDir: {} },
    allowPrivateDestinations: true,
    kubeconfig: cluster.kubeconfig,
    namespace: NS,
    watched: [NS],
    leaseNamespace: NS,
    operatorNamespace: undefined,
    workers: 4,
    leaderElection: undefined,
    importConcurrency: 4,
    prepareConcurrency: 4,
    preparePods: 16,
    rolloutSeconds: 0,
    metered: isMetered,
    meteredNamespaces: [],
    sweep: true,
    sweepGraceHours: 24,
    keepUnusedDays: 30,
    reportsUrl: reportsPort === undefined ? undefined : `http://127.0.0.1:${reportsPort}`,
    reportsHost: '127.0.0.1',
    reportsPort: reportsPort ?? 0,
    opsHost: '127.0.0.1',
    opsPort: 0,
    maxPreparedBytes: DEFAULT_PREPARED_BYTES,
    ...changes,
  };
  const follow = reportsPort === undefined ? FOLLOW : FOLLOW_PUSHES;
  return { ...(await runOperator(config, lifecycle, silent, { follow, ...options })), lifecycle };
}

/**
 * Makes one namespace for the file and one operator for each test, and removes all objects between two tests. `metered` starts the metering
 * too; with `pushes`, pods report by themselves and are not asked.
 */
export function aroundEachTest({ metered = false, pushes = false } = {}): void {
  isMetered = metered;
  beforeAll(async () => {
    reportsPort = pushes ? await reserveFreePort() : undefined;
    cluster = await shareTestKubernetes();
    kube = createKube({ kubeconfig: cluster.kubeconfig });
    await applyCrds(kube);
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    // The previous file's namespace may still be terminating.
    await until(`a new namespace ${NS}`, () =>
      kube.create(NAMESPACES, '', { metadata: { name: NS, labels }, spec: {} }).catch(() => undefined),
    );
    kubelet = await createKubelet(kube, NS);
  });
  afterAll(async () => {
    await kubelet?.leave();
    await kube?.delete(NAMESPACES, '', NS);
    await kube?.close();
    await cluster?.stop();
  });
  beforeEach(async () => {
    operator = await startOperator();
  });
  afterEach(async () => {
    // Streams end as in production: the operator takes them off air before it stops.
    for (const resource of [LOOPSTREAMS, UPLOADS, PLAYLISTS, DESTINATIONS, SECRETS, JOBS, EVENTS] as Resource[]) {
      for (const { metadata } of await kube.list(resource, { namespace: NS })) {
        await kube.delete(resource, NS, metadata.name, { propagationPolicy: 'Background' });
      }
    }
    await until('nothing is left', async () => {
      for (const { metadata } of await kube.list(PODS, { namespace: NS })) await kubelet.remove(metadata.name);
      // The operator holds these until it has done what their end needs.
      const held = [LOOPSTREAMS, UPLOADS, PLAYLISTS, DESTINATIONS, PODS] as Resource[];
      const left = await Promise.all(held.map((resource) => kube.list(resource, { namespace: NS })));
      return left.flat().length === 0;
    });
    await operator.lifecycle.stop();
  });
}

export const buildObject = (kind: string, name: string, spec: unknown) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name },
  spec,
});

export const createSecret = (name: string, rtmpUrl = 'rtmp://127.0.0.1/live') =>
  kube.create(SECRETS, NS, { metadata: { name }, stringData: { rtmpUrl, rtmpKey: KEY } } as never);

export async function createDestination(name = 'tv'): Promise<void> {
  await createSecret(`${name}-secret`);
  await kube.create(DESTINATIONS, NS, buildObject('Destination', name, { secretName: `${name}-secret` }) as never);
}
export const createUpload = (name = 'film') =>
  kube.create(
    UPLOADS,
    NS,
    buildObject('Upload', name, { track: 'video', source: { url: 'https://media.example/film' } }) as never,
  );
export const createStream = (spec: Partial<LoopStreamSpec> = {}, name = 'bunny') =>
  kube.create(
    LOOPSTREAMS,
    NS,
    buildObject('LoopStream', name, {
      quality: '720p',
      uploadName: 'film',
      destinationNames: ['tv'],
      ...spec,
    }) as never,
  );

export const getStream = (name = 'bunny'): Promise<LoopStream> => kube.get(LOOPSTREAMS, NS, name);
export const getPod = (name = 'bunny-onair') =>
  kube.get(PODS, NS, name).catch(() => undefined) as Promise<Pod | undefined>;
export const setSpec = (spec: Partial<LoopStreamSpec>, name = 'bunny') =>
  kube.mergePatch(LOOPSTREAMS, NS, name, { spec });

export const waitForPhase = (wanted: string, name = 'bunny') =>
  until(`${name} is ${wanted}`, async () => {
    const stream = await getStream(name);
    return stream.status?.phase === wanted && stream;
  });
export const waitForPod = (name = 'bunny-onair') => until(`the pod ${name}`, () => getPod(name));

export async function waitForJobPod(job: string): Promise<Pod> {
  return until(`a pod of ${job}`, async () => {
    const pods = await kube.list(PODS, { namespace: NS, labelSelector: `batch.kubernetes.io/job-name=${job}` });
    return pods.find((one) => !one.metadata.deletionTimestamp && one.status?.phase === 'Pending');
  });
}

/** Plays the Job: its pod runs and ends with this result. */
export async function finishJob(job: string, result: unknown): Promise<void> {
  const { name } = (await waitForJobPod(job)).metadata;
  await kubelet.bind(name);
  await kubelet.end(name, 0, JSON.stringify(result));
}
export const MADE = {
  action: 'rendition',
  rendition: { profile: '720p30', state: 'ready', durationSeconds: 10, bitrateKbps: 4000 },
};

export async function prepareUpload(upload = 'film', profile = '720p30'): Promise<void> {
  await finishJob(`${upload}-import`, { action: 'import', media: MEDIA });
  await finishJob(`${upload}-${profile}`, { ...MADE, rendition: { ...MADE.rendition, profile } });
}

/** Creates the stream with all that it needs, and binds its pod to a node. */
export async function placePod(): Promise<void> {
  await createDestination();
  await createUpload();
  await createStream();
  await prepareUpload();
  await waitForPod();
  await kubelet.bind('bunny-onair');
}

export async function goLive(): Promise<LoopStream> {
  await placePod();
  await kubelet.run('bunny-onair', true);
  return waitForPhase('live');
}

/** Returns resource versions of everything in the namespace: equal versions prove that nothing was written. */
export async function readVersions(): Promise<Record<string, string>> {
  const all = [LOOPSTREAMS, UPLOADS, PLAYLISTS, DESTINATIONS, SECRETS, PODS, JOBS, EVENTS] as Resource[];
  const lists = await Promise.all(all.map((resource) => kube.list<KubeObject>(resource, { namespace: NS })));
  return Object.fromEntries(
    lists.flat().map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.resourceVersion]),
  );
}

export async function countReconciles(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operator.opsPort}/metrics`)).text();
  const counts = text.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
export const waitUntilIdle = async () => {
  let before = -1;
  await until('the operator has nothing to do', async () => {
    const text = await (await fetch(`http://127.0.0.1:${operator.opsPort}/metrics`)).text();
    const depth = [...text.matchAll(/^workqueue_depth\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
    const now = await countReconciles();
    const still = depth === 0 && now === before;
    before = now;
    return still;
  });
};

/** Waits until all writes stop, also those of the Job controller and the event recorders. */
export async function waitUntilAtRest(): Promise<Record<string, string>> {
  await waitUntilIdle();
  await until('the Jobs are over', async () =>
    (await kube.list(JOBS, { namespace: NS })).every(({ status }) =>
      status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed'),
    ),
  );
  let last = { seen: '', at: 0 };
  return until('nobody writes any more', async () => {
    const now = await readVersions();
    if (JSON.stringify(now) !== last.seen) last = { seen: JSON.stringify(now), at: performance.now() };
    return performance.now() - last.at > 1500 && now;
  });
}

/** Stops the operator, runs `meanwhile`, and starts it again. */
export async function withoutOperator<T>(meanwhile: () => Promise<T>, options?: Options): Promise<T> {
  await operator.lifecycle.stop();
  const result = await meanwhile();
  operator = await startOperator(options);
  return result;
}
