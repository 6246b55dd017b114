/** Declares what the controller of streams depends on. */

import type { ControllerDeps } from '../caches/controller-deps.ts';
import type { Rollout } from './rollout.ts';
import type { Streamers } from './streamers.ts';
import type { ViewKeys } from './view-keys.ts';

export interface StreamControllerDeps extends ControllerDeps {
  /** The pods of streams on air. */
  streamers: Pick<Streamers, 'report' | 'skip' | 'release' | 'stop' | 'hasStopped'>;
  viewKeys: ViewKeys;
  rollout: Pick<Rollout, 'mayRoll' | 'requeueAfterMs'>;
  /** Whether the sessions of a namespace are kept until somebody acknowledges them. */
  isMetered: (namespace: string) => boolean;
}
