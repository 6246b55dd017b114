/** Describes what the operator sees of one stream. It is read anew for each decision. */

import type { Node, Pod } from '../../kube/core.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { MediaObjects } from '../media/items.ts';
import type { PodReport } from './pod-report.ts';

/** The objects that a stream refers to, by name, as far as they exist. */
export interface StreamObjects extends MediaObjects {
  destinations: ReadonlyMap<string, Destination>;
}

export interface Observation extends StreamObjects {
  stream: LoopStream;
  /** The stream's pod that publishes, or is to. */
  pod: Pod | undefined;
  /** The stream's other pod, while one takes over. */
  other?: Pod | undefined;
  /** A name that no pod has; undefined when all are taken. */
  freeName?: string | undefined;
  /** The stream has no pod, and a pod that belongs to somebody else has a name of its pods. */
  isNameTaken?: boolean;
  /** Pods with names of its pods that an operator made for an earlier stream of this name. */
  strays?: readonly Pod[];
  /** The stream has a pod that is not over, and a finalizer of the operator is missing from one of the two. */
  lacksFinalizer?: boolean;
  /** The node of `pod`; undefined when the operator knows nothing of it. */
  node?: Node | undefined;
  /** Whether it is this stream's turn to be given what the operator now makes pods of; undefined when it has that. */
  mayRoll?: boolean;
  /** The last report of the pod; undefined when it was not asked yet or did not answer. */
  report?: PodReport | undefined;
  now: Date;
}
