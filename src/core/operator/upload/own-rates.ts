/** Tells whether each streamer plays a rendition at a frame rate of its own. Pure: no I/O, no clock. */
import type { Pod } from '../../kube/core.ts';
import { OWN_RATE_VERSION } from '../../pods/rendition/format.ts';
import { COMPONENT_LABEL, INDEX_VERSION_ANNOTATION } from '../../resources/common/names.ts';

/**
 * Returns false while a pod of a stream is of a release that would skip such a rendition as invalid. After an upgrade, streams on
 * air get new pods one by one (stream/rollout.ts).
 */
export const playOwnRates = ({ pods }: { pods: { list(): Iterable<Pick<Pod, 'metadata'>> } }): boolean =>
  [...pods.list()].every(
    ({ metadata: { labels, annotations } }) =>
      labels?.[COMPONENT_LABEL] !== 'streamer' ||
      Number(annotations?.[INDEX_VERSION_ANNOTATION] ?? 0) >= OWN_RATE_VERSION,
  );
