/**
 * Tests what keeps objects in step with a repository (Argo CD, Flux, kubectl): the real kubectl, and the operator on a real control plane. No tool
 * may see a change that it has not made, and the order in which objects arrive does not matter.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { SECRETS } from '../../../src/core/kube/core.ts';
import { FIELDS } from '../../../src/core/resources/destination/read.ts';
import { run as runWith } from '../../../tools/process/run.ts';
import { kubectl as runKubectl } from '../../kit/kubectl.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { ensureFlux } from '../../kit/real/go-programs.ts';
import {
  aroundEachTest,
  cluster,
  finishJob,
  getStream,
  KEY,
  kube,
  kubelet,
  MADE,
  NS,
  waitForPod,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const GITOPS = resolve(import.meta.dirname, '../../../manifests/gitops');
const CHANNEL = join(GITOPS, 'channel');
const PROFILE = '1080p30';
const KINDS = 'loopstreams,playlists,uploads,destinations';

/** Runs kubectl in the test's namespace. `kubectl diff` fails when something differs. */
const kubectl = (...args: string[]) => runKubectl(cluster, '-n', NS, ...args);

const createSecret = () =>
  kube.create(SECRETS, NS, {
    metadata: { name: 'channel-destination' },
    stringData: { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: KEY },
  } as never);

/** Brings the channel on air, in the place of Jobs and kubelet. */
async function bringOnAir(): Promise<void> {
  for (const upload of ['channel-opening', 'channel-film']) {
    const media = { ...MEDIA, sha256: (upload === 'channel-film' ? 'f' : 'e').repeat(64) };
    await finishJob(`${upload}-import`, { action: 'import', media });
    await finishJob(`${upload}-${PROFILE}`, { ...MADE, rendition: { ...MADE.rendition, profile: PROFILE } });
  }
  const { metadata } = await waitForPod('channel-onair');
  await kubelet.bind(metadata.name);
}

const readGenerations = async (): Promise<Record<string, number>> => {
  const { items } = JSON.parse(await kubectl('get', KINDS, '-o', 'json')) as {
    items: { kind: string; metadata: { name: string; generation: number } }[];
  };
  return Object.fromEntries(items.map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.generation]));
};

test.each([
  ['client-side', []],
  ['server-side', ['--server-side']],
] as const)('after defaults and status, a %s apply of the same files changes nothing', async (_how, flags) => {
  await createSecret();
  await kubectl('apply', '-k', CHANNEL, ...flags);
  await bringOnAir();
  await until('the stream has a pod in its status', async () => (await getStream('channel')).status?.podName);
  const before = await readGenerations();
  expect(Object.keys(before)).toHaveLength(5);
  expect(new Set(Object.values(before))).toEqual(new Set([1]));

  // `kubectl diff` ends with 1 when something differs; Argo CD and Flux compare in the same way.
  expect(await kubectl('diff', '-k', CHANNEL, ...flags)).toBe('');
  const answers = (await kubectl('apply', '-k', CHANNEL, ...flags)).trim().split('\n');
  expect(answers).toHaveLength(5);
  for (const answer of answers) expect(answer).toMatch(flags.length > 0 ? / serverside-applied$/ : / unchanged$/);
  expect(await readGenerations()).toEqual(before);
});

/** Applies the channel as kustomize-controller does; resolves with what it did with each object. */
async function applyByFlux(flux: string): Promise<string[]> {
  const env = { KUBECONFIG: cluster.kubeconfig, HOME: cluster.stateDir };
  const { ok, stdout, stderr } = await runWith(flux, [NS], { env, input: await kubectl('kustomize', CHANNEL) });
  if (!ok) throw new Error(stderr);
  return stdout.trim().split('\n');
}

test('after defaults and status, kustomize-controller of Flux finds every object unchanged', async () => {
  const { flux } = await ensureFlux();
  await createSecret();
  const created = await applyByFlux(flux);
  expect(created).toHaveLength(5);
  for (const answer of created) expect(answer).toMatch(/ created$/);
  await bringOnAir();
  await until('the stream has a pod in its status', async () => (await getStream('channel')).status?.podName);
  const before = await readGenerations();
  const again = await applyByFlux(flux);
  expect(again).toHaveLength(5);
  for (const answer of again) expect(answer).toMatch(/ unchanged$/);
  expect(await readGenerations()).toEqual(before);
});

test('no field of a spec belongs to the operator, so that a tool which owns the spec meets no conflict', async () => {
  await createSecret();
  await kubectl('apply', '-k', CHANNEL, '--server-side', '--field-manager=argocd-controller');
  await bringOnAir();
  await until('the stream has a pod in its status', async () => (await getStream('channel')).status?.podName);
  const { items } = JSON.parse(await kubectl('get', KINDS, '-o', 'json', '--show-managed-fields')) as {
    items: { metadata: { managedFields: { manager: string; subresource?: string; fieldsV1: object }[] } }[];
  };
  const others = items
    .flatMap(({ metadata }) => metadata.managedFields)
    .filter(({ manager, fieldsV1 }) => manager !== 'argocd-controller' && 'f:spec' in fieldsV1);
  expect(others).toEqual([]);
});

test.each([[[3, 0, 4, 1, 2]], [[4, 3, 2, 1, 0]], [[0, 1, 2, 3, 4]]])(
  'the objects of a channel come up in whatever order they arrive (%j), and the Secret last',
  async (order) => {
    const objects = parseAllDocuments(await kubectl('kustomize', CHANNEL));
    expect(objects).toHaveLength(5);
    const file = join(cluster.stateDir, 'one.yaml');
    for (const index of order) {
      await writeFile(file, String(objects[index]));
      await kubectl('apply', '-f', file);
    }
    await until('the stream misses its Secret', async () =>
      (await getStream('channel')).status?.conditions?.some(({ reason }) => reason === 'DestinationSecretMissing'),
    );
    await createSecret();
    await bringOnAir();
    await until('the stream starts', async () => (await getStream('channel')).status?.phase === 'starting');
  },
);

test.each([
  ['external-secrets', 'ExternalSecret'],
  ['sealed-secrets', 'SealedSecret'],
])('the sample for %s makes the Secret that its Destination names, with keys that are read', async (folder, kind) => {
  const built = parseAllDocuments(await kubectl('kustomize', join(GITOPS, folder))).map((one) => one.toJS());
  expect(built).toHaveLength(6);
  const destination = built.find((one) => one.kind === 'Destination');
  const { spec } = built.find((one) => one.kind === kind);
  const [name, keys] =
    kind === 'ExternalSecret'
      ? [spec.target.name, spec.data.map((one: { secretKey: string }) => one.secretKey)]
      : [spec.template.metadata.name, Object.keys(spec.encryptedData)];
  expect(name).toBe(destination.spec.secretName);
  for (const key of keys) expect(FIELDS).toContain(key);
  expect(keys).toEqual(expect.arrayContaining(['rtmpUrl', 'rtmpKey']));
  const docs = await readFile(resolve(GITOPS, '../../docs/gitops.md'), 'utf8');
  expect(docs).toContain(`manifests/gitops/${folder}`);
});
