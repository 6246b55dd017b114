/**
 * Attacks with the service's own accounts: the token of the operator or of the API server, and a person with kubectl in the streams'
 * namespace. The chart is installed as people install it, on a real kube-apiserver, which decides. test/cluster tests the pods' network,
 * where policies are enforced.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../src/core/kube/client.ts';
import { JOBS, PODS, SECRETS } from '../../src/core/kube/core.ts';
import { collectionPath, objectPath } from '../../src/core/kube/paths.ts';
import type { Kube, KubeObject, Resource } from '../../src/core/kube/types.ts';
import { buildTestPod } from '../../src/core/operator/destination/test-pod.ts';
import { buildPod } from '../../src/core/operator/stream/pod.ts';
import { buildJob, wantImport } from '../../src/core/operator/upload/job.ts';
import { ACCOUNT_LABEL, API_VERSION, FINALIZER } from '../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../src/core/resources/upload/resource.ts';
import { environment } from '../../src/core/settings/environment.ts';
import { run } from '../../tools/process/run.ts';
import { destination, makeProgram, S3_SETTINGS, SETTINGS, stream, upload, world } from '../kit/make/operator.ts';
import { openHelms } from '../kit/real/helm/index.ts';
import { INLINE } from '../kit/real/helm/values.ts';
import { startSmallKubernetes, type TestKubernetes } from '../kit/real/kubernetes.ts';
import { until } from '../kit/wait.ts';

const SERVICE = 'loopstream';
const STREAMS = 'loopstream-streams';
const VALUES = {
  ...INLINE,
  platform: { enabled: true },
  policies: {
    template: { enabled: true, priorityClassNames: ['streams'], maxCpu: '2', maxMemory: '2Gi' },
    destinations: { secretPrefix: 'rtmp-' },
  },
};

let kubernetes: TestKubernetes;
let kube: Kube;

interface Answer {
  status: number;
  message: string;
}

/** Sends a request as one of the service's accounts, as a tenant with kubectl, or as a person with every right. Nothing is stored unless `stored`. */
async function ask(who: string, method: string, path: string, body?: unknown, stored = false): Promise<Answer> {
  const user = who === 'tenant' ? who : `system:serviceaccount:${SERVICE}:loopstream-${who}`;
  const headers: Record<string, string> = {
    ...(who !== 'person' && { 'impersonate-user': user }),
    ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }),
  };
  const { status, text } = await kube.raw(method, stored ? path : `${path}?dryRun=All`, body, headers);
  const { message = '' } = JSON.parse(text) as { message?: string };
  return { status, message };
}

const collection = <T extends KubeObject>(resource: Resource<T>, namespace = STREAMS) =>
  collectionPath(resource, namespace);
const secret = (name: string, more: object = {}) => ({ metadata: { name }, stringData: { rtmpKey: 'x' }, ...more });

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  const { helms, close } = await openHelms(kubernetes.kubeconfig);
  const objects = (await helms[0]?.render(VALUES)) ?? [];
  close();
  const env = { PATH: environment().PATH, HOME: kubernetes.stateDir, KUBECONFIG: kubernetes.kubeconfig };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SERVICE } };
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [namespace, ...objects] });
  const applied = await run(kubernetes.binaries.kubectl, ['apply', '--server-side', '-f', '-'], {
    env,
    timeoutMs: 120_000,
    input,
  });
  expect(applied.stderr).toBe('');
  // kube-apiserver follows writes with a delay: rights, then policies, and service accounts for pods.
  const foreign = () => ask('operator', 'POST', collection(SECRETS), secret('anybody-s'));
  await until('the policies are in force', async () => /Secrets of its own/.test((await foreign()).message));
  const policies = ['pods', 'jobs', 'foreign', 'elsewhere', 'accounts', 'template', 'destinations'].map(
    (name) => `loopstream-${name}-${SERVICE}`,
  );
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  for (const name of policies) {
    const { text } = await kube.raw('GET', `${path}/${name}`);
    expect(JSON.parse(text).metadata.name).toBe(name);
  }
  await until('a pod is accepted', async () => (await ask('operator', 'POST', collection(PODS), POD)).status === 201);
  const bad = { ...POD, spec: { ...POD.spec, hostNetwork: true } };
  await until('pods are bound', async () => (await ask('operator', 'POST', collection(PODS), bad)).status === 403);
});
afterAll(async () => {
  await kube?.close();
  await kubernetes?.stop();
});

const PROGRAM = makeProgram(stream(), world({ destinations: [destination()] }), '2026-06-01T12:00:00Z');
const inStreams = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace: STREAMS },
});
const POD = inStreams(buildPod(stream(), PROGRAM, SETTINGS)) as never as KubeObject & { spec: Record<string, unknown> };
const JOB = inStreams(buildJob(upload('film', {}), wantImport(upload('film', {})), SETTINGS)) as never as KubeObject;

describe('the namespace of the streams', () => {
  test('holds none of the service’s Secrets, and neither account has a right in the service’s own', async () => {
    const inside = await kube.list(SECRETS, { namespace: STREAMS });
    expect(inside.map(({ metadata }) => metadata.name)).toEqual([]);
    const own = await kube.list(SECRETS, { namespace: SERVICE });
    expect(own.map(({ metadata }) => metadata.name)).toContain('loopstream-api');
    for (const who of ['operator', 'api', 'billing', 'platform'])
      for (const [method, path, body] of [
        ['GET', objectPath(SECRETS, SERVICE, 'loopstream-api')],
        ['PATCH', objectPath(SECRETS, SERVICE, 'loopstream-api'), {}],
        ['DELETE', objectPath(SECRETS, SERVICE, 'loopstream-api')],
        ['POST', collection(PODS, SERVICE), POD],
      ] as const)
        expect((await ask(who, method, path, body)).status, `${who}: ${method} ${path}`).toBe(403);
  });

  test('refuses a pod that Pod Security `restricted` does not allow, from any user', async () => {
    const containers = [{ name: 'a', image: 'b', securityContext: { privileged: true } }];
    const answer = await ask('person', 'POST', collection(PODS), { metadata: { name: 'a' }, spec: { containers } });
    expect(answer).toMatchObject({ status: 403, message: expect.stringContaining('PodSecurity') });
  });
});

describe('Secrets, with the service’s tokens', () => {
  const OURS = { operator: 'stream-0f0e', api: 'dst-01k0' } as const;
  beforeAll(async () => {
    for (const name of ['database', OURS.operator, OURS.api])
      expect((await ask('person', 'POST', collection(SECRETS), secret(name), true)).status).toBe(201);
  });

  test('those of our names are written', async () => {
    expect((await ask('api', 'PATCH', objectPath(SECRETS, STREAMS, OURS.api), { stringData: { a: 'b' } })).status).toBe(
      200,
    );
    expect((await ask('api', 'DELETE', objectPath(SECRETS, STREAMS, OURS.api))).status).toBe(200);
    expect((await ask('api', 'POST', collection(SECRETS), secret('dst-another'))).status).toBe(201);
    expect((await ask('operator', 'POST', collection(SECRETS), secret('stream-another'))).status).toBe(201);
    const kept = await kube.get(SECRETS, STREAMS, OURS.operator);
    expect((await ask('operator', 'PUT', objectPath(SECRETS, STREAMS, OURS.operator), kept)).status).toBe(200);
  });

  test('a foreign one is neither written, nor seen in the answer to a write, nor deleted', async () => {
    const one = objectPath(SECRETS, STREAMS, 'database');
    const kept = await kube.get(SECRETS, STREAMS, 'database');
    for (const [who, method, path, body] of [
      ['api', 'PATCH', one, {}],
      ['api', 'PATCH', one, { stringData: { rtmpUrl: 'x' } }],
      ['api', 'DELETE', one],
      ['api', 'POST', collection(SECRETS), secret('new')],
      ['api', 'POST', collection(SECRETS), { ...secret(''), metadata: { generateName: 'evil-' } }],
      ['operator', 'PUT', one, kept],
      ['operator', 'POST', collection(SECRETS), secret('new')],
      // The other role's objects are out of reach too.
      ['api', 'PATCH', objectPath(SECRETS, STREAMS, OURS.operator), {}],
      // The operator may take its owner off, and changes nothing of its content.
      [
        'operator',
        'PUT',
        objectPath(SECRETS, STREAMS, OURS.api),
        { ...(await kube.get(SECRETS, STREAMS, OURS.api)), data: { a: 'Yw==' } },
      ],
    ] as const) {
      const { status, message } = await ask(who, method, path, body);
      expect(status, `${who}: ${method} ${path}`).toBe(403);
      expect(message).toContain('Change it as its owner');
      expect(message).not.toContain('eA==');
    }
  });

  test('none is made by which Kubernetes hands out the token of an account', async () => {
    const token = { type: 'kubernetes.io/service-account-token' };
    const metadata = { name: 'dst-token', annotations: { 'kubernetes.io/service-account.name': 'default' } };
    const { status, message } = await ask('api', 'POST', collection(SECRETS), { ...secret(''), ...token, metadata });
    expect({ status, message }).toMatchObject({ status: 403, message: expect.stringContaining('Opaque') });
  });
});

describe('pods and Jobs, with the operator’s token', () => {
  type Spec = Record<string, unknown> & { containers: Record<string, unknown>[]; volumes: object[] };
  /** Adds this to the only container. */
  const inContainer = (more: object) => (spec: Spec) => ({
    containers: spec.containers.map((c) => ({ ...c, ...more })),
  });
  const withVolume = (more: object) => (spec: Spec) => ({ volumes: [...spec.volumes, { name: 'more', ...more }] });
  const secured = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

  test('the operator’s own pods are accepted: streams, imports and tests, with media in a volume and in S3', async () => {
    for (const settings of [SETTINGS, S3_SETTINGS]) {
      for (const pod of [buildPod(stream(), PROGRAM, settings), buildTestPod(destination(), '1', settings)])
        expect(await ask('operator', 'POST', collection(PODS), inStreams(pod as KubeObject))).toMatchObject({
          status: 201,
        });
      const job = inStreams(buildJob(upload('film', {}), wantImport(upload('film', {})), settings) as KubeObject);
      expect(await ask('operator', 'POST', collection(JOBS), job)).toMatchObject({ status: 201 });
    }
  });

  test.each<[string, object | ((spec: Spec) => object)]>([
    ['another image', inContainer({ image: 'evil.example.com/loopstream:1' })],
    ['an image whose name begins like ours', inContainer({ image: 'loopstream-evil:1' })],
    ['an image in an init container', { initContainers: [{ name: 'i', image: 'evil:1', securityContext: secured }] }],
    ['the node’s network', { hostNetwork: true }],
    ['the node’s processes', { hostPID: true }],
    ['a port of the node', inContainer({ ports: [{ containerPort: 80, hostPort: 80 }] })],
    ['a node past the scheduler', { nodeName: 'control-plane' }],
    ['another account', { serviceAccountName: 'somebody' }],
    ['a token', { automountServiceAccountToken: true }],
    ['the node’s files', withVolume({ hostPath: { path: '/' } })],
    ['a token by a volume', withVolume({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } })],
    ['privileges', inContainer({ securityContext: { privileged: true } })],
    [
      'a capability',
      inContainer({ securityContext: { ...secured, capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } } }),
    ],
  ])('%s is refused, in a pod and in a Job', async (_, change) => {
    const changed = (spec: Spec) => ({ ...spec, ...(typeof change === 'function' ? change(spec) : change) });
    const pod = { ...POD, spec: changed(POD.spec as Spec) };
    const { status, message } = await ask('operator', 'POST', collection(PODS), pod);
    expect(status, message).toBe(403);
    const { template, ...rest } = JOB.spec as unknown as { template: { metadata: object; spec: Spec } };
    const job = { ...JOB, spec: { ...rest, template: { ...template, spec: changed(template.spec) } } };
    const refused = await ask('operator', 'POST', collection(JOBS), job);
    expect(refused).toMatchObject({
      status: 403,
      message: expect.stringContaining('The operator of loopstream makes'),
    });
  });

  test('a pod that no NetworkPolicy selects is refused', async () => {
    for (const labels of [{}, { ...POD.metadata.labels, 'app.kubernetes.io/component': 'other' }]) {
      const { status, message } = await ask('operator', 'POST', collection(PODS), {
        ...POD,
        metadata: { ...POD.metadata, labels },
      });
      expect({ status, message }).toMatchObject({ status: 403, message: expect.stringContaining('NetworkPolicies') });
    }
  });

  test('an existing pod gets no other image and loses no label; an older one with another image can still lose its finalizer', async () => {
    const spec = POD.spec as Spec;
    const old = inContainer({ image: 'registry.example.com/older:1' })(spec);
    const pod = { ...POD, metadata: { ...POD.metadata, name: 'older' }, spec: { ...spec, ...old } };
    expect(await ask('person', 'POST', collection(PODS), pod, true)).toMatchObject({ status: 201 });
    const path = objectPath(PODS, STREAMS, 'older');
    const patch = (body: object) => ask('operator', 'PATCH', path, body);
    expect(await patch({ metadata: { finalizers: null, annotations: { a: 'b' } } })).toMatchObject({ status: 200 });
    expect(await patch({ spec: inContainer({ image: 'evil:1' })(spec) })).toMatchObject({ status: 403 });
    expect(await ask('operator', 'DELETE', path)).toMatchObject({ status: 200 });
    expect(await patch({ metadata: { labels: { 'app.kubernetes.io/component': 'none' } } })).toMatchObject({
      status: 403,
    });
  });
});

test('pods and Jobs of somebody else are neither changed nor deleted with the operator’s token', async () => {
  const foreign = { ...POD, metadata: { name: 'foreign', labels: { app: 'somebody' } } };
  expect(await ask('person', 'POST', collection(PODS), foreign, true)).toMatchObject({ status: 201 });
  const path = objectPath(PODS, STREAMS, 'foreign');
  const ours = { metadata: { labels: POD.metadata.labels } };
  for (const [method, body] of [['PATCH', ours], ['DELETE']] as const)
    expect(await ask('operator', method, path, body)).toMatchObject({
      status: 403,
      message: expect.stringContaining('of its own'),
    });
});

test('streams in a namespace of somebody else are not changed with the operator’s token, which may patch them everywhere', async () => {
  const spec = { quality: '720p', uploadName: 'film', destinationNames: ['tv'] };
  const bunny = { apiVersion: API_VERSION, kind: 'LoopStream', metadata: { name: 'bunny' }, spec };
  for (const namespace of [STREAMS, SERVICE])
    expect(await ask('person', 'POST', collection(LOOPSTREAMS, namespace), bunny, true)).toMatchObject({ status: 201 });
  const patch = { metadata: { finalizers: [FINALIZER] } };
  const path = (namespace: string) => objectPath(LOOPSTREAMS, namespace, 'bunny');
  expect(await ask('operator', 'PATCH', path(STREAMS), patch)).toMatchObject({ status: 200 });
  for (const who of ['operator', 'billing'])
    expect(await ask(who, 'PATCH', path(SERVICE), patch)).toMatchObject({ status: 403 });
  expect((await ask('operator', 'PATCH', path(SERVICE), patch)).message).toContain('the namespaces that it watches');
});

describe('a person with kubectl, where the template is bounded', () => {
  const loopstream = (template?: object) => ({
    apiVersion: 'loopstream.dev/v1beta1',
    kind: 'LoopStream',
    metadata: { name: 'mine' },
    spec: { uploadName: 'u', destinationNames: ['d'], ...(template && { template }) },
  });
  const limits = (cpu: string | number, memory: string) => ({ resources: { limits: { cpu, memory } } });

  test.each<[string, object | undefined]>([
    ['nothing', undefined],
    ['resources within the bounds', limits('500m', '1Gi')],
    ['as much as is allowed, as a number', limits(2, '2048Mi')],
    ['an allowed priority', { priorityClassName: 'streams' }],
  ])('%s is accepted', async (_, template) => {
    expect(await ask('person', 'POST', collection(LOOPSTREAMS), loopstream(template))).toMatchObject({ status: 201 });
  });

  test.each<[string, object, string]>([
    ['a priority above everybody', { priorityClassName: 'system-node-critical' }, 'priorityClassName'],
    ['a runtime', { runtimeClassName: 'unsafe' }, 'runtimeClassName'],
    ['a toleration of every taint', { tolerations: [{ operator: 'Exists' }] }, 'policies.template.placement'],
    ['a node', { nodeSelector: { 'kubernetes.io/hostname': 'x' } }, 'policies.template.placement'],
    [
      'an annotation that another admission controller reads',
      { annotations: { 'k8s.v1.cni.cncf.io/networks': 'x' } },
      'policies.template.metadata',
    ],
    ['a label', { labels: { team: 'video' } }, 'policies.template.metadata'],
    ['a neighbourhood', { affinity: { podAffinity: {} } }, 'policies.template.placement'],
    ['too much memory', limits('1', '2049Mi'), 'limits.memory of at most 2Gi'],
    ['too many processors', limits('2001m', '1Gi'), 'limits.cpu of at most 2'],
    ['no limit', { resources: { requests: { cpu: '1' } } }, 'needs limits.cpu'],
    [
      'a disk without end',
      { resources: { limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '11Gi' } } },
      'ephemeral-storage of at most 10Gi',
    ],
    ['a limit of one alone', { resources: { limits: { cpu: '1' } } }, 'limits.memory'],
    [
      'other hardware',
      { resources: { limits: { cpu: '1', memory: '1Gi', 'example.com/gpu': '8' } } },
      'may name no others',
    ],
  ])('%s is refused with a sentence that names the next step', async (_, template, says) => {
    const { status, message } = await ask('person', 'POST', collection(LOOPSTREAMS), loopstream(template));
    expect(status, message).toBe(422);
    expect(message).toContain(says);
    expect(message).toContain('ask who runs loopstream');
  });

  test.each<[string, object]>([
    ['0, which is no limit', { limits: { cpu: 0, memory: '0' } }],
    ['below 0', { limits: { cpu: '-5', memory: '1Gi' } }],
    ['of disk that are 0', { limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '0' } }],
    ['that are no quantities', { limits: { cpu: 'many', memory: '1Gi' } }],
    ['with requests below 0', { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '-1' } }],
  ])('limits %s are refused by the definition itself', async (_, resources) => {
    const { status, message } = await ask('person', 'POST', collection(LOOPSTREAMS), loopstream({ resources }));
    expect(status, message).toBe(422);
    expect(message).toContain('must be quantities');
  });

  test('names Secrets of the prefix alone in a Destination', async () => {
    const getContext = (secretName: string, tokenSecret?: string) => ({
      apiVersion: 'loopstream.dev/v1beta1',
      kind: 'Destination',
      metadata: { name: 'mine' },
      spec: { secretName, ...(tokenSecret && { platform: { kind: 'youtube', secretName: tokenSecret } }) },
    });
    const post = (...names: [string, string?]) => ask('person', 'POST', collection(DESTINATIONS), getContext(...names));
    for (const name of ['rtmp-mine', 'dst-01k0']) expect((await post(name)).status).toBe(201);
    for (const name of ['database', 'stream-1', 'my-rtmp']) {
      const { status, message } = await post(name);
      expect(status).toBe(422);
      expect(message).toContain('begin with "rtmp-" here. Copy the URL and the key into a Secret of such a name.');
      // The token of a platform is read from a Secret too, and sent to the platform.
      expect((await post('rtmp-mine', 'rtmp-token')).status).toBe(201);
      const token = await post('rtmp-mine', name);
      expect(token.status).toBe(422);
      expect(token.message).toContain('begin with "rtmp-" here. Copy the token into a Secret of such a name.');
    }
  });
});

describe('a tenant with kubectl, who may do all in the namespace', () => {
  const RBAC = `/apis/rbac.authorization.k8s.io/v1/namespaces/${STREAMS}`;
  /** Gives the tenant a right. */
  async function grant(name: string, resources: string[], verbs: string[]): Promise<void> {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }];
    const rules = [{ apiGroups: ['loopstream.dev'], resources, verbs }];
    const post = (plural: string, body: object) =>
      ask('person', 'POST', `${RBAC}/${plural}`, { metadata: { name }, ...body }, true);
    expect((await post('roles', { rules })).status).toBe(201);
    expect((await post('rolebindings', { roleRef, subjects })).status).toBe(201);
  }
  const KINDS: [Resource<KubeObject>, object][] = [
    [LOOPSTREAMS as never, { uploadName: 'film', destinationNames: ['d'] }],
    [UPLOADS as never, { track: 'video', source: { sent: { sizeBytes: 9, receivedBytes: 9 } } }],
    [PLAYLISTS as never, { items: [{ uploadName: 'film' }] }],
    [DESTINATIONS as never, { secretName: 'rtmp-mine' }],
  ];
  const build = ({ kind }: Resource<KubeObject>, spec: object, account?: string, name = 'film') => ({
    apiVersion: API_VERSION,
    kind,
    metadata: { name, ...(account !== undefined && { labels: { [ACCOUNT_LABEL]: account } }) },
    spec,
  });

  test('gives no object to an account, takes none away, and so forges no match with a lost upload', async () => {
    const plurals = KINDS.map(([{ plural }]) => plural);
    await grant('editor', plurals, ['*']);
    for (const [resource, spec] of KINDS) {
      const post = (who: string, account?: string, name?: string, stored = false) =>
        ask(who, 'POST', collection(resource), build(resource, spec, account, name), stored);
      await until('the tenant may write', async () => (await post('tenant')).status === 201);
      const forged = await until('it is refused', async () => {
        const answer = await post('tenant', 'acc-ada');
        return answer.status === 403 && answer;
      });
      expect(forged.message).toContain('says who owns an object');
      // The API server does so, and a person with every right who restores a backup.
      expect(await post('api', 'acc-ada')).toMatchObject({ status: 201 });
      expect(await post('person', 'acc-ada', 'hers', true)).toMatchObject({ status: 201 });
      expect(await post('tenant', undefined, 'mine', true)).toMatchObject({ status: 201 });
      const patch = (who: string, name: string, metadata: object) =>
        ask(who, 'PATCH', objectPath(resource, STREAMS, name), { metadata });
      for (const account of ['acc-eve', null, ''])
        expect(await patch('tenant', 'hers', { labels: { [ACCOUNT_LABEL]: account } })).toMatchObject({ status: 403 });
      expect(await patch('tenant', 'mine', { labels: { [ACCOUNT_LABEL]: 'acc-ada' } })).toMatchObject({ status: 403 });
      expect(await patch('tenant', 'hers', { labels: { team: 'news' } })).toMatchObject({ status: 200 });
    }
    await grant('restorer', ['accounts'], ['assign']);
    const [, [resource, spec]] = KINDS as [never, (typeof KINDS)[number]];
    await until(
      'the right to restore',
      async () => (await ask('tenant', 'POST', collection(resource), build(resource, spec, 'acc-ada'))).status === 201,
    );
  });
});
