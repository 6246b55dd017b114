/** Tests the migration of stored objects on a real API server, with the webhook of the operator: etcd itself says how each object is stored. */
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createKube } from '../../../src/kube/client.ts';
import { CRDS, NAMESPACES, SECRETS } from '../../../src/kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../../src/kube/types.ts';
import { DEFINITION_NAMES } from '../../../src/resources/common/names.ts';
import { applyCrds } from '../../../src/resources/crd/install.ts';
import { migrateStorage } from '../../../src/resources/crd/migrate.ts';
import { LOOPSTREAMS } from '../../../src/resources/stream/resource.ts';
import { type Conversion, startConversion } from '../../kit/real/conversion.ts';
import { readStoredObjects } from '../../kit/real/etcd.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';

const NAMESPACE = 'stored';
/** Three pages. */
const UPLOADS = 60;
/** There is one API server, which sees a change at once. */
const HERE = { settleMs: 0, pageSize: 25 };

let kubernetes: TestKubernetes;
let kube: Kube;
let webhook: Conversion;

const resource = (version: string, kind: string): Resource => ({
  group: 'loopstream.dev',
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});
const object = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: 'loopstream.dev/v1alpha1',
  kind,
  metadata: { name, labels: { team: 'news' } },
  spec,
});

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  webhook = await startConversion(join(kubernetes.stateDir, 'conversion'));
  await applyCrds(kube, { alpha: webhook, storage: 'v1alpha1' });
  await kube.create(NAMESPACES, '', { metadata: { name: NAMESPACE }, spec: {} });
  const create = ({ kind = '', ...rest }: KubeObject) =>
    kube.create(resource('v1alpha1', kind), NAMESPACE, { kind, ...rest });
  const source = { url: 'https://media.example/film' };
  for (let at = 0; at < UPLOADS; at += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => create(object('Upload', `film-${at + i}`, { type: 'video', source }))),
    );
  await create(object('Playlist', 'evening', { kind: 'video', items: [{ id: 'a', uploadRef: 'film-1' }] }));
  await create(object('Destination', 'tv', { secretName: 'tv' }));
  await create(
    object('LoopStream', 'bunny', { quality: '720p', uploadRef: 'film-1', destinationRefs: ['tv'], start: 'Prepared' }),
  );
});
afterAll(async () => {
  await webhook?.close();
  await kube?.close();
  await kubernetes?.stop();
});
beforeEach(async () => {
  await migrateStorage(kube, { to: 'v1alpha1', ...HERE });
});

const storedVersions = async () => [
  ...new Set((await readStoredObjects(kubernetes)).map(({ apiVersion }) => apiVersion)),
];
const readDefinitions = () =>
  Promise.all(
    DEFINITION_NAMES.map(async (name) => {
      const { spec, status } = await kube.get(
        CRDS as Resource<KubeObject<{ versions: { name: string; storage: boolean }[] }, { storedVersions: string[] }>>,
        '',
        name,
      );
      return [spec.versions.find(({ storage }) => storage)?.name, status?.storedVersions];
    }),
  );
const everywhere = (version: string) => DEFINITION_NAMES.map(() => [version, [version]]);
const readAll = async (version: string) =>
  Promise.all(['LoopStream', 'Playlist', 'Upload', 'Destination'].map((kind) => kube.list(resource(version, kind))));

test('every object is stored as v1beta1, unchanged, and the definitions say so; and back again', async () => {
  expect(await storedVersions()).toEqual(['loopstream.dev/v1alpha1']);
  const before = await readAll('v1alpha1');
  const lines: string[] = [];
  expect(await migrateStorage(kube, { to: 'v1beta1', onProgress: (line) => lines.push(line), ...HERE })).toBe(
    UPLOADS + 3,
  );
  expect(lines).toContain('uploads: 25 written');
  const stored = await readStoredObjects(kubernetes);
  expect(stored).toHaveLength(UPLOADS + 3);
  expect([...new Set(stored.map(({ apiVersion }) => apiVersion))]).toEqual(['loopstream.dev/v1beta1']);
  expect(stored.find(({ kind }) => kind === 'LoopStream')?.spec).toMatchObject({
    uploadName: 'film-1',
    destinationNames: ['tv'],
  });
  expect(await readDefinitions()).toEqual(everywhere('v1beta1'));
  const forget = (lists: KubeObject[][]) =>
    lists.flat().map(({ metadata: { resourceVersion: _, ...metadata }, ...rest }) => ({ metadata, ...rest }));
  // The generation too: nobody takes it for an edit.
  expect(forget(await readAll('v1alpha1'))).toEqual(forget(before));
  expect(await migrateStorage(kube, { to: 'v1beta1', ...HERE })).toBe(0);
  expect(await migrateStorage(kube, { to: 'v1alpha1', ...HERE })).toBe(UPLOADS + 3);
  expect(await storedVersions()).toEqual(['loopstream.dev/v1alpha1']);
  expect(await readDefinitions()).toEqual(everywhere('v1alpha1'));
});

test('what belongs to an object names it by the version that is stored, and other owners stay as they are', async () => {
  const other = 'example.com/v1alpha1';
  const owner = (apiVersion: string) => ({ apiVersion, kind: 'Destination', name: 'tv', uid: 'a-destination' });
  const labels = { 'app.kubernetes.io/managed-by': 'loopstream' };
  const create = (name: string, metadata: object) =>
    kube.create(SECRETS, NAMESPACE, { metadata: { name, ...metadata }, stringData: { rtmpKey: 'live' } } as never);
  const ownerReferences = [owner('loopstream.dev/v1alpha1'), { ...owner(other), uid: 'another' }];
  await create('ours', { labels, ownerReferences });
  await create('foreign', { ownerReferences });
  const read = async (name: string) =>
    (await kube.get(SECRETS, NAMESPACE, name)).metadata.ownerReferences?.map(({ apiVersion }) => apiVersion);
  await migrateStorage(kube, { to: 'v1beta1', ...HERE });
  expect(await read('ours')).toEqual(['loopstream.dev/v1beta1', other]);
  expect(await read('foreign')).toEqual(['loopstream.dev/v1alpha1', other]);
  await migrateStorage(kube, { to: 'v1alpha1', ...HERE });
  expect(await read('ours')).toEqual(['loopstream.dev/v1alpha1', other]);
});

/** Serves one version of LoopStream alone, as another release does. */
async function serveOnly(version: string): Promise<void> {
  const definition = 'loopstreams.loopstream.dev';
  const { spec } = await kube.get(CRDS as Resource<KubeObject<{ versions: { name: string }[] }>>, '', definition);
  const versions = spec.versions.filter(({ name }) => name === version);
  await kube.mergePatch(CRDS, '', definition, { spec: { versions, conversion: { strategy: 'None', webhook: null } } });
}

const APPLIED = { fieldManager: 'loopstream-operator', subresource: 'status' } as const;
/** Writes the status of a stream as releases before v1beta1 do. */
function applyStatus(name: string, version: string, status: object): Promise<unknown> {
  const metadata = { name, namespace: NAMESPACE };
  const applied = { apiVersion: `loopstream.dev/${version}`, kind: 'LoopStream', metadata, status };
  return kube.apply(resource(version, 'LoopStream'), NAMESPACE, applied, APPLIED);
}

/** Makes a stream with a status, as one release and then the other writes it. */
async function createWritten(name: string) {
  const spec = { quality: '720p', uploadRef: 'film-1', destinationRefs: ['tv'] };
  await kube.create(resource('v1alpha1', 'LoopStream'), NAMESPACE, object('LoopStream', name, spec));
  await applyStatus(name, 'v1alpha1', { phase: 'starting', podName: 'old', ready: true });
  const stream = await kube.get(LOOPSTREAMS, NAMESPACE, name);
  const status = { phase: 'live', podName: 'new', liveSince: '2026-01-01T00:00:00Z', canStart: false } as const;
  await kube.replace(LOOPSTREAMS, NAMESPACE, { ...stream, status }, APPLIED);
  const patch = { status: { acknowledgedSession: 3 } };
  await kube.mergePatch(LOOPSTREAMS, NAMESPACE, name, patch, { subresource: 'status' });
}

test('after a migration back, a release that knows v1alpha1 alone can write statuses, and remove what the operator wrote', async () => {
  await createWritten('back');
  const old = resource('v1alpha1', 'LoopStream');
  await serveOnly('v1alpha1');
  try {
    await expect
      .poll(() => applyStatus('back', 'v1alpha1', { podName: 'new' }).catch(({ message }) => message))
      .toContain('invalid group/version');
    const before = await kube.get(old, NAMESPACE, 'back');
    await migrateStorage(kube, { to: 'v1alpha1', ...HERE });
    const after = await kube.get(old, NAMESPACE, 'back');
    expect({ ...after, metadata: { ...after.metadata, resourceVersion: '' } }).toEqual({
      ...before,
      metadata: { ...before.metadata, resourceVersion: '' },
    });
    await applyStatus('back', 'v1alpha1', { phase: 'stopped' });
    const { status } = await kube.get(old, NAMESPACE, 'back');
    expect(status).toEqual({ phase: 'stopped', acknowledgedSession: 3 });
  } finally {
    await applyCrds(kube, { alpha: webhook, storage: 'v1alpha1' });
    await kube.delete(old, NAMESPACE, 'back');
  }
});

test('after a migration, a release that knows v1beta1 alone can apply to what the older one wrote', async () => {
  await createWritten('forth');
  await migrateStorage(kube, { to: 'v1beta1', ...HERE });
  await serveOnly('v1beta1');
  try {
    const removed = () =>
      kube.get(resource('v1alpha1', 'LoopStream'), NAMESPACE, 'forth').catch(({ status }) => status);
    await expect.poll(removed).toBe(404);
    const metadata = { name: 'forth', namespace: NAMESPACE };
    const applied = { apiVersion: 'loopstream.dev/v1beta1', kind: 'LoopStream', metadata };
    const meter = { fieldManager: 'meter', subresource: 'status' } as const;
    await kube.apply(LOOPSTREAMS, NAMESPACE, { ...applied, status: { acknowledgedSession: 4 } }, meter);
    const { status } = await kube.get(LOOPSTREAMS, NAMESPACE, 'forth');
    expect(status).toMatchObject({ phase: 'live', acknowledgedSession: 4, canStart: false });
  } finally {
    await applyCrds(kube, { alpha: webhook, storage: 'v1beta1' });
    await kube.delete(LOOPSTREAMS, NAMESPACE, 'forth');
  }
});

test('others write and delete meanwhile: no write is lost, and what is gone stays gone', async () => {
  const own = resource('v1alpha1', 'Upload');
  const source = { url: 'https://media.example/film' };
  await kube.create(own, NAMESPACE, object('Upload', 'gone', { type: 'video', source }));
  let writing = true;
  let writes = 0;
  const write = async () => {
    for (; writing; writes += 1) {
      const patch = { metadata: { annotations: { count: String(writes) } } };
      // Objects of several pages.
      for (const name of ['film-1', 'film-9', 'film-59']) await kube.mergePatch(own, NAMESPACE, name, patch);
    }
  };
  const writer = write();
  await migrateStorage(kube, {
    to: 'v1beta1',
    ...HERE,
    onProgress: (line) => {
      if (line.startsWith('New objects')) void kube.delete(own, NAMESPACE, 'gone');
    },
  });
  writing = false;
  await writer;
  expect(writes).toBeGreaterThan(1);
  for (const name of ['film-1', 'film-9', 'film-59'])
    expect((await kube.get(own, NAMESPACE, name)).metadata.annotations).toEqual({ count: String(writes - 1) });
  expect(await storedVersions()).toEqual(['loopstream.dev/v1beta1']);
  expect((await kube.list(own)).map(({ metadata }) => metadata.name)).not.toContain('gone');
});

test('an interrupted migration says that objects of both versions are left, and goes on when it is run again', async () => {
  const stop = (line: string) => {
    if (line === 'uploads: 25 written') throw new Error('interrupted');
  };
  await expect(migrateStorage(kube, { to: 'v1beta1', onProgress: stop, ...HERE })).rejects.toThrow('interrupted');
  expect((await storedVersions()).sort()).toEqual(['loopstream.dev/v1alpha1', 'loopstream.dev/v1beta1']);
  expect(await readDefinitions()).toContainEqual(['v1beta1', ['v1alpha1', 'v1beta1']]);
  await migrateStorage(kube, { to: 'v1beta1', ...HERE });
  expect(await storedVersions()).toEqual(['loopstream.dev/v1beta1']);
  expect(await readDefinitions()).toEqual(everywhere('v1beta1'));
});

test('without the webhook, nothing is changed; after a migration only clients of v1alpha1 notice', async () => {
  await webhook.close();
  try {
    await expect(migrateStorage(kube, { to: 'v1beta1', ...HERE })).rejects.toThrow(
      /conversion webhook does not answer .* nothing was changed/,
    );
    expect(await readDefinitions()).toEqual(everywhere('v1alpha1'));
  } finally {
    await webhook.reopen();
  }
  await migrateStorage(kube, { to: 'v1beta1', ...HERE });
  await webhook.close();
  try {
    expect((await kube.get(resource('v1beta1', 'LoopStream'), NAMESPACE, 'bunny')).spec).toMatchObject({
      uploadName: 'film-1',
    });
    await expect(kube.get(resource('v1alpha1', 'LoopStream'), NAMESPACE, 'bunny')).rejects.toThrow(/webhook/);
  } finally {
    await webhook.reopen();
  }
});

test('what the migration writes belongs to no manager, so that Helm can apply the definitions', async () => {
  await migrateStorage(kube, { to: 'v1beta1', ...HERE });
  for (const name of DEFINITION_NAMES) {
    const { text } = await kube.raw('GET', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
    const managers = (JSON.parse(text).metadata.managedFields as { manager: string; subresource?: string }[])
      .filter(({ subresource }) => subresource === undefined)
      .map(({ manager }) => manager);
    expect(managers).toEqual(['loopstream-install']);
  }
});
