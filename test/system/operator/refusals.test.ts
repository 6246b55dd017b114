/** Tests on a real control plane that what Kubernetes refuses is on air by itself once others have mended what refused it. */
import { afterEach, expect, it } from 'vitest';
import { JOBS, PODS, type Pod } from '../../../src/kube/core.ts';
import { KubeError, type KubeObject, type Resource } from '../../../src/kube/types.ts';
import { isRefusal } from '../../../src/operator/runtime/controller.ts';
import { findCondition } from '../../../src/resources/common/conditions.ts';
import type { LoopStreamSpec } from '../../../src/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/resources/upload/resource.ts';
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
  operator,
  prepareUpload,
  setSpec,
  startOperator,
  waitForPhase,
  waitForPod,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const resource = (group: string, kind: string, plural: string, namespaced = false): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced,
});
const LIMIT_RANGES = resource('', 'LimitRange', 'limitranges', true);
const PRIORITY_CLASSES = resource('scheduling.k8s.io', 'PriorityClass', 'priorityclasses');
const RUNTIME_CLASSES = resource('node.k8s.io', 'RuntimeClass', 'runtimeclasses');
const ADMISSION = 'admissionregistration.k8s.io';
const POLICIES = resource(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const BINDINGS = resource(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
const WEBHOOKS = resource(ADMISSION, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations');

const made: [Resource, string][] = [];

async function make(of: Resource, name: string, body: object): Promise<void> {
  const object = { apiVersion: of.group === '' ? 'v1' : `${of.group}/v1`, kind: of.kind, metadata: { name }, ...body };
  await kube.create(of, of.namespaced ? NS : '', object as unknown as KubeObject);
  made.push([of, name]);
}

async function remove(): Promise<void> {
  for (const [of, name] of made.splice(0).toReversed()) await kube.delete(of, of.namespaced ? NS : '', name);
}
afterEach(remove);

const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': NS } };
const onCreate = (apiGroups: string, resources: string) => ({
  apiGroups: [apiGroups],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: [resources],
});

/** A policy that refuses what has no label `team`; without a reason of its own it says Invalid, as of a field that is wrong. */
async function makePolicy(group: string, resources: string, reason?: string): Promise<void> {
  // The Secret that a test makes itself is accepted, also while a policy of the test before still counts for a moment.
  const expression =
    "object.metadata.name == 'tv-secret' || (has(object.metadata.labels) && has(object.metadata.labels.team))";
  const message = 'Everything needs the label team.';
  await make(POLICIES, 'team', {
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [onCreate(group, resources)] },
      validations: [{ expression, message, ...(reason && { reason }) }],
    },
  });
  const spec = { policyName: 'team', validationActions: ['Deny'], matchResources: { namespaceSelector } };
  await make(BINDINGS, 'team', { spec });
}

/** Nothing listens there. */
const makeWebhook = () =>
  make(WEBHOOKS, 'team.example.com', {
    webhooks: [
      {
        name: 'team.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [onCreate('', 'pods')],
        namespaceSelector,
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });

const probe: KubeObject = {
  metadata: { name: 'probe' },
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'x',
        image: 'x',
        resources: { requests: { cpu: '100m' } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

/** kube-apiserver learns of a policy a moment after it is made. */
const refusesPods = () =>
  until('pods are refused', async () => {
    try {
      await kube.create(PODS as Resource, NS, probe);
      await kube.delete(PODS, NS, 'probe', { gracePeriodSeconds: 0 });
      return false;
    } catch (error) {
      return isRefusal(error);
    }
  });

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
      await make(LIMIT_RANGES, 'small', { spec: { limits: [{ type: 'Container', max: { cpu: '1m' } }] } });
      await refusesPods();
    },
    words: 'maximum cpu usage per Container is 1m',
  },
  {
    what: 'a policy that says Invalid',
    refuse: async () => {
      await makePolicy('', 'pods');
      await refusesPods();
    },
    words: 'Everything needs the label team.',
  },
  {
    what: 'a policy that says RequestEntityTooLarge',
    refuse: async () => {
      await makePolicy('', 'pods', 'RequestEntityTooLarge');
      await refusesPods();
    },
    words: 'Everything needs the label team.',
  },
  {
    what: 'a policy that refuses the Secret of the stream',
    refuse: async () => {
      await makePolicy('', 'secrets', 'Forbidden');
      await until('Secrets are refused', async () =>
        kube
          .create({ ...PODS, kind: 'Secret', plural: 'secrets' } as Resource, NS, {
            metadata: { name: `s${Date.now()}` },
          } as KubeObject)
          .then(
            () => false,
            (error) => error instanceof KubeError && error.message.includes('label team'),
          ),
      );
    },
    words: 'Everything needs the label team.',
  },
  {
    what: 'a webhook that does not answer',
    refuse: async () => {
      await makeWebhook();
      await refusesPods();
    },
    words: 'failed calling webhook',
  },
  {
    what: 'a PriorityClass that is missing',
    spec: { template: { priorityClassName: 'on-air' } },
    mend: () => make(PRIORITY_CLASSES, 'on-air', { value: 1000 }),
    words: 'no PriorityClass with name on-air was found',
  },
  {
    what: 'a RuntimeClass that is missing',
    spec: { template: { runtimeClassName: 'gvisor' } },
    mend: () => make(RUNTIME_CLASSES, 'gvisor', { handler: 'runsc' }),
    words: 'RuntimeClass "gvisor" not found',
  },
])('a stream refused by $what says so while it is tried again, and starts once that is mended', async (one) => {
  const { refuse, spec = {}, mend = remove, words } = one;
  await createDestination();
  await createUpload();
  await createStream({ replicas: 0, ...spec });
  await prepareUpload();
  await until('it can start', async () => (await getStream()).status?.canStart);
  await refuse?.();
  await setSpec({ replicas: 1 });
  const { generation } = (await getStream()).metadata;
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
  await kubelet.run('bunny-onair', true);
  const live = await waitForPhase('live');
  expect(live.metadata.generation).toBe(generation);
});

it('a stream on air whose pod is evicted and refused again is on air again by itself', async () => {
  const live = await goLive();
  await makePolicy('', 'pods');
  await refusesPods();
  await kube.delete(PODS, NS, 'bunny-onair');
  const standby = await waitForReason('Progressing', 'StandbyRefused');
  expect(standby).toMatchObject({ status: { phase: 'live' }, message: expect.stringContaining('label team') });
  expect(findCondition(standby.status?.conditions, 'Stalled')).toBeUndefined();
  await kubelet.remove('bunny-onair');
  const dark = await waitForReason('Progressing', 'PodRefused');
  expect(dark.status).toMatchObject({ phase: 'waiting', epoch: live.status?.epoch });
  expect(findCondition(dark.status?.conditions, 'Reconciling')?.reason).toBe('PodRefused');
  await remove();
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
  await makePolicy('', 'pods');
  await refusesPods();
  await createStream({}, 'second');
  await until(
    'it is refused',
    async () => findCondition((await getStream('second')).status?.conditions, 'Progressing')?.reason === 'PodRefused',
  );
  await operator.lifecycle.stop();
  await remove();
  await startOperator();
  await waitForPod('second-onair');
});

it('an upload whose Job a policy refuses is imported once it is gone', async () => {
  await makePolicy('batch', 'jobs');
  await until('Jobs are refused', async () =>
    kube
      .create(JOBS as Resource, NS, {
        metadata: { name: `probe-${Date.now()}` },
        spec: { suspend: true, template: { spec: { ...(probe.spec as object), restartPolicy: 'Never' } } },
      })
      .then(
        () => false,
        (error) => error instanceof KubeError && error.message.includes('label team'),
      ),
  );
  await createUpload();
  const refused = await until('it says why', async () => {
    const { status } = await kube.get(UPLOADS, NS, 'film');
    return findCondition(status?.conditions, 'Reconciling')?.reason === 'JobRefused' && status;
  });
  expect(findCondition(refused.conditions, 'Ready')?.message).toContain('label team');
  expect(findCondition(refused.conditions, 'Stalled')).toBeUndefined();
  await remove();
  await until('the Job', async () =>
    (await kube.list(JOBS, { namespace: NS })).some(({ metadata }) => metadata.name === 'film-import'),
  );
});
