/** Declares the context that all parts of a node agent share. */

import type { Kube } from '../../src/core/kube/types.ts';
import type { Clock } from '../../src/core/lib/clock.ts';
import type { Logger } from '../../src/core/lib/log.ts';
import type { Mount } from './paths.ts';
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
  /** Files of the images, which a pod's command names, and the real ones that stand for them. */
  imageFiles: readonly Mount[];
  /** Variables of the images, read at each start of a container; the container's own go before them. */
  imageEnvironment: () => Readonly<Record<string, string>>;
  /** PATH of every container. */
  path: string;
  /** All containers have the same share of the processors, whatever they request. */
  equalShares: boolean;
  hostIP: string;
  /** Each pod has a directory of its UID below this one. */
  podsDir: string;
}
