/** Tests how many tests of destinations run at once, and the outcome of a pod that Kubernetes refuses. */
import { expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { KubeError } from '../../../../../src/core/kube/types.ts';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import type { ControllerDeps } from '../../../../../src/core/operator/caches/controller-deps.ts';
import { Tester } from '../../../../../src/core/operator/destination/tester.ts';
import { ACCOUNT_LABEL, TEST_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import { at, destination, endedPod, meta, NAMESPACE, SETTINGS } from '../../../../kit/make/operator.ts';

const SEEN = { ready: { status: 'True' as const, message: 'Fine.' }, secretVersion: '7' };
const PASSED = { ok: true, stage: 'publish', message: 'Fine.', tookMs: 1 };

const buildRequested = (name: string, account: string, id = 'now'): Destination => ({
  ...destination(name),
  metadata: { ...meta(name), labels: { [ACCOUNT_LABEL]: account }, annotations: { [TEST_ANNOTATION]: id } },
});

/** A tester whose pods are made by `create`, and kept. */
function testerWith(create: (pod: Pod) => Pod = (pod) => pod) {
  const pods = new Map<string, Pod>();
  const upsert = (pod: Pod) => pods.set(pod.metadata.name, pod);
  const kube = {
    create: async (_of: unknown, _namespace: string, pod: Pod) =>
      create({ ...pod, metadata: { ...pod.metadata, ...meta(pod.metadata.name) } }),
  };
  const caches = {
    pods: { get: (_namespace: string, name: string) => pods.get(name), upsert },
    streams: { byIndex: () => [] },
  };
  const tools = { kube, caches, settings: SETTINGS, clock: { now: () => at(5) } } as unknown as ControllerDeps;
  const tester = new Tester(tools);
  const advance = (name: string, account = name, id?: string) =>
    tester.advance(`${NAMESPACE}/${name}`, buildRequested(name, account, id), SEEN);
  return { tester, advance, pods, upsert };
}

it('twenty tests are made at once; the next one has its turn when one is over, or its destination is gone', async () => {
  const { tester, advance, pods, upsert } = testerWith();
  for (let n = 0; n < 20; n++) expect(await advance(`d${n}`)).toMatchObject({ make: true });
  expect(await advance('late')).toEqual({ requeueAfterMs: 1000 });
  expect(pods.size).toBe(20);
  // A test that is checked again keeps its place and takes no other.
  expect(await advance('d0')).toEqual({ requeueAfterMs: 1000 });
  const first = pods.get('test-uid-of-d0') as Pod;
  upsert({ ...first, status: endedPod(JSON.stringify(PASSED)).status ?? {} });
  expect((await advance('d0')).result).toMatchObject({ ok: true });
  expect(await advance('late')).toMatchObject({ make: true });
  expect(await advance('later')).toEqual({ requeueAfterMs: 1000 });
  tester.leave(`${NAMESPACE}/d1`);
  expect(await advance('later')).toMatchObject({ make: true });
});

it('a refused pod is reported, and takes no place', async () => {
  const { advance } = testerWith(() => {
    throw new KubeError(403, 'Forbidden', 'exceeded quota: pods');
  });
  for (let n = 0; n < 25; n++) {
    const { result, make } = await advance(`d${n}`);
    expect(result).toMatchObject({ ok: false, code: 'not_run', message: expect.stringContaining('exceeded quota') });
    expect(make).toBeUndefined();
  }
});

it('a refused pod is tried again while the person waits who asked for the test', async () => {
  const words = 'pods "x" is forbidden: violates PodSecurity "restricted:latest"';
  const answers = [() => new KubeError(403, 'Forbidden', words), () => undefined];
  const { advance } = testerWith((pod) => {
    const refused = answers.shift()?.();
    if (refused) throw refused;
    return pod;
  });
  const id = kubeTime(at(0));
  expect(await advance('d', 'd', id)).toEqual({ requeueAfterMs: 2000 });
  expect(await advance('d', 'd', id)).toMatchObject({ make: true });
  answers.push(() => new KubeError(403, 'Forbidden', words));
  const late = await advance('late', 'late', kubeTime(at(-21)));
  expect(late.result).toMatchObject({ code: 'not_run', message: expect.stringContaining('violates PodSecurity') });
});

it('a passing failure is retried', async () => {
  const { advance } = testerWith(() => {
    throw new KubeError(500, 'InternalError', 'etcd is away');
  });
  await expect(advance('d')).rejects.toThrow('etcd is away');
});
