/** What everything of one node agent shares. */
import type { Clock } from '../../clock.ts';
import type { Kube } from '../../kube/types.ts';
import type { Logger } from '../../log.ts';
import type { Sources } from './sources.ts';
import type { EmitPodEvent } from './types.ts';

export interface NodeContext {
  kube: Kube;
  log: Logger;
  clock: Clock;
  sources: Sources;
  emit: EmitPodEvent;
  /** Image name → the argv that stands for its entrypoint. */
  images: Readonly<Record<string, readonly string[]>>;
  /** PATH of every container. */
  path: string;
  hostIP: string;
  /** Each pod has a directory of its UID below this one. */
  podsDir: string;
}
