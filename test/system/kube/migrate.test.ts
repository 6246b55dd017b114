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

test('after a migration back, a release that writes statuses by server-side apply can remove what the operator wrote', async () => {
  const fieldManager = 'loopstream-operator';
  const apply = (status: object) => {
    const metadata = { name: 'bunny', namespace: NAMESPACE };
    const applied = { apiVersion: 'loopstream.dev/v1alpha1', kind: 'LoopStream', metadata, status };
    return kube.apply(resource('v1alpha1', 'LoopStream'), NAMESPACE, applied, { fieldManager, subresource: 'status' });
  };
  await apply({ phase: 'starting', podName: 'old' });
  const bunny = await kube.get(LOOPSTREAMS, NAMESPACE, 'bunny');
  const status = { phase: 'live', podName: 'new', liveSince: '2026-01-01T00:00:00Z' } as const;
  await kube.replace(LOOPSTREAMS, NAMESPACE, { ...bunny, status }, { fieldManager, subresource: 'status' });
  await kube.mergePatch(
    LOOPSTREAMS,
    NAMESPACE,
    'bunny',
    { status: { acknowledgedSession: 3 } },
    { subresource: 'status' },
  );

  await migrateStorage(kube, { to: 'v1alpha1', ...HERE });
  expect((await kube.get(LOOPSTREAMS, NAMESPACE, 'bunny')).status).toMatchObject(status);
  await apply({ phase: 'stopped' });
  expect((await kube.get(LOOPSTREAMS, NAMESPACE, 'bunny')).status).toEqual({
    phase: 'stopped',
    acknowledgedSession: 3,
  });
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
