/** Tests on a real control plane that what Kubernetes refuses is on air by itself once others have mended what refused it. */
import { afterEach, beforeAll, expect, it } from 'vitest';
import { JOBS, PODS, type Pod, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { streamSecretName } from '../../../src/core/resources/common/names.ts';
import type { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import {
  createRefusals,
  LIMIT_RANGES,
  NEEDS_TEAM,
  PRIORITY_CLASSES,
  PROBE,
  type Refusals,
  RUNTIME_CLASSES,
} from '../../kit/make/refusals.ts';
import {
  aroundEachTest,
  createDestination,
  createStream,
  createUpload,
  getPod,
  getStream,
  goLive,
  kube,
  kubelet,
  NS,
  prepareUpload,
  setSpec,
  waitForPhase,
  waitForPod,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

let refusals: Refusals;
beforeAll(() => {
  refusals = createRefusals(kube, NS);
});
afterEach(() => refusals.remove());

const waitForReason = (type: string, reason: string) =>
  until(`${type} says ${reason}`, async () => {
    const { status } = await getStream();
    const found = findCondition(status?.conditions, type);
    return found?.reason === reason && { status, message: found.message };
  });

interface Refusing {
  what: string;
  refuse?: () => Promise<unknown>;
  spec?: Partial<LoopStreamSpec>;
  mend?: () => Promise<unknown>;
  words: string;
}

it.each<Refusing>([
  {
    what: 'a LimitRange',
    refuse: async () => {
      await refusals.make(LIMIT_RANGES, 'small', { spec: { limits: [{ type: 'Container', max: { cpu: '1m' } }] } });
      await refusals.untilPodsRefused('"status":"Failure"');
    },
    words: 'maximum cpu usage per Container is 1m',
  },
  {
    what: 'a policy that says Invalid',
    refuse: async () => {
      await refusals.makePolicy({ resources: 'pods' });
      await refusals.untilPodsRefused();
    },
    words: NEEDS_TEAM,
  },
  {
    what: 'a policy that says RequestEntityTooLarge',
    refuse: async () => {
      await refusals.makePolicy({ resources: 'pods', reason: 'RequestEntityTooLarge' });
      await refusals.untilPodsRefused();
    },
    words: NEEDS_TEAM,
  },
  {
    what: 'a policy that refuses the Secret of the stream',
    refuse: async () => {
      await refusals.makePolicy({ resources: 'secrets', reason: 'Forbidden' });
      await refusals.untilRefused(SECRETS as Resource, { metadata: { name: 'probe' } }, NEEDS_TEAM);
    },
    words: NEEDS_TEAM,
  },
  {
    what: 'a webhook that does not answer',
    refuse: async () => {
      await refusals.makeWebhook();
      await refusals.untilPodsRefused('failed calling webhook');
    },
    words: 'failed calling webhook',
  },
  {
    what: 'a PriorityClass that is missing',
    spec: { template: { priorityClassName: 'on-air' } },
    mend: () => refusals.make(PRIORITY_CLASSES, 'on-air', { value: 1000 }),
    words: 'no PriorityClass with name on-air was found',
  },
  {
    what: 'a RuntimeClass that is missing',
    spec: { template: { runtimeClassName: 'gvisor' } },
    mend: () => refusals.make(RUNTIME_CLASSES, 'gvisor', { handler: 'runsc' }),
    words: 'RuntimeClass "gvisor" not found',
  },
])('a stream refused by $what says so while it is tried again, and starts once that is mended', async (one) => {
  const { refuse, spec = {}, mend = refusals.remove, words } = one;
  await createDestination();
  await createUpload();
  await createStream({ replicas: 0, ...spec });
  await prepareUpload();
  await until('it can start', async () => (await getStream()).status?.canStart);
  await refuse?.();
  await setSpec({ replicas: 1 });
  const refusing = await getStream();
  const { generation } = refusing.metadata;
  const refused = await until('it says why', async () => {
    const { status } = await getStream();
    return findCondition(status?.conditions, 'Progressing')?.message.includes(words) && status;
  });
  expect(findCondition(refused.conditions, 'Progressing')).toMatchObject({
    status: 'False',
    observedGeneration: generation,
  });
  expect(findCondition(refused.conditions, 'Reconciling')).toMatchObject({
    status: 'True',
    message: expect.stringContaining(words),
  });
  expect(findCondition(refused.conditions, 'Stalled')).toBeUndefined();
  await mend();
  await waitForPod();
  await kubelet.bind('bunny-onair');
  // Kubelet waits for the Secret.
  const secretName = streamSecretName(refusing.metadata.uid ?? '');
  await until('the Secret of the pod', () => kube.get(SECRETS, NS, secretName).catch(() => undefined));
  await kubelet.run('bunny-onair', true);
  const live = await waitForPhase('live');
  expect(live.metadata.generation).toBe(generation);
});

it('streams that a policy refuses now and then are live by themselves', async () => {
  await createDestination();
  await createUpload();
  await createStream({ replicas: 0 });
  await prepareUpload();
  // Kubernetes gives each try a new UID.
  await refusals.makePolicy({ resources: 'pods', accepts: "!object.metadata.uid.matches('^[0-7]')" });
  await until('a pod is refused', async () => {
    const path = `/api/v1/namespaces/${NS}/pods?dryRun=All`;
    return (await kube.raw('POST', path, { apiVersion: 'v1', kind: 'Pod', ...PROBE })).text.includes(NEEDS_TEAM);
  });
  const names = ['one', 'two', 'three'];
  for (const name of names) await createStream({}, name);
  for (const name of names) {
    await until(`the pod of ${name}`, () => getPod(`${name}-onair`), 100_000);
    await kubelet.bind(`${name}-onair`);
    await kubelet.run(`${name}-onair`, true);
    const { status } = await waitForPhase('live', name);
    expect(findCondition(status?.conditions, 'Progressing')?.status).toBe('True');
  }
}, 400_000);

it('a stream on air whose pod is evicted and refused again is on air again by itself', async () => {
  const live = await goLive();
  await refusals.makePolicy({ resources: 'pods' });
  await refusals.untilPodsRefused();
  await kube.delete(PODS, NS, 'bunny-onair');
  const standby = await waitForReason('Progressing', 'StandbyRefused');
  expect(standby).toMatchObject({ status: { phase: 'live' }, message: expect.stringContaining('label team') });
  expect(findCondition(standby.status?.conditions, 'Stalled')).toBeUndefined();
  await kubelet.remove('bunny-onair');
  const dark = await waitForReason('Progressing', 'PodRefused');
  expect(dark.status).toMatchObject({ phase: 'waiting', epoch: live.status?.epoch });
  expect(findCondition(dark.status?.conditions, 'Reconciling')?.reason).toBe('PodRefused');
  await refusals.remove();
  const pod = await until('another pod', async () => (await getPod()) ?? (await getPod('bunny-onair-b')));
  const { name } = (pod as Pod).metadata;
  await kubelet.bind(name);
  await kubelet.run(name, true);
  expect((await waitForPhase('live')).status?.epoch).toBe(live.status?.epoch);
});

it('a stream that was refused under an operator before is tried again by the next one', async () => {
  await createDestination();
  await createUpload();
  await createStream({ replicas: 0 });
  await prepareUpload();
  await until('it can start', async () => (await getStream()).status?.canStart);
  await refusals.makePolicy({ resources: 'pods' });
  await refusals.untilPodsRefused();
  await createStream({}, 'second');
  await until(
    'it is refused',
    async () => findCondition((await getStream('second')).status?.conditions, 'Progressing')?.reason === 'PodRefused',
  );
  await withoutOperator(() => refusals.remove());
  await waitForPod('second-onair');
});

it('an upload whose Job a policy refuses is imported once it is gone', async () => {
  await refusals.makePolicy({ group: 'batch', resources: 'jobs' });
  const spec = { template: { spec: { ...PROBE.spec, restartPolicy: 'Never' } } };
  await refusals.untilRefused(JOBS as Resource, { metadata: { name: 'probe' }, spec }, NEEDS_TEAM);
  await createUpload();
  const refused = await until('it says why', async () => {
    const { status } = await kube.get(UPLOADS, NS, 'film');
    return findCondition(status?.conditions, 'Reconciling')?.reason === 'JobRefused' && status;
  });
  expect(findCondition(refused.conditions, 'Ready')?.message).toContain('label team');
  expect(findCondition(refused.conditions, 'Stalled')).toBeUndefined();
  await refusals.remove();
  await until('the Job', async () =>
    (await kube.list(JOBS, { namespace: NS })).some(({ metadata }) => metadata.name === 'film-import'),
  );
});
