/** What the operator sees when it decides about one stream: read anew from the caches each time. Pure: no I/O, no clock. */

import type { Node, Pod } from '../../kube/core.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import type { MediaObjects } from '../media/items.ts';
import type { PodNews } from './pod-report.ts';

export interface World extends MediaObjects {
  /** The destinations that the stream refers to, by name, as far as they exist. */
  destinations: ReadonlyMap<string, Destination>;
  /** The pod that publishes, or is to; where the stream has none, one that has its name and belongs to somebody else. */
  pod: Pod | undefined;
  /** The stream's other pod, while one takes over. */
  other?: Pod | undefined;
  /** A name that no pod has; undefined when all are taken. */
  freeName?: string | undefined;
  /** The node of `pod`; undefined when the operator knows nothing of it. */
  node?: Node | undefined;
  /** Whether it is this stream's turn to be given what the operator now makes pods of; undefined when it has that. */
  mayRoll?: boolean;
  /** What the pod told last; undefined when it was not asked yet or did not answer. */
  news?: PodNews | undefined;
  now: Date;
}
