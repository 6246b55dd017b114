/** Opens the client of Kubernetes, and reads the resources of all accounts into caches: a watch for each namespace of accounts. */

import { createKube } from '../../../core/kube/client.ts';
import { PODS } from '../../../core/kube/core.ts';
import { type NamespaceWatch, watchNamespaces } from '../../../core/kube/namespace-watch.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { Kube, KubeObject } from '../../../core/kube/types.ts';
import { keepOwnMetadata } from '../../../core/resources/common/kept.ts';
import { STREAM_LABEL } from '../../../core/resources/common/names.ts';
import { believeDestination } from '../../../core/resources/destination/own-status.ts';
import { DESTINATIONS } from '../../../core/resources/destination/resource.ts';
import { believePlaylist } from '../../../core/resources/playlist/own-status.ts';
import { PLAYLISTS } from '../../../core/resources/playlist/resource.ts';
import { listNeededPlaylists, listNeededUploads } from '../../../core/resources/playlist/spec.ts';
import { SCENES } from '../../../core/resources/scene/resource.ts';
import { listDestinationNames } from '../../../core/resources/stream/destinations.ts';
import { keepWithoutTemplate } from '../../../core/resources/stream/kept.ts';
import { believeStream } from '../../../core/resources/stream/own-status.ts';
import { LOOPSTREAMS } from '../../../core/resources/stream/resource.ts';
import { listImageNames } from '../../../core/resources/upload/layers.ts';
import { UPLOADS } from '../../../core/resources/upload/resource.ts';
import type { Db } from '../../db/pool.ts';
import { createCells } from '../../domain/cells/cells.ts';
import { DESTINATION_LIST } from '../../domain/destinations/list.ts';
import { createLoadLimit } from '../../domain/limits/loads.ts';
import { createOwnedResources, type OwnedResourcesOptions } from '../../domain/limits/owned-resources.ts';
import { countCachedBytes } from '../../domain/limits/record-room.ts';
import type { WriteLimit } from '../../domain/limits/writes.ts';
import { PLAYLIST_LIST } from '../../domain/playlists/list.ts';
import { SCENE_LIST } from '../../domain/scenes/list.ts';
import { podStreamIndex } from '../../domain/stats/service.ts';
import { STREAM_LIST } from '../../domain/streams/list.ts';
import { readPublicAccess } from '../../domain/timeline/public-token.ts';
import { listUploads } from '../../domain/uploads/holders.ts';
import { UPLOAD_LIST } from '../../domain/uploads/list.ts';
import { listNamespaces } from '../../settings/settings.ts';
import type { ProcessContext } from './context.ts';

/** Time limit of a request to Kubernetes, well below those of clients and proxies. */
const TIMEOUT_MS = 10_000;

export function openKube({ config, lifecycle, metrics }: ProcessContext): Kube {
  const { kubeconfig } = config;
  const kube = createKube({ kubeconfig, timeoutMs: TIMEOUT_MS, onRequest: metrics.onRequest, role: 'api' });
  lifecycle.defer('kubernetes', () => kube.close());
  return kube;
}

interface ResourcesDeps {
  kube: Kube;
  db: Db;
  writes: WriteLimit;
}

export type Resources = ReturnType<typeof openResources>;

/**
 * Reads the resources from now on. `isSynced` returns whether all have been read once, and `ready` resolves when they have. A
 * namespace whose Role is missing holds up none of the others.
 */
export function openResources(
  { config, lifecycle, metrics, log }: ProcessContext,
  { kube, db, writes }: ResourcesDeps,
) {
  const namespaces = listNamespaces(config);
  const watch = watchNamespaces(kube, namespaces, log);
  metrics.showNamespaces(watch.states);
  const byName = createCaches(watch);
  metrics.showReflectors(byName);
  const { isFilled } = watch;
  const countStreams = () => countByNamespace(byName.streams.list());
  const cells = createCells({ db, namespaces, fullNamespaces: config.fullNamespaces, isFilled, countStreams, log });
  const reflectors = Object.values(byName);
  for (const reflector of reflectors) reflector.start(lifecycle.signal);
  let isSynced = false;
  const ready = Promise.all(reflectors.map(({ synced }) => synced)).then(() => {
    isSynced = true;
    log.info('the caches are filled from Kubernetes');
  });
  // Stopping before the first read is no error.
  ready.catch(() => undefined);
  return {
    byName,
    pods: byName.pods,
    countCachedBytes: countCachedBytes(reflectors),
    cells,
    ...createOwned(byName, { kube, cells, writes, loads: createLoadLimit(), stopping: lifecycle.signal }),
    ready,
    isSynced: () => isSynced,
    /** Returns the age of the caches of an account's namespace. */
    ageMs: (accountId: string) => {
      const namespace = cells.isReadable(accountId) ? cells.getNamespace(accountId) : config.namespace;
      return Math.max(...reflectors.map((reflector) => reflector.ageMs(namespace)));
    },
  };
}

function countByNamespace(objects: readonly KubeObject[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata } of objects) {
    const { namespace = '' } = metadata;
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return counts;
}

/** Index of streams by the hash of their public token. */
export const BY_PUBLIC_HASH = 'publicHash';

/** Creates one cache for each kind, with the indexes of the services. */
const createCaches = ({ createCache }: Pick<NamespaceWatch, 'createCache'>) => ({
  destinations: createCache(DESTINATIONS, { keep: (one) => believeDestination(keepOwnMetadata(one)) }),
  uploads: createCache(UPLOADS, { keep: keepOwnMetadata }),
  playlists: createCache(PLAYLISTS, {
    keep: (one) => believePlaylist(keepOwnMetadata(one)),
    indexes: { upload: listNeededUploads, playlist: listNeededPlaylists },
  }),
  scenes: createCache(SCENES, { keep: keepOwnMetadata, indexes: { upload: ({ spec }) => listImageNames(spec) } }),
  streams: createCache(LOOPSTREAMS, {
    keep: (stream) => believeStream(keepWithoutTemplate(stream)),
    indexes: {
      destination: ({ spec }) => listDestinationNames(spec),
      upload: listUploads,
      [BY_PUBLIC_HASH]: (stream) => [readPublicAccess(stream)?.hash ?? ''].filter((hash) => hash !== ''),
      playlist: ({ spec }) => [...(spec.playlistNames ?? []), ...(spec.audioPlaylistNames ?? [])],
      scene: ({ spec }) => (spec.overlays?.sceneName === undefined ? [] : [spec.overlays.sceneName]),
    },
  }),
  pods: createCache(PODS, { labelSelector: STREAM_LABEL, keep: keepOwnMetadata, indexes: { stream: podStreamIndex } }),
});

function createOwned(
  { destinations, uploads, playlists, scenes, streams }: ReturnType<typeof createCaches>,
  common: Pick<OwnedResourcesOptions<KubeObject>, 'kube' | 'cells' | 'writes' | 'loads' | 'stopping'>,
) {
  const own = <T extends KubeObject>(
    reflector: Reflector<T>,
    options: Pick<OwnedResourcesOptions<T>, 'resource' | 'prefix' | 'noun' | 'notFound' | 'list' | 'hidesDeleted'>,
  ) => createOwnedResources({ ...common, reflector, ...options });
  const owned = {
    destinations: own(destinations, {
      resource: DESTINATIONS,
      prefix: 'dst',
      noun: 'destination',
      notFound: 'destination_not_found',
      list: DESTINATION_LIST,
      hidesDeleted: true,
    }),
    uploads: own(uploads, {
      resource: UPLOADS,
      prefix: 'upl',
      noun: 'upload',
      notFound: 'upload_not_found',
      list: UPLOAD_LIST,
      hidesDeleted: true,
    }),
    playlists: own(playlists, {
      resource: PLAYLISTS,
      prefix: 'pls',
      noun: 'playlist',
      notFound: 'playlist_not_found',
      list: PLAYLIST_LIST,
      hidesDeleted: true,
    }),
    scenes: own(scenes, {
      resource: SCENES,
      prefix: 'scn',
      noun: 'scene',
      notFound: 'scene_not_found',
      list: SCENE_LIST,
      hidesDeleted: true,
    }),
    streams: own(streams, {
      resource: LOOPSTREAMS,
      prefix: 'str',
      noun: 'stream',
      notFound: 'stream_not_found',
      list: STREAM_LIST,
    }),
  };
  const byNoun = {
    stream: owned.streams,
    destination: owned.destinations,
    upload: owned.uploads,
    playlist: owned.playlists,
    scene: owned.scenes,
  };
  const loaders = Object.fromEntries(Object.values(owned).map((kind) => [kind.prefix, kind]));
  return { ...owned, byNoun, loaders };
}
