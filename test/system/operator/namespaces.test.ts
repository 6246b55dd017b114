/**
 * Tests one operator that watches several namespaces on a real control plane, with the rights of manifests/ and no more: namespaces that
 * come later, go, or lack the Role. The test drives the pods in kubelet's place.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { removeFinalizers } from '../../../src/core/operator/finalizers/remove.ts';
import { runOperator } from '../../../src/core/operator/main.ts';
import { operatorConfig } from '../../../src/core/operator/runtime/settings.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import {
  ACCOUNT_LABEL,
  COUNT_FINALIZER,
  FINALIZER,
  VIEW_KEY_SECRET,
} from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { reader } from '../../../src/core/settings/settings.ts';
import { runBilling } from '../../../src/service/billing/main.ts';
import { billingConfig } from '../../../src/service/billing/setup/settings.ts';
import { PROJECT_ROOT } from '../../../tools/process/root.ts';
import { startTestLedger } from '../../kit/make/ledger.ts';
import { MEDIA, SETTINGS } from '../../kit/make/operator.ts';
import { silent } from '../../kit/real/kube.ts';
import { shareTestKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { createKubelet, type Kubelet } from '../../kit/system/kubelet.ts';
import { buildObject, MADE } from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

const SERVICE = 'many-service';
const [TEAM_A, TEAM_B] = ['many-a', 'many-b'];
const STREAM = 'bunny';
const POD = `${STREAM}-onair`;
const ACCOUNT = 'many-account';
const GONE_MS = 120_000;

let cluster: TestKubernetes;
let kube: Kube;
let operator: { lifecycle: Lifecycle; opsPort: number } | undefined;
const kubelets = new Map<string, Kubelet>();

/**
 * Applies the objects of a manifest for the service's namespace of this test: those that name no namespace in `namespace`, or
 * all of them where it is `forced`. `objects` matches kinds and names.
 */
async function applyManifest(file: string, namespace: string, objects = /./, { forced = false } = {}): Promise<void> {
  const text = (await readFile(join(PROJECT_ROOT, 'manifests', file), 'utf8'))
    .replaceAll('namespace: loopstream\n', `namespace: ${SERVICE}\n`)
    .replaceAll(/(name: loopstream-\S+)-loopstream\n/g, `$1-${SERVICE}\n`);
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS() as KubeObject & { apiVersion: string; kind: string };
    if (!objects.test(`${object.kind} ${object.metadata.name}`)) continue;
    if (forced) object.metadata.namespace = namespace;
    const [group = '', version = ''] = object.apiVersion.split('/');
    const plural = `${object.kind.toLowerCase()}s`;
    const resource: Resource = { group, version, kind: object.kind, plural, namespaced: !/^Cluster/.test(object.kind) };
    await kube.apply(resource, object.metadata.namespace ?? namespace, { ...object }, { fieldManager: 'test' });
  }
}

async function startOperator(watched: string, more: Record<string, string> = {}): Promise<void> {
  const lifecycle = new Lifecycle();
  const config = operatorConfig({
    LOOPSTREAM_IMAGE: SETTINGS.image,
    LOOPSTREAM_STORAGE_URL: 's3://media/{namespace}',
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
    LOOPSTREAM_OPERATOR_NAMESPACE: SERVICE,
    LOOPSTREAM_WATCH_NAMESPACES: watched,
    KUBECONFIG: await cluster.kubeconfigFor(SERVICE, { user: `system:serviceaccount:${SERVICE}:loopstream-operator` }),
    ...more,
  });
  const { opsPort } = await runOperator(config, lifecycle, silent, {
    follow: { silentMs: 250 },
  });
  operator = { lifecycle, opsPort };
}

async function stopOperator(): Promise<void> {
  await operator?.lifecycle.stop();
  operator = undefined;
}

/** Counts the streams of a namespace on the account's credit. */
async function startBilling(namespace: string, databaseUrl: string) {
  const lifecycle = new Lifecycle();
  const config = billingConfig({
    KUBECONFIG: await cluster.kubeconfigFor(SERVICE, { user: `system:serviceaccount:${SERVICE}:loopstream-billing` }),
    LOOPSTREAM_NAMESPACE: namespace,
    LOOPSTREAM_DATABASE_URL: databaseUrl,
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
  });
  const { opsUrl, ready } = await runBilling({ ...config, meterIntervalMs: 1000 }, lifecycle, silent);
  await ready;
  return { opsUrl, stop: () => lifecycle.stop() };
}

const readMetrics = async (opsUrl: string): Promise<string> => (await fetch(`${opsUrl}/metrics`)).text();
const metric = async (part: string): Promise<boolean> =>
  (await readMetrics(`http://127.0.0.1:${operator?.opsPort}`)).includes(part);

async function createNamespace(name: string): Promise<void> {
  await until(`a new namespace ${name}`, () =>
    kube.create(NAMESPACES, '', { metadata: { name }, spec: {} }).catch(() => undefined),
  );
  kubelets.set(name, await createKubelet(kube, name, `node-of-${name}`));
}

/** Deletes a namespace and ends its pods as kubelet does; resolves when nothing is left of it. */
async function deleteNamespace(name: string): Promise<void> {
  const kubelet = kubelets.get(name);
  await kube.delete(NAMESPACES, '', name);
  await until(
    `the namespace ${name} is gone`,
    async () => {
      for (const pod of await kube.list(PODS, { namespace: name }))
        if (pod.metadata.deletionTimestamp) await kubelet?.remove(pod.metadata.name);
      return kube.get(NAMESPACES, '', name).then(
        () => false,
        () => true,
      );
    },
    GONE_MS,
  );
  await kubelet?.leave();
  kubelets.delete(name);
}

async function createStream(namespace: string): Promise<void> {
  const create = (resource: Resource<never>, object: object) => kube.create(resource, namespace, object as never);
  const stringData = { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'key' };
  await create(SECRETS as Resource<never>, { metadata: { name: 'tv-secret' }, stringData });
  await create(DESTINATIONS as Resource<never>, buildObject('Destination', 'tv', { secretName: 'tv-secret' }));
  const source = { url: 'https://media.example/film' };
  await create(UPLOADS as Resource<never>, buildObject('Upload', 'film', { track: 'video', source }));
  const spec = { quality: '720p', uploadName: 'film', destinationNames: ['tv'] };
  await create(LOOPSTREAMS as Resource<never>, buildObject('LoopStream', STREAM, spec));
}

/** Plays the pods of a stream's Jobs, then its own. */
async function bringOnAir(namespace: string): Promise<LoopStream> {
  const kubelet = kubelets.get(namespace);
  const makings: [string, unknown][] = [
    ['film-import', { action: 'import', media: MEDIA }],
    ['film-720p30', MADE],
  ];
  for (const [job, result] of makings) {
    const labelSelector = `batch.kubernetes.io/job-name=${job}`;
    const pod = await until(`a pod of ${job} in ${namespace}`, async () =>
      (await kube.list(PODS, { namespace, labelSelector })).find(({ status }) => status?.phase === 'Pending'),
    );
    await kubelet?.bind(pod.metadata.name);
    await kubelet?.end(pod.metadata.name, 0, JSON.stringify(result));
  }
  await until(`a pod of the stream in ${namespace}`, () => kube.get(PODS, namespace, POD).catch(() => undefined));
  await kubelet?.bind(POD);
  await kubelet?.run(POD, true);
  return waitUntilLive(namespace);
}

const waitUntilLive = (namespace: string): Promise<LoopStream> =>
  until(`the stream of ${namespace} is live`, async () => {
    const stream = await kube.get(LOOPSTREAMS, namespace, STREAM);
    return stream.status?.phase === 'live' && stream;
  });

beforeAll(async () => {
  cluster = await shareTestKubernetes();
  kube = createKube({ kubeconfig: cluster.kubeconfig });
  await applyCrds(kube);
});
afterAll(async () => {
  await kube?.close();
  await cluster?.stop();
});
beforeEach(async () => {
  await createNamespace(SERVICE);
  await applyManifest('rbac.yaml', SERVICE, /^Cluster/);
  await applyManifest('all-namespaces.yaml', SERVICE, /^Role/);
});
afterEach(async () => {
  for (const name of [...kubelets.keys()].filter((one) => one !== SERVICE)) await deleteNamespace(name);
  await stopOperator();
  if (kubelets.has(SERVICE)) await deleteNamespace(SERVICE);
  for (const plural of ['clusterroles', 'clusterrolebindings'])
    for (const name of ['operator-nodes', 'finalizers', 'operator-watch', 'platform-watch'])
      await kube.raw('DELETE', `/apis/rbac.authorization.k8s.io/v1/${plural}/loopstream-${name}-${SERVICE}`);
});

test('of two namespaces, one is made and deleted while the other is on air', async () => {
  await createNamespace(TEAM_A);
  await applyManifest('team-namespace.yaml', TEAM_A);
  await createStream(TEAM_A);
  await startOperator(`${TEAM_A},${TEAM_B}`);
  expect(await metric(`loopstream_namespace_watched{namespace="${TEAM_A}"} 1`)).toBe(true);
  expect(await metric(`loopstream_namespace_watched{namespace="${TEAM_B}"} 0`)).toBe(true);
  const { status } = await bringOnAir(TEAM_A);

  await createNamespace(TEAM_B);
  await createStream(TEAM_B);
  await applyManifest('team-namespace.yaml', TEAM_B);
  await bringOnAir(TEAM_B);
  expect(await metric(`loopstream_namespace_watched{namespace="${TEAM_B}"} 1`)).toBe(true);
  expect(await metric(`loopstream_info{namespace="${TEAM_B}"`)).toBe(true);
  const urls = await Promise.all(
    [TEAM_A, TEAM_B].map(async (namespace) => {
      const { spec } = await kube.get(PODS, namespace, POD);
      const env = Object.fromEntries(spec.containers?.[0]?.env?.map(({ name, value }) => [name, value]) ?? []);
      return reader(env).optional('STORAGE_URL');
    }),
  );
  expect(urls).toEqual([`s3://media/${TEAM_A}`, `s3://media/${TEAM_B}`]);

  await deleteNamespace(TEAM_B);
  await until('it is not watched any more', () => metric(`loopstream_namespace_watched{namespace="${TEAM_B}"} 0`));
  await until('its objects are forgotten', async () => !(await metric(`loopstream_info{namespace="${TEAM_B}"`)));
  expect((await waitUntilLive(TEAM_A)).status?.podUID).toBe(status?.podUID);

  await createNamespace(TEAM_B);
  await applyManifest('team-namespace.yaml', TEAM_B);
  await createStream(TEAM_B);
  await bringOnAir(TEAM_B);
  // The API server reads the key of views in this namespace: it is not the one that went with the last.
  expect((await kube.get(SECRETS, TEAM_B, VIEW_KEY_SECRET)).metadata.namespace).toBe(TEAM_B);
  expect((await kube.get(PODS, TEAM_A, POD)).metadata.uid).toBe(status?.podUID);
});

test('of all namespaces, one without the Role says so, and goes on air when it has it', async () => {
  await applyManifest('all-namespaces.yaml', SERVICE);
  await createNamespace(TEAM_A);
  await applyManifest('team-namespace.yaml', TEAM_A);
  await startOperator('*');
  await createStream(TEAM_A);
  await bringOnAir(TEAM_A);

  await createNamespace(TEAM_B);
  await createStream(TEAM_B);
  const missing = `The Role "loopstream-operator" or its RoleBinding is missing in namespace "${TEAM_B}".`;
  await until('the destination says so', async () => {
    const { status } = await kube.get(DESTINATIONS, TEAM_B, 'tv');
    return findCondition(status?.conditions, 'Ready')?.message.includes(missing);
  });
  await until('the stream says so', async () =>
    JSON.stringify((await kube.get(LOOPSTREAMS, TEAM_B, STREAM)).status?.conditions ?? []).includes(TEAM_B),
  );
  await applyManifest('team-namespace.yaml', TEAM_B);
  await bringOnAir(TEAM_B);

  await stopOperator();
  // Two streams, their pods and uploads, which can be deleted without the operator then.
  expect(await removeFinalizers(kube, undefined, { againMs: 100 })).toBe(6);
});

test('a namespace goes whose Roles went before its stream, which is paid for, was deleted', async () => {
  const ledger = await startTestLedger();
  onTestFinished(() => ledger.stop());
  await ledger.give(ACCOUNT, 1_000_000n);
  await createNamespace(TEAM_A);
  await applyManifest('team-namespace.yaml', TEAM_A);
  await applyManifest('rbac.yaml', TEAM_A, /^Role\w* loopstream-billing$/, { forced: true });
  await createStream(TEAM_A);
  await kube.mergePatch(LOOPSTREAMS, TEAM_A, STREAM, { metadata: { labels: { [ACCOUNT_LABEL]: ACCOUNT } } });
  await startOperator(TEAM_A, { LOOPSTREAM_METERED: 'true' });
  const billing = await startBilling(TEAM_A, ledger.url);
  onTestFinished(() => billing.stop());
  await bringOnAir(TEAM_A);
  expect((await kube.get(LOOPSTREAMS, TEAM_A, STREAM)).metadata.finalizers).toEqual(
    expect.arrayContaining([FINALIZER, COUNT_FINALIZER]),
  );
  // Kubernetes deletes all else when the pods are gone: this one holds that up until nobody may read the stream any more.
  const held = { name: 'held', finalizers: ['example.com/held'] };
  const spec = { containers: [{ name: 'none', image: 'none' }] };
  await kube.create(PODS as Resource<never>, TEAM_A, { metadata: held, spec } as never);
  try {
    await kube.delete(NAMESPACES, '', TEAM_A);
    await until('the pod of the stream is gone', async () => {
      const pod = await kube.get(PODS, TEAM_A, POD).catch(() => undefined);
      if (pod?.metadata.deletionTimestamp) await kubelets.get(TEAM_A)?.remove(POD);
      return pod === undefined;
    });
    const bindings = `/apis/rbac.authorization.k8s.io/v1/namespaces/${TEAM_A}/rolebindings`;
    for (const role of ['operator', 'billing']) await kube.raw('DELETE', `${bindings}/loopstream-${role}`);
    const refused = `namespace_watched{namespace="${TEAM_A}"} 0`;
    await until('the operator may not read', () => metric(`loopstream_${refused}`));
    await until('billing may not read', async () => (await readMetrics(billing.opsUrl)).includes(`account_${refused}`));
    expect((await kube.get(LOOPSTREAMS, TEAM_A, STREAM)).metadata.deletionTimestamp).toBe(undefined);
  } finally {
    await kube.mergePatch(PODS, TEAM_A, 'held', { metadata: { finalizers: null } });
  }
  await deleteNamespace(TEAM_A);
});

test('the namespace of the operator goes with the stream in it, and one elsewhere, which stays on air, can be deleted without it', async () => {
  await createNamespace(TEAM_A);
  for (const namespace of [SERVICE, TEAM_A]) {
    await applyManifest('team-namespace.yaml', namespace);
    await createStream(namespace);
  }
  await startOperator(`${SERVICE},${TEAM_A}`);
  for (const namespace of [SERVICE, TEAM_A]) await bringOnAir(namespace);
  await kube.delete(NAMESPACES, '', SERVICE);
  await stopOperator();
  await deleteNamespace(SERVICE);
  const { metadata, status } = await kube.get(LOOPSTREAMS, TEAM_A, STREAM);
  expect(metadata.finalizers ?? []).not.toContain(FINALIZER);
  expect(status?.phase).toBe('live');
  await deleteNamespace(TEAM_A);
});
