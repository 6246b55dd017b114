/** Names the tools that the controller of streams works with. */

import type { Tools } from '../caches/tools.ts';
import type { OnAir } from './pod-reports.ts';
import type { Rollout } from './rollout.ts';

export interface StreamTools extends Tools {
  /** The pods of streams on air. */
  onAir: Pick<OnAir, 'newsOf' | 'skip' | 'release' | 'stop'>;
  rollout: Pick<Rollout, 'mayRoll' | 'againMs'>;
  /** Sessions are kept until somebody acknowledges them. */
  metered: boolean;
}
