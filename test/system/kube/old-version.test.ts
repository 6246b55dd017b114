/** Tests that nobody touches definitions whose objects may be stored as v1alpha1, and that each says the way on. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { CRDS } from '../../../src/core/kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { runOperator } from '../../../src/core/operator/main.ts';
import { operatorConfig } from '../../../src/core/operator/runtime/settings.ts';
import { DEFINITION_NAMES } from '../../../src/core/resources/common/names.ts';
import { customResourceDefinitions } from '../../../src/core/resources/crd/crds.ts';
import { CHART } from '../../../tools/generate/chart/generate.ts';
import { installDefinitions } from '../../../tools/local/definitions.ts';
import { applyRights, NAMESPACE, serviceAccountUser } from '../../../tools/local/rights.ts';
import { openHelms } from '../../kit/real/helm/index.ts';
import { OPERATOR_ONLY } from '../../kit/real/helm/values.ts';
import { silent } from '../../kit/real/kube.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';

type Definition = KubeObject<{ versions: { name: string }[] }, { storedVersions?: string[] }>;
const DEFINITIONS = CRDS as Resource<Definition>;

let kubernetes: TestKubernetes;
let kube: Kube;

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await applyRights(kube);
  for (const { apiVersion, kind, metadata, spec } of customResourceDefinitions()) {
    const versions = spec.versions.map((version) => ({ ...version, name: 'v1alpha1' }));
    const definition = { apiVersion, kind, metadata, spec: { ...spec, versions } };
    await kube.apply(CRDS, '', definition, { fieldManager: 'earlier' });
  }
  expect(await readStoredVersions()).toEqual(DEFINITION_NAMES.map(() => ['v1alpha1']));
});
afterAll(async () => {
  await kube?.close();
  await kubernetes?.stop();
});

const readDefinitions = () => Promise.all(DEFINITION_NAMES.map((name) => kube.get(DEFINITIONS, '', name)));
const readStoredVersions = async () => (await readDefinitions()).map(({ status }) => status?.storedVersions);

/** Expects that a step is refused with such a message, and has changed no definition. */
async function expectRefused(step: Promise<unknown>, error: object): Promise<void> {
  const read = async () => (await readDefinitions()).map(({ spec }) => spec.versions.map(({ name }) => name));
  await expect(step).rejects.toMatchObject(error);
  expect(await read()).toEqual(DEFINITION_NAMES.map(() => ['v1alpha1']));
}

const WAY = /v1alpha1.*docs\/upgrade\.md, "From v1alpha1"/;

test('the operator ends at its start, with its own rights, a code and the definitions', async () => {
  const user = serviceAccountUser('loopstream-operator');
  const config = operatorConfig({
    KUBECONFIG: await kubernetes.kubeconfigFor('operator', { user }),
    LOOPSTREAM_NAMESPACE: NAMESPACE,
    LOOPSTREAM_IMAGE: 'loopstream:1',
    LOOPSTREAM_STORAGE_VOLUME: JSON.stringify({ persistentVolumeClaim: { claimName: 'media' } }),
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
  });
  const lifecycle = new Lifecycle();
  try {
    await expectRefused(runOperator(config, lifecycle, silent), {
      code: 'objects_in_old_version',
      message: expect.stringMatching(WAY),
    });
    await expect(runOperator(config, lifecycle, silent)).rejects.toThrow(DEFINITION_NAMES.join(', '));
  } finally {
    await lifecycle.stop();
  }
});

test('make run names the state directory, and the command that deletes it', async () => {
  const message = expect.stringMatching(/^\/home\/me\/\.loopstream is of an earlier checkout.*run make reset/);
  await expectRefused(installDefinitions(kube, '/home/me/.loopstream'), { name: 'ConfigError', message });
  await expect(installDefinitions(kube, '/home/me/.loopstream')).rejects.toThrow(WAY);
});

test('Kubernetes itself refuses the definitions from a client that does not look', async () => {
  const refused = { reason: 'Invalid', message: expect.stringContaining('must remain in spec.versions') };
  for (const definition of customResourceDefinitions())
    await expectRefused(kube.apply(CRDS, '', { ...definition }, { fieldManager: 'earlier' }), refused);
});

describe.each(['Helm 4', 'Helm 3'])('%s', (name) => {
  test('refuses to install the chart', async () => {
    const { helms, close } = await openHelms(kubernetes.kubeconfig);
    try {
      const helm = helms.find((one) => one.name === name);
      const { ok, stderr } = (await helm?.run(
        ['install', 'loopstream', CHART, '--namespace', NAMESPACE, '--no-hooks'],
        OPERATOR_ONLY,
      )) ?? { ok: true, stderr: '' };
      expect(ok).toBe(false);
      expect(stderr).toMatch(WAY);
      expect(await readStoredVersions()).toEqual(DEFINITION_NAMES.map(() => ['v1alpha1']));
    } finally {
      close();
    }
  });
});
