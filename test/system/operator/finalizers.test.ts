/** Tests finalizers and the deletion of a namespace: with an operator inside it, with one elsewhere, and with none. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES, PODS } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { removeFinalizers } from '../../../src/core/operator/finalizers/remove.ts';
import { FINALIZER, POD_FINALIZER } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { type Manifest, openHelms } from '../../kit/real/helm/index.ts';
import { OPERATOR_ONLY } from '../../kit/real/helm/values.ts';
import {
  aroundEachTest,
  cluster,
  createStream,
  getPod,
  getStream,
  goLive,
  kube,
  kubelet,
  NS,
  operator,
  waitUntilIdle,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const metadata = { name: NS, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } };
/** The previous test has deleted the namespace. */
beforeEach(async () => {
  await until('the namespace', () =>
    kube.create(NAMESPACES, '', { metadata, spec: {} }).catch(() => kube.get(NAMESPACES, '', NS)),
  );
  await until(
    'its service account',
    async () => (await kube.raw('GET', `/api/v1/namespaces/${NS}/serviceaccounts/default`)).status === 200,
  );
});

/** Deletes the namespace and ends its pods as kubelet does; resolves when nothing is left of it. */
async function deleteNamespace(): Promise<void> {
  await kube.delete(NAMESPACES, '', NS);
  await until('the namespace is gone', async () => {
    for (const pod of await kube.list(PODS, { namespace: NS }))
      if (pod.metadata.deletionTimestamp) await kubelet.remove(pod.metadata.name);
    return kube.get(NAMESPACES, '', NS).then(
      () => false,
      () => true,
    );
  });
}

const finalizers = async () => [
  (await getStream()).metadata.finalizers ?? [],
  (await getPod())?.metadata.finalizers ?? [],
];

/** Returns a client with the rights of the Job that the chart runs at an uninstallation, and with no more. */
async function createUninstaller(): Promise<Kube> {
  const { helms, close } = await openHelms(cluster.kubeconfig);
  onTestFinished(close);
  const objects = (await helms[0]?.render(OPERATOR_ONLY)) ?? [];
  const rights = objects.filter(
    ({ kind, metadata }) => /^ClusterRole/.test(kind) && metadata.annotations?.['helm.sh/hook'] === 'post-delete',
  );
  const collection = ({ kind }: Manifest) => `/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`;
  for (const object of rights) {
    expect((await kube.raw('POST', collection(object), object)).status).toBe(201);
    onTestFinished(() => kube.raw('DELETE', `${collection(object)}/${object.metadata.name}`).then(() => {}));
  }
  const [subject] = rights.flatMap(({ subjects = [] }) => subjects as { name: string; namespace: string }[]);
  const user = `system:serviceaccount:${subject?.namespace}:${subject?.name}`;
  const client = createKube({ kubeconfig: await cluster.kubeconfigFor('uninstaller', { user }) });
  onTestFinished(() => client.close());
  return client;
}

it('a namespace can be deleted whose operator runs elsewhere, with a stream on air and one that never was', async () => {
  await goLive();
  await createStream({ replicas: 0 }, 'idle');
  await deleteNamespace();
});

it('a namespace goes with its operator, with a stream on air', async () => {
  await goLive();
  await kube.delete(NAMESPACES, '', NS);
  await operator.lifecycle.stop();
  expect((await getStream()).metadata.finalizers).toBeUndefined();
  await deleteNamespace();
});

it('without an operator, the chart’s uninstallation removes finalizers; streams on air stay, and the next operator adds them again', async () => {
  const uninstaller = await createUninstaller();
  const { status } = await goLive();
  const held = [[FINALIZER], [POD_FINALIZER]];
  expect(await finalizers()).toEqual(held);
  await withoutOperator(async () => {
    expect(await removeFinalizers(uninstaller, NS, { againMs: 100 })).toBe(3);
    expect(await finalizers()).toEqual([[], []]);
    expect(await removeFinalizers(uninstaller, NS, { againMs: 100 })).toBe(0);
  });
  await until('held again', async () => JSON.stringify(await finalizers()) === JSON.stringify(held));
  await waitUntilIdle();
  expect((await getPod())?.metadata.uid).toBe(status?.podUID);
  expect((await getStream()).status).toMatchObject({ phase: 'live', podUID: status?.podUID });
  await operator.lifecycle.stop();
  await removeFinalizers(uninstaller, NS, { againMs: 100 });
  await deleteNamespace();
  expect(await kube.list(LOOPSTREAMS, { namespace: NS })).toEqual([]);
});
