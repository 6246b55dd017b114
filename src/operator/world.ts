/** What the operator sees when it decides about one stream: read anew from the caches each time. Pure: no I/O, no clock. */

import type { Node, Pod } from '../kube/core.ts';
import type { Condition } from '../resources/common/conditions.ts';
import type { Destination } from '../resources/destination/resource.ts';
import type { Playlist } from '../resources/playlist/resource.ts';
import type { Upload } from '../resources/upload/resource.ts';
import type { PodNews } from './news.ts';

export interface World {
  /** The objects in the stream's namespace that it refers to, by name. Those that do not exist are not in the maps. */
  destinations: ReadonlyMap<string, Destination>;
  playlists: ReadonlyMap<string, Playlist>;
  uploads: ReadonlyMap<string, Upload>;
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

/** One condition as it is decided: when it changed and for which generation is added when the status is written. */
export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** What a named check answers: nothing when all is well. */
export interface Finding {
  reason: string;
  message: string;
  /** True when it is too early to say, e.g. because a resource has not been looked at yet. */
  unknown?: boolean;
}
