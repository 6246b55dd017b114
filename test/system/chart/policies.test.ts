/** Tests what the chart’s admission policy lets the operator do with Secrets, on a real kube-apiserver. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES, SECRETS } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { openHelms } from '../../kit/real/helm/index.ts';
import { INLINE } from '../../kit/real/helm/values.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { until } from '../../kit/wait.ts';

const STREAMS = 'loopstream-streams';
const REFUSAL = /writes only Secrets of its own/;

let kubernetes: TestKubernetes;
let kube: Kube;
let operator: Kube;

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await kube.create(NAMESPACES, '', { metadata: { name: STREAMS }, spec: {} });
  const { helms, close } = await openHelms(kubernetes.kubeconfig);
  const objects = (await helms[0]?.render(INLINE)) ?? [];
  close();
  for (const object of objects.filter(({ metadata }) => metadata.name.startsWith('loopstream-secrets'))) {
    const plural = object.kind === 'ValidatingAdmissionPolicy' ? 'policies' : 'policybindings';
    const path = `/apis/admissionregistration.k8s.io/v1/validatingadmission${plural}`;
    expect((await kube.raw('POST', path, object)).status).toBe(201);
  }
  const user = 'system:serviceaccount:loopstream:loopstream-operator';
  operator = createKube({
    // With every right: what is refused is refused by the policy.
    kubeconfig: await kubernetes.kubeconfigFor('operator', { user, groups: ['system:masters'] }),
  });
});
afterAll(async () => {
  await operator?.close();
  await kube?.close();
  await kubernetes?.stop();
});

const create = (by: Kube, name: string) =>
  by.create(SECRETS, STREAMS, { metadata: { name }, type: 'Opaque', stringData: { rtmpKey: 'key' } } as never);

test('the operator deletes the key of a destination and takes its owner off, and changes no key', async () => {
  for (const name of ['dst-1', 'database']) await create(kube, name);
  // A new policy holds after a moment.
  await until('the policy holds', () =>
    create(operator, 'dst-new').then(
      () => operator.delete(SECRETS, STREAMS, 'dst-new').then(() => false),
      (error: Error) => REFUSAL.test(error.message),
    ),
  );
  const change = (name: string, patch: object) => operator.mergePatch(SECRETS, STREAMS, name, patch);
  await create(operator, 'stream-1');
  await change('stream-1', { stringData: { rtmpKey: 'another' } });

  await change('dst-1', { metadata: { ownerReferences: [], labels: { kept: 'yes' } } });
  for (const patch of [{ stringData: { rtmpKey: 'another' } }, { data: { rtmpKey: null } }, { data: null }])
    await expect(change('dst-1', patch)).rejects.toThrow(REFUSAL);
  await expect(change('database', { metadata: { labels: { kept: 'no' } } })).rejects.toThrow(REFUSAL);
  await expect(operator.delete(SECRETS, STREAMS, 'database')).rejects.toThrow(REFUSAL);
  expect(await operator.delete(SECRETS, STREAMS, 'dst-1')).toBe(true);
});
