/** Tests since when a Job lacks a pod, and how the operator asks whether Kubernetes would accept it. */
import { expect, it, vi } from 'vitest';
import { type Job, PODS } from '../../../../../src/core/kube/core.ts';
import { type Kube, KubeError } from '../../../../../src/core/kube/types.ts';
import { wantImport } from '../../../../../src/core/operator/upload/job.ts';
import { buildPodOfJob, createPodLooks, findLackMs } from '../../../../../src/core/operator/upload/pod-refusal.ts';
import { at, endedPod, makeJob, upload } from '../../../../kit/make/operator.ts';

const film = upload('film', {});
const job = (spec: object = {}): Job => {
  const made = makeJob(film, wantImport(film, false, { shared: false }));
  return { ...made, spec: { ...made.spec, ...spec } };
};

it('a Job lacks its pod since it was made, or since its last one ended', () => {
  expect(findLackMs(job(), [])).toBe(at(0).getTime());
  expect(findLackMs(job(), [endedPod('', 1)])).toBe(at(0).getTime());
  const ended = endedPod('', 1);
  Object.assign(ended.status?.containerStatuses?.[0]?.state?.terminated ?? {}, { finishedAt: at(7).toISOString() });
  expect(findLackMs(job(), [ended])).toBe(at(7).getTime());
});

it('a Job that has its pod, that has ended, or that others hold lacks none', () => {
  const running = { ...endedPod(''), status: { phase: 'Running' as const } };
  expect(findLackMs(job(), [running])).toBeUndefined();
  expect(findLackMs(job({ suspend: true }), [])).toBeUndefined();
  expect(findLackMs(job({ parallelism: 0 }), [])).toBeUndefined();
  const failed = makeJob(film, wantImport(film, false, { shared: false }), [{ type: 'Failed', status: 'True' }]);
  expect(findLackMs(failed, [])).toBeUndefined();
});

it('the pod has the labels, the owner and the containers that the Job controller gives it', () => {
  const one = job();
  const pod = buildPodOfJob(one);
  const { template } = one.spec;
  expect(pod.spec).toEqual(template?.spec);
  expect(pod.metadata).toMatchObject({
    labels: template?.metadata?.labels,
    ownerReferences: [{ kind: 'Job', uid: one.metadata.uid, controller: true }],
  });
});

/** Looks at a Job without a pod, `ms` after it was made; `create` is what Kubernetes says. */
function stage(create: () => Promise<object>) {
  const kube = { create: vi.fn(create), mergePatch: vi.fn(async () => one) };
  const one = job();
  const look = createPodLooks({ kube: kube as unknown as Kube, upsert: () => undefined });
  const refusals: unknown[] = [];
  return {
    kube,
    refusals,
    look: (seconds: number, wasRefused = false) =>
      look({
        jobs: [one],
        listPods: () => [],
        wasRefused,
        try: (write) => write().then(undefined, (error) => void refusals.push(error)),
        now: at(seconds),
      }),
  };
}

it('Kubernetes is asked five seconds after a Job was made, and writes nothing', async () => {
  const { kube, look, refusals } = stage(async () => ({}));
  expect(await look(4)).toEqual(at(5));
  expect(kube.create).not.toHaveBeenCalled();
  expect(await look(5)).toEqual(at(35));
  expect(kube.create).toHaveBeenCalledWith(PODS, 'tv', expect.anything(), { dryRun: true });
  expect(await look(10)).toEqual(at(35));
  expect(kube.create).toHaveBeenCalledTimes(1);
  expect(kube.mergePatch).not.toHaveBeenCalled();
  expect(refusals).toEqual([]);
});

it('the Job controller is told when a pod that was refused is accepted', async () => {
  const { kube, look } = stage(async () => ({}));
  await look(60, true);
  expect(kube.mergePatch).toHaveBeenCalledTimes(1);
});

it('a webhook that knows no dry run says nothing about the pod, and any other refusal is one', async () => {
  const unable = new KubeError(400, 'BadRequest', 'admission webhook "a.b" does not support dry run');
  const refused = new KubeError(403, 'Forbidden', 'exceeded quota');
  for (const [error, refusals] of [
    [unable, []],
    [refused, [refused]],
  ] as const) {
    const stand = stage(() => Promise.reject(error));
    await stand.look(60);
    expect(stand.refusals).toEqual(refusals);
  }
});
