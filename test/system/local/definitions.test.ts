/** Tests that `make run` migrates objects that an earlier checkout has stored, and leaves a cluster without a webhook. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKube } from '../../../src/kube/client.ts';
import { CRDS, NAMESPACES } from '../../../src/kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../../src/kube/types.ts';
import { DEFINITION_NAMES } from '../../../src/resources/common/names.ts';
import { customResourceDefinitions } from '../../../src/resources/crd/crds.ts';
import { installDefinitions } from '../../../tools/local/definitions.ts';
import { readStoredObjects } from '../../kit/real/etcd.ts';
import { silent } from '../../kit/real/kube.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { until } from '../../kit/wait.ts';

const NAMESPACE = 'loopstream';

let kubernetes: TestKubernetes;
let kube: Kube;
beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await kube.create(NAMESPACES, '', { metadata: { name: NAMESPACE }, spec: {} });
});
afterAll(async () => {
  await kube?.close();
  await kubernetes?.stop();
});

/** Installs the definitions as they were when v1alpha1 was the only version. */
async function installOldDefinitions(): Promise<void> {
  const clientConfig = { url: 'https://127.0.0.1:1/' };
  for (const { apiVersion, kind, metadata, spec } of customResourceDefinitions({
    storage: 'v1alpha1',
    alpha: { clientConfig },
  })) {
    const { conversion: _, ...rest } = spec;
    const versions = spec.versions.filter(({ name }) => name === 'v1alpha1');
    const old = { apiVersion, kind, metadata, spec: { ...rest, versions } };
    await kube.apply(CRDS, '', old, { fieldManager: 'loopstream-install' });
  }
}
const resource = (version: string, kind: string): Resource => ({
  group: 'loopstream.dev',
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});
const readDefinitions = () =>
  Promise.all(
    DEFINITION_NAMES.map((name) =>
      kube.get(
        CRDS as Resource<
          KubeObject<{ versions: { name: string }[]; conversion: { strategy: string } }, { storedVersions: string[] }>
        >,
        '',
        name,
      ),
    ),
  );

test('objects of an earlier checkout are stored as v1beta1, and a start after that writes nothing', async () => {
  await installOldDefinitions();
  const stream = {
    apiVersion: 'loopstream.dev/v1alpha1',
    kind: 'LoopStream',
    metadata: { name: 'bunny' },
    spec: { quality: '720p', uploadRef: 'film', destinationRefs: ['tv'] },
  };
  const old = resource('v1alpha1', 'LoopStream');
  await until('the old version is served', () => kube.create(old, NAMESPACE, stream).catch(() => undefined));
  const { metadata } = await kube.get(old, NAMESPACE, 'bunny');
  expect((await readStoredObjects(kubernetes)).map(({ apiVersion }) => apiVersion)).toEqual([
    'loopstream.dev/v1alpha1',
  ]);

  await installDefinitions(kube, { dir: kubernetes.stateDir, log: silent });
  const [stored] = await readStoredObjects(kubernetes);
  expect(stored).toMatchObject({
    apiVersion: 'loopstream.dev/v1beta1',
    spec: { quality: '720p', uploadName: 'film', destinationNames: ['tv'] },
  });
  const found = await kube.get(resource('v1beta1', 'LoopStream'), NAMESPACE, 'bunny');
  expect([found.metadata.uid, found.metadata.generation]).toEqual([metadata.uid, metadata.generation]);
  const definitions = await readDefinitions();
  for (const { spec, status } of definitions) {
    expect(spec.versions.map(({ name }) => name)).toEqual(['v1beta1']);
    expect(spec.conversion).toEqual({ strategy: 'None' });
    expect(status?.storedVersions).toEqual(['v1beta1']);
  }

  await installDefinitions(kube, { dir: kubernetes.stateDir, log: silent });
  const versions = (list: { metadata: { resourceVersion: string } }[]) =>
    list.map((one) => one.metadata.resourceVersion);
  expect(versions(await readDefinitions())).toEqual(versions(definitions));
  expect(await readStoredObjects(kubernetes)).toEqual([stored]);
});
