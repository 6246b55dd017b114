/** Tests where the streams of a release are, as both Helms determine it in a real cluster. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES } from '../../../src/core/kube/core.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { run } from '../../../tools/process/run.ts';
import { type Helm, openHelms, type Values } from '../../kit/real/helm/index.ts';
import { INLINE, OPERATOR_ONLY } from '../../kit/real/helm/values.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';

const STREAMS = 'loopstream-streams';

let kubernetes: TestKubernetes;
let helms: Helm[];
let closeHelms: () => void;
const helm = (name: string): Helm => {
  const found = helms.find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
};
const kubectl = async (args: string[], input: string) => {
  const env = { PATH: environment().PATH, HOME: kubernetes.stateDir, KUBECONFIG: kubernetes.kubeconfig };
  return run(kubernetes.binaries.kubectl, args, { env, timeoutMs: 60_000, input });
};

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await applyCrds(kube);
  for (const name of ['loopstream', STREAMS]) await kube.create(NAMESPACES, '', { metadata: { name }, spec: {} });
  await kube.close();
  ({ helms, close: closeHelms } = await openHelms(kubernetes.kubeconfig));
});
afterAll(async () => {
  closeHelms?.();
  await kubernetes?.stop();
});

const ASKING = ['--dry-run=server', '--api-versions', 'loopstream.dev/v1beta1'];
const HERE = { ...OPERATOR_ONLY, crds: { install: false }, streamsNamespace: { create: false } };
/** Returns the operator's namespaces when Helm may ask the cluster. */
const inCluster = async (name: string, values: Values = HERE) =>
  (await helm(name).render(values, ASKING)).find(
    ({ kind, metadata }) => kind === 'Role' && metadata.name === 'loopstream-operator',
  )?.metadata.namespace;
const withObjects = async <T>(objects: object[], then: () => Promise<T>): Promise<T> => {
  const items = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  expect((await kubectl(['apply', '-f', '-'], items)).stderr).toBe('');
  try {
    return await then();
  } finally {
    await kubectl(['delete', '-f', '-'], items);
  }
};
/** The metadata of an object that belongs to the release. */
const released = (name: string, namespace: string) => ({
  name,
  namespace,
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
  annotations: { 'meta.helm.sh/release-name': 'loopstream', 'meta.helm.sh/release-namespace': 'loopstream' },
});
const budget = (namespace: string) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: released('loopstream-never', namespace),
  spec: { maxUnavailable: 0, selector: { matchLabels: { none: 'none' } } },
});
const stray = (namespace: string) => ({
  apiVersion: 'loopstream.dev/v1beta1',
  kind: 'Playlist',
  metadata: { name: 'stray', namespace },
  spec: { items: [] },
});

test('a new release has a namespace for them: it stays when the release goes, and nothing but S3’s Secret is in it', async () => {
  const s3 = { type: 's3', s3: { bucket: 'b', accessKeyId: 'id', secretAccessKey: 'key' } };
  const objects = await helm('Helm 4').render({ ...INLINE, storage: s3, billing: { enabled: true } });
  const namespace = objects.find(({ kind }) => kind === 'Namespace');
  expect(namespace?.metadata).toMatchObject({
    name: STREAMS,
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    annotations: { 'helm.sh/resource-policy': 'keep' },
  });
  const inside = objects.filter(({ metadata }) => metadata.namespace === STREAMS);
  const secrets = inside.filter(({ kind }) => kind === 'Secret');
  expect(secrets.map((one) => [one.metadata.name, Object.keys(one.stringData as object)])).toEqual([
    ['loopstream-storage', ['accessKeyId', 'secretAccessKey']],
  ]);
  for (const kind of ['Deployment', 'ServiceAccount', 'Job']) expect(inside.map((one) => one.kind)).not.toContain(kind);
});

test.each(['Helm 4', 'Helm 3'])('%s finds streams where a release before has left them', async (name) => {
  expect(await inCluster(name), 'a first install').toBe(STREAMS);
  await withObjects([budget('loopstream')], async () => expect(await inCluster(name), 'an upgrade').toBe('loopstream'));
  await withObjects([budget(STREAMS), stray('loopstream')], async () =>
    expect(await inCluster(name), 'an upgrade of a release with a namespace for them').toBe(STREAMS),
  );
  await withObjects([stray('loopstream')], async () => {
    expect(await inCluster(name), 'an install after an uninstall').toBe('loopstream');
    await withObjects([stray(STREAMS)], async () => expect(await inCluster(name), 'the same').toBe(STREAMS));
  });
});

test('streams cannot be abandoned by naming another namespace for them', async () => {
  const selector = { matchLabels: { 'loopstream.dev/watches': 'loopstream' } };
  const containers = [{ name: 'a', image: 'b' }];
  const operator = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: released('loopstream-operator', 'loopstream'),
    spec: { selector, template: { metadata: { labels: selector.matchLabels }, spec: { containers } } },
  };
  const { stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(operator));
  expect(stderr).not.toMatch(/error/i);
  const moved = { ...HERE, streamsNamespace: { name: 'team-a', create: false } };
  await expect(inCluster('Helm 4', moved)).rejects.toThrow(/the streams of this release are in loopstream/);
  expect(await inCluster('Helm 4', { ...HERE, streamsNamespace: { name: 'loopstream' } })).toBe('loopstream');
  const listed = (...watchNamespaces: string[]) => ({ ...HERE, watchNamespaces });
  await expect(inCluster('Helm 4', listed('team-a'))).rejects.toThrow(/watchNamespaces does not name loopstream/);
  expect(await inCluster('Helm 4', listed('loopstream', 'team-a'))).toBe('loopstream');
  expect(await inCluster('Helm 4', listed('*', 'team-a'))).toBe('team-a');
  await kubectl(['delete', '-f', '-'], JSON.stringify(operator));
});
