/** Makes the objects of the operator's benchmark: streams with their dependencies, and as many bare pods. */

import { PODS, SECRETS } from '../../../src/core/kube/core.ts';
import { createReflector, type Reflector } from '../../../src/core/kube/reflector.ts';
import type { Kube, KubeObject, Resource, Stored } from '../../../src/core/kube/types.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { ACCOUNT_LABEL, API_VERSION, FINALIZER } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { renditionKey, type UploadStatus } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { silent } from '../../kit/real/kube.ts';
import { PEERS } from './cluster.ts';

/** Concurrent requests, for ours and for peers alike. */
const AT_ONCE = 32;
export const UPLOAD = 'film';
const SHA256 = 'a'.repeat(64);

export async function inParallel(count: number, make: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await make(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const own = (kind: string, name: string, spec: unknown) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name },
  spec,
});

/** Makes one ready upload. It exists before the operator runs, which would otherwise fetch it. */
export const prepareMedia = (kube: Kube): Promise<void> =>
  createImported(kube, UPLOAD, {
    media: { sha256: SHA256, sizeBytes: 1000, durationSeconds: 10 },
    renditions: [
      { profile: '720p30', state: 'ready', key: renditionKey(SHA256, 'video', '720p30'), durationSeconds: 10 },
    ],
  });

/** Makes an upload that has been imported, of an account or of none. */
export async function createImported(
  kube: Kube,
  name: string,
  made: Pick<UploadStatus, 'media' | 'renditions'>,
  account?: string,
): Promise<void> {
  const labels = account === undefined ? {} : { [ACCOUNT_LABEL]: account };
  const source = { url: 'https://media.example/film.mp4' };
  const object = { ...own('Upload', name, { track: 'video', source }), metadata: { name, labels } };
  await kube.create(UPLOADS, NAMESPACE, object as never);
  const status = { phase: 'ready', observedGeneration: 1, sourceKey: `sources/${name}`, ...made };
  const identity = { apiVersion: API_VERSION, kind: 'Upload', metadata: { name, namespace: NAMESPACE } };
  const manager = { fieldManager: 'bench', subresource: 'status' as const };
  await kube.apply(UPLOADS, NAMESPACE, { ...identity, status } as never, manager);
}

/** Makes destinations with their Secrets, as the API server does; resolves when the operator has marked each ready, and is idle again. */
export async function prepareDestinations(kube: Kube, count: number): Promise<void> {
  const labels = { [ACCOUNT_LABEL]: 'bench' };
  const watched = await watchAll(kube, DESTINATIONS, NAMESPACE);
  const all = watched.reached(count, ({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True');
  await inParallel(count, async (n) => {
    const name = `tv-${n}`;
    const stringData = { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: `key-${n}` };
    await kube.create(SECRETS, NAMESPACE, { metadata: { name }, stringData } as never);
    const destination = { ...own('Destination', name, { secretName: name }), metadata: { name, labels } };
    await kube.create(DESTINATIONS, NAMESPACE, destination as never);
  });
  await all;
  watched.stop();
}

/** Creates a stream with its finalizer, as the API server does. */
export const createStream = (kube: Kube, n: number, spec: Partial<LoopStreamSpec> = {}, account?: string) =>
  kube.create(LOOPSTREAMS, NAMESPACE, {
    ...own('LoopStream', `stream-${n}`, {
      quality: '720p',
      uploadName: UPLOAD,
      destinationNames: [`tv-${n}`],
      ...spec,
    }),
    metadata: {
      name: `stream-${n}`,
      finalizers: [FINALIZER],
      ...(account !== undefined && { labels: { [ACCOUNT_LABEL]: account } }),
    },
  } as never);

export const createBarePod = (kube: Kube, n: number) =>
  kube.create(PODS, PEERS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${n}` },
    spec: { containers: [{ name: 'main', image: 'example.com/image:1' }], automountServiceAccountToken: false },
  } as never);

export interface Watched<T extends KubeObject> {
  list(): Stored<T>[];
  /** Called once for each change of an object; with `replay` also for existing ones. */
  onChange: Reflector<T>['onChange'];
  /** Resolves to the moment (performance.now) at which `count` objects are as wanted. */
  reached(count: number, wanted?: (object: Stored<T>) => boolean): Promise<number>;
  /** Resolves when nothing is left. */
  empty(): Promise<void>;
  stop(): void;
}

/** Watches a collection with a watch of its own. */
export async function watchAll<T extends KubeObject>(
  kube: Kube,
  resource: Resource<T>,
  namespace: string,
): Promise<Watched<T>> {
  const reflector = createReflector(kube, resource, { namespace, log: silent });
  const abort = new AbortController();
  reflector.start(abort.signal);
  await reflector.synced;
  return {
    list: () => reflector.list(),
    onChange: reflector.onChange,
    reached: (count, wanted = () => true) =>
      new Promise((resolve) => {
        const there = new Set<string>();
        reflector.onChange(
          (_key, current) => {
            if (!current || there.size >= count || !wanted(current)) return;
            there.add(current.metadata.uid);
            if (there.size >= count) resolve(performance.now());
          },
          { replay: true },
        );
      }),
    empty: () =>
      new Promise((resolve) => {
        const look = () => reflector.list().length === 0 && resolve();
        reflector.onChange(look);
        look();
      }),
    stop: () => abort.abort(),
  };
}

/** Deletes everything of a kind in a namespace; objects with finalizers go a little later. */
export async function deleteAll(kube: Kube, resource: Resource, namespace: string): Promise<void> {
  const all = await kube.list(resource, { namespace });
  const options = { propagationPolicy: 'Background', gracePeriodSeconds: 0 } as const;
  await inParallel(all.length, async (n) => {
    const { name } = all[n]?.metadata ?? {};
    if (name !== undefined) await kube.delete(resource, namespace, name, options);
  });
}

export const isLive = ({ status }: LoopStream): boolean => status?.phase === 'live';
