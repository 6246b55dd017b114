/** Declares what lists of streams are filtered and sorted by. Pure: no I/O, no clock. */
import type { Stored } from '../../../core/kube/types.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { PHASES, type Phase } from '../../../core/resources/stream/spec.ts';
import { nameKey } from '../../lib/paging/connection.ts';
import { resourceList } from '../limits/resource-list.ts';
import { computePhase, isObserved } from './view.ts';

/** On air, or about to be. */
export const SENDING: readonly Phase[] = ['live', 'reconnecting', 'starting'];

export const STREAM_LIST = resourceList<Stored<LoopStream>>({
  nouns: 'streams',
  state: { title: 'StreamStatus', values: PHASES, get: computePhase },
  sorts: {
    onAir: {
      meaning: 'streams on air first, each part by name',
      key: (stream, now) =>
        `${SENDING.includes(computePhase(stream, now)) ? 0 : 1} ${nameKey(stream.spec.displayName ?? stream.metadata.name)}`,
    },
    state: { key: computePhase },
  },
  // Its start time may pass before the operator sees the latest spec.
  isTimed: (stream) => stream.spec.schedule !== undefined && !isObserved(stream),
});
