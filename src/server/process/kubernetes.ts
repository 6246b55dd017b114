/** Opens the client of Kubernetes, and reads the resources of all accounts into caches. */
import { createOwnedResources, type OwnedResourcesOptions } from '../../domain/owned-resources.ts';
import { podStreamIndex } from '../../domain/stats/service.ts';
import { listUploads } from '../../domain/uploads/holders.ts';
import { createKube } from '../../kube/client.ts';
import { PODS } from '../../kube/core.ts';
import { createReflector, type Reflector } from '../../kube/reflector.ts';
import type { Kube, KubeObject } from '../../kube/types.ts';
import type { Logger } from '../../lib/log.ts';
import { STREAM_LABEL } from '../../resources/common/names.ts';
import { DESTINATIONS } from '../../resources/destination/resource.ts';
import { PLAYLISTS } from '../../resources/playlist/resource.ts';
import { listNeededUploads } from '../../resources/playlist/spec.ts';
import { LOOPSTREAMS } from '../../resources/stream/resource.ts';
import { findUploadName } from '../../resources/upload/name.ts';
import { UPLOADS } from '../../resources/upload/resource.ts';
import type { ProcessContext } from './context.ts';

/** Time limit of a request to Kubernetes, long before clients and proxies give up. */
const TIMEOUT_MS = 10_000;

export function openKube({ config, lifecycle, metrics }: ProcessContext): Kube {
  const { kubeconfig } = config;
  const kube = createKube({ kubeconfig, timeoutMs: TIMEOUT_MS, onRequest: metrics.onRequest });
  lifecycle.defer('kubernetes', () => kube.close());
  return kube;
}

export type Resources = ReturnType<typeof openResources>;

/** Reads the resources from now on. `isSynced` returns whether all have been read once, and `ready` resolves when they have. */
export function openResources({ config, lifecycle, metrics, log }: ProcessContext, kube: Kube) {
  const resources = createResources(kube, config.namespace, lifecycle.signal, log);
  metrics.showReflectors(resources.byName);
  const reflectors = Object.values(resources.byName);
  for (const reflector of reflectors) reflector.start(lifecycle.signal);
  let isSynced = false;
  const ready = Promise.all(reflectors.map(({ synced }) => synced)).then(() => {
    isSynced = true;
    log.info('the caches are filled from Kubernetes');
  });
  // Stopping before the first read is no error.
  ready.catch(() => undefined);
  return {
    ...resources,
    ready,
    isSynced: () => isSynced,
    ageMs: () => Math.max(...reflectors.map((reflector) => reflector.ageMs())),
  };
}

/** Creates one reflector for each kind, with the indexes of the services. */
function createResources(kube: Kube, namespace: string, stopping: AbortSignal, log: Logger) {
  const destinations = createReflector(kube, DESTINATIONS, { namespace, log });
  const uploads = createReflector(kube, UPLOADS, { namespace, log });
  const playlists = createReflector(kube, PLAYLISTS, { namespace, log, indexes: { upload: listNeededUploads } });
  const streams = createReflector(kube, LOOPSTREAMS, {
    namespace,
    log,
    indexes: {
      destination: ({ spec }) => spec.destinationNames,
      upload: listUploads,
      playlist: ({ spec }) => [...(spec.playlistNames ?? []), ...(spec.audioPlaylistNames ?? [])],
    },
  });
  const pods = createReflector(kube, PODS, {
    namespace,
    log,
    labelSelector: STREAM_LABEL,
    indexes: { stream: podStreamIndex },
  });
  const own = <T extends KubeObject>(
    reflector: Reflector<T>,
    options: Pick<OwnedResourcesOptions<T>, 'resource' | 'prefix' | 'noun' | 'notFound' | 'readName'>,
  ) => createOwnedResources({ kube, reflector, namespace, stopping, ...options });
  const owned = {
    destinations: own(destinations, {
      resource: DESTINATIONS,
      prefix: 'dst',
      noun: 'destination',
      notFound: 'destination_not_found',
    }),
    uploads: own(uploads, {
      resource: UPLOADS,
      prefix: 'upl',
      noun: 'upload',
      notFound: 'upload_not_found',
      readName: findUploadName,
    }),
    playlists: own(playlists, { resource: PLAYLISTS, prefix: 'pls', noun: 'playlist', notFound: 'playlist_not_found' }),
    streams: own(streams, { resource: LOOPSTREAMS, prefix: 'str', noun: 'stream', notFound: 'stream_not_found' }),
  };
  const byNoun = {
    stream: owned.streams,
    destination: owned.destinations,
    upload: owned.uploads,
    playlist: owned.playlists,
  };
  const loaders = Object.fromEntries(Object.values(owned).map((kind) => [kind.prefix, kind]));
  return { byName: { destinations, uploads, playlists, streams, pods }, pods, ...owned, byNoun, loaders };
}
