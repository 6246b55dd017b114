/**
 * Tests what belongs to a restored object, which has another UID, on a real control plane with its garbage collector: what an operator made
 * does not hold it up, and the only copies of keys and versions are kept. They go with their object nevertheless.
 */
import { expect, it } from 'vitest';
import { CONFIG_MAPS, CONTROLLER_REVISIONS, JOBS, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { KubeObject, ObjectMeta, OwnerReference, Resource } from '../../../src/core/kube/types.ts';
import {
  ACCOUNT_LABEL,
  API_VERSION,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PLAYLIST_LABEL,
  POD_FINALIZER,
  platformSecretName,
  SECRET_FINALIZER,
  VERSION_ANNOTATION,
  VERSIONS_FINALIZER,
} from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { createHistory } from '../../../src/core/resources/playlist/history.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { readVersion } from '../../../src/core/resources/playlist/version.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  buildObject,
  createUpload,
  finishJob,
  getPod,
  goLive,
  KEY,
  kube,
  kubelet,
  NS,
  waitForPhase,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

/** Deletes an object that no operator looks after, with all that it owns. */
async function deleteAlone(resource: Resource, name: string): Promise<void> {
  await kube.mergePatch(resource, NS, name, { metadata: { finalizers: [] } });
  await kube.delete(resource, NS, name, { propagationPolicy: 'Background' });
}

/** The part of an object that a backup tool gives back, of another UID. */
const restore = <T extends KubeObject>(resource: Resource<T>, { metadata, ...rest }: T, more: object = {}) => {
  const { name, labels, annotations, ownerReferences } = metadata;
  const kept = { name, labels, annotations, ownerReferences, ...more };
  return kube.create(resource, NS, { ...rest, metadata: JSON.parse(JSON.stringify(kept)) } as T);
};

const account = { [ACCOUNT_LABEL]: 'acc-1' };

/** Makes a destination and its Secret as the API server does; an older release named the owner. */
async function makeDestination(name: string, { owned = false, finalizers = [SECRET_FINALIZER] } = {}) {
  const object = buildObject('Destination', name, { secretName: name });
  const made = await kube.create(DESTINATIONS, NS, {
    ...object,
    metadata: { name, labels: account, ...(finalizers.length > 0 && { finalizers }) },
  } as never);
  const { uid } = made.metadata;
  const owner: OwnerReference = { apiVersion: API_VERSION, kind: 'Destination', name, uid };
  const labels = { ...account, [MANAGED_BY_LABEL]: MANAGED_BY };
  await kube.create(SECRETS, NS, {
    metadata: { name, labels, ...(owned && { ownerReferences: [owner] }) },
    type: 'Opaque',
    stringData: { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: KEY },
  } as never);
  const token = {
    metadata: { name: platformSecretName(name), labels },
    type: 'Opaque',
    stringData: { refreshToken: KEY },
  };
  await kube.create(SECRETS, NS, token as never);
}

const getDestination = () => kube.get(DESTINATIONS, NS, 'dst-1');
const findSecret = (name = 'dst-1') => kube.get(SECRETS, NS, name).catch(() => undefined);
const waitUntilReady = () =>
  until('the destination is ready', async () => {
    const { metadata, status } = await getDestination();
    return (
      status?.observedUID === metadata.uid &&
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
    );
  });

/** Deletes an object without its operator, and makes it again as an export has it. */
async function remake<T extends KubeObject>(resource: Resource<T>, name: string): Promise<ObjectMeta> {
  const { metadata, ...rest } = await kube.get(resource, NS, name);
  if (metadata.finalizers) await kube.mergePatch(resource, NS, name, { metadata: { finalizers: [] } });
  await kube.delete(resource, NS, name);
  const { uid, resourceVersion: _, generation: __, creationTimestamp: ___, ...kept } = metadata;
  const made = await kube.create(resource, NS, { ...rest, metadata: kept } as unknown as T);
  expect(made.metadata.uid).not.toBe(uid);
  return metadata;
}

/** Resolves when the garbage collector has deleted a dependent of the object that was. */
async function waitForCollector(kind: string, { name, uid = '' }: ObjectMeta): Promise<void> {
  const ownerReferences = [{ apiVersion: API_VERSION, kind, name, uid }];
  await kube.create(CONFIG_MAPS, NS, { metadata: { name: 'canary', ownerReferences } } as never);
  await until('the garbage collector has worked', async () =>
    kube.get(CONFIG_MAPS, NS, 'canary').then(
      () => false,
      () => true,
    ),
  );
}

it('the Secret of a destination outlives a restore as exported, and goes with the destination that kubectl deletes', async () => {
  await makeDestination('dst-1');
  await waitUntilReady();
  const before = await withoutOperator(async () => {
    await remake(SECRETS, 'dst-1');
    const was = await remake(DESTINATIONS, 'dst-1');
    await waitForCollector('Destination', was);
    return was;
  });
  await waitUntilReady();
  expect((await getDestination()).metadata.uid).not.toBe(before.uid);
  expect((await findSecret())?.data?.rtmpKey).toBe(Buffer.from(KEY).toString('base64'));
  await withoutOperator(async () => {
    await kube.delete(DESTINATIONS, NS, 'dst-1');
    expect(await findSecret()).toBeDefined();
  });
  await until('the destination is gone', async () => (await kube.list(DESTINATIONS, { namespace: NS })).length === 0);
  for (const name of ['dst-1', platformSecretName('dst-1')]) expect(await findSecret(name), name).toBeUndefined();
});

it('a destination that a backup tool restored without finalizers holds its Secret again, and one of an older release no longer owns it', async () => {
  await makeDestination('dst-1', { owned: true, finalizers: [] });
  await until('the finalizer', async () => (await getDestination()).metadata.finalizers?.includes(SECRET_FINALIZER));
  await until('the owner is gone', async () => (await findSecret())?.metadata.ownerReferences === undefined);
  await waitUntilReady();
  await kube.delete(DESTINATIONS, NS, 'dst-1');
  await until('the Secret is gone', async () => (await findSecret()) === undefined);
});

it('no destination takes a Secret along that was not made for it', async () => {
  const stringData = { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: KEY };
  const secrets = {
    'of-kubectl': {},
    'of-another-account': { [ACCOUNT_LABEL]: 'acc-2', [MANAGED_BY_LABEL]: MANAGED_BY },
    'of-no-account': { [MANAGED_BY_LABEL]: MANAGED_BY },
  };
  for (const [name, labels] of Object.entries(secrets)) {
    await kube.create(SECRETS, NS, { metadata: { name, labels }, stringData } as never);
    const metadata = { name, labels: account, finalizers: [SECRET_FINALIZER] };
    await kube.create(DESTINATIONS, NS, {
      ...buildObject('Destination', name, { secretName: name }),
      metadata,
    } as never);
    await kube.delete(DESTINATIONS, NS, name);
  }
  await until('all are gone', async () => (await kube.list(DESTINATIONS, { namespace: NS })).length === 0);
  for (const name of Object.keys(secrets)) expect(await findSecret(name), name).toBeDefined();
});

const getPlaylist = () => kube.get(PLAYLISTS, NS, 'pls-1');
const waitForVersion = (version: number) =>
  until(`version ${version}`, async () => {
    const playlist = await getPlaylist();
    return playlist.status?.version === version && playlist;
  });
const listRevisions = () => kube.list(CONTROLLER_REVISIONS, { namespace: NS, labelSelector: PLAYLIST_LABEL });

it('the version and the versions of a playlist outlive a restore, also after edits by kubectl, and go with it', async () => {
  const history = createHistory(kube);
  const spec = { track: 'video', mode: 'sequential', items: [{ uploadName: 'film' }] };
  const object = buildObject('Playlist', 'pls-1', spec);
  await kube.create(PLAYLISTS, NS, { ...object, metadata: { name: 'pls-1', labels: account } } as never);
  const first = await waitForVersion(1);
  await history.keep(first);
  // A release before this one named the owner.
  const ownerReferences = [
    { apiVersion: API_VERSION, kind: 'Playlist', name: 'pls-1', uid: first.metadata.uid, controller: true },
  ];
  await withoutOperator(async () => {
    await kube.mergePatch(CONTROLLER_REVISIONS, NS, 'pls-1-1', { metadata: { ownerReferences } });
    await kube.mergePatch(PLAYLISTS, NS, 'pls-1', { metadata: { finalizers: [] } });
  });
  for (const displayName of ['two', 'three']) await kube.mergePatch(PLAYLISTS, NS, 'pls-1', { spec: { displayName } });
  const before = await waitForVersion(3);
  await until('it is held', async () => (await getPlaylist()).metadata.finalizers?.includes(VERSIONS_FINALIZER));
  expect((await listRevisions())[0]?.metadata.ownerReferences).toBeUndefined();

  await withoutOperator(async () => {
    for (const { metadata } of await listRevisions()) await remake(CONTROLLER_REVISIONS, metadata.name);
    await waitForCollector('Playlist', await remake(PLAYLISTS, 'pls-1'));
  });
  const after = await waitForVersion(3);
  expect(after.metadata.generation).toBe(1);
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  await until('its version is recorded', async () =>
    (await getPlaylist()).metadata.annotations?.[VERSION_ANNOTATION]?.includes(`"uid":"${after.metadata.uid}"`),
  );
  const recorded = await getPlaylist();
  expect(readVersion(recorded)).toBe(3);
  expect((await history.list(recorded)).map(({ version }) => version)).toEqual([3, 1]);

  await kube.delete(PLAYLISTS, NS, 'pls-1');
  await until('the playlist is gone', async () => (await kube.list(PLAYLISTS, { namespace: NS })).length === 0);
  expect(await listRevisions()).toEqual([]);
});

it.each([
  ['without its owner', { ownerReferences: [] }],
  ['with its owner and finalizer', { finalizers: [POD_FINALIZER] }],
])('a pod that is restored %s makes room for the stream’s own, and never publishes', async (_how, more) => {
  await goLive();
  const backup = await getPod();
  const stream = await kube.get(LOOPSTREAMS, NS, 'bunny');
  const strange = await withoutOperator(async () => {
    await kube.mergePatch(PODS, NS, 'bunny-onair', { metadata: { finalizers: [] } });
    await deleteAlone(LOOPSTREAMS as Resource, 'bunny');
    await until('the pod is gone', async () => {
      await kubelet.remove('bunny-onair');
      return (await getPod()) === undefined;
    });
    if (!backup) throw new Error('no pod');
    const { nodeName: _, ...spec } = backup.spec;
    const pod = await restore(PODS, { ...backup, spec }, more);
    await restore(LOOPSTREAMS, stream);
    return pod;
  });
  const pod = await until('the stream has a pod of its own', async () => {
    const found = await getPod();
    return found && found.metadata.uid !== strange.metadata.uid && found;
  });
  await kubelet.bind('bunny-onair');
  await kubelet.run('bunny-onair', true);
  const live = await waitForPhase('live');
  expect(live.status?.podUID).toBe(pod.metadata.uid);
});

it('a Job that is restored without its owner makes room for the upload’s own', async () => {
  await createUpload('film');
  const backup = await until('the Job', () => kube.get(JOBS, NS, 'film-import').catch(() => undefined));
  const upload = await kube.get(UPLOADS, NS, 'film');
  const uid = await withoutOperator(async () => {
    await deleteAlone(UPLOADS as Resource, 'film');
    await until('the Job is gone', async () =>
      kube.get(JOBS, NS, 'film-import').then(
        () => false,
        () => true,
      ),
    );
    const { selector: _, template, ...spec } = backup.spec as { selector?: object; template: KubeObject };
    const { labels } = backup.metadata;
    const job = { ...backup, spec: { ...spec, template: { ...template, metadata: { labels } } } };
    const restored = await restore(JOBS, job as typeof backup, { ownerReferences: [] });
    await restore(UPLOADS, upload);
    return restored.metadata.uid;
  });
  const own = await until('the upload has a Job of its own', async () => {
    const job = await kube.get(JOBS, NS, 'film-import').catch(() => undefined);
    return job && job.metadata.uid !== uid && job;
  });
  expect(own.metadata.ownerReferences).toMatchObject([{ kind: 'Upload', name: 'film' }]);
  await finishJob('film-import', { action: 'import', media: MEDIA });
  await until('the upload has its media', async () => (await kube.get(UPLOADS, NS, 'film')).status?.media);
});
