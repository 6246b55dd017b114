/** Caches what the process reads of Kubernetes: destinations, the streams that are sent there, and the pods that send them. */
import { PODS, type Pod } from '../kube/core.ts';
import type { NamespaceWatch } from '../kube/namespace-watch.ts';
import { listKeys, stripPod } from '../operator/caches/caches.ts';
import { keepOwnMetadata } from '../resources/common/kept.ts';
import { COMPONENT_LABEL, MANAGED_BY, MANAGED_BY_LABEL } from '../resources/common/names.ts';
import { believeDestination } from '../resources/destination/own-status.ts';
import { DESTINATIONS } from '../resources/destination/resource.ts';
import { listReceivers } from '../resources/stream/destinations.ts';
import { keepWithoutTemplate } from '../resources/stream/kept.ts';
import { believeStream } from '../resources/stream/own-status.ts';
import { LOOPSTREAMS } from '../resources/stream/resource.ts';

/** Streams by the keys of the destinations that receive them. */
export const BY_RECEIVER = 'receiver';
/** Pods by their UID. */
export const BY_UID = 'uid';

export function createPlatformCaches({ createCache }: Pick<NamespaceWatch, 'createCache'>) {
  return {
    destinations: createCache(DESTINATIONS, { keep: (one) => believeDestination(keepOwnMetadata(one)) }),
    streams: createCache(LOOPSTREAMS, {
      keep: (one) => believeStream(keepWithoutTemplate(one)),
      indexes: { [BY_RECEIVER]: (stream) => listKeys(stream, listReceivers(stream.spec)) },
    }),
    pods: createCache(PODS, {
      labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY},${COMPONENT_LABEL}=streamer`,
      keep: (pod) => stripPod<Pod>(pod),
      indexes: { [BY_UID]: ({ metadata }) => [metadata.uid] },
    }),
  };
}

export type PlatformCaches = ReturnType<typeof createPlatformCaches>;
