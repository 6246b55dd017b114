/** Declares the course of a stream: where it stands on its way on air or off air, and the one action that takes it further. */

import type { EventInput } from '../../kube/events.ts';
import type { SessionEnd } from '../../lib/codes/streams.ts';
import type { Program } from '../../protocol/program.ts';
import type { ProblemReason } from '../../resources/stream/health.ts';
import type { Phase } from '../../resources/stream/spec.ts';
import type { PodReason } from '../pods/status.ts';
import type { Verdict } from '../runtime/controller.ts';
import type { Playhead, Skip } from './program.ts';

export type Action =
  | { do: 'nothing' }
  /** Make what has to be there before a pod, for a start that is to come. */
  | { do: 'prepare' }
  /** Make a pod. A standby is held: it publishes only once its predecessor is over. */
  | { do: 'create'; program: Program; standby: boolean }
  /** Let this pod publish, if the previous publisher is over. */
  | { do: 'publish'; podUid: string }
  /** Stop this pod's publishing: another one is ready, and this one is being deleted. */
  | { do: 'stop'; podUid: string }
  /** Delete this pod; with `retire` it publishes until a stop command or the end of its time. */
  | { do: 'delete'; podUid: string; retire: boolean }
  | { do: 'patch'; podUid: string; program: Program }
  /** Ask the pod for the next item, and hand it over as done in this program. */
  | { do: 'skip'; address: string; skip: Skip; program: Program }
  /** Add the finalizers again that are missing from the stream on air and its pods. */
  | { do: 'restoreFinalizers' }
  /** Nothing is left on air of the deleted stream: remove its finalizer. */
  | { do: 'removeFinalizer' }
  /** Its time to be kept after its schedule has passed: delete this version of it. */
  | { do: 'expire' };

export const NO_ACTION: Action = { do: 'nothing' };

/** For a pod that first gets a stop command at its control port: it has no reason to take longer. */
export const STOP_GRACE_SECONDS = 5;

/** The condition Progressing. OUTLOOKS (resources/stream/health.ts) says of each reason whether it passes by itself. */
export interface ProgressCondition {
  status: 'True' | 'False';
  reason: ProblemReason | PodReason;
  message: string;
}

export interface Course {
  phase: Phase;
  action: Action;
  /** The condition Live. */
  live: Omit<Verdict, 'type'>;
  progressing: ProgressCondition;
  /** Where the stream stands; undefined while it is not meant to be on air. */
  playhead?: Playhead | undefined;
  /** Why a pod that is going goes, where the operator wants it so. */
  ends?: SessionEnd | undefined;
  /** Events beside those for what changes in the status. */
  events?: EventInput[];
  /** When to reconcile again although nothing has changed. */
  requeueAt?: Date | undefined;
}

/** Progressing has this reason while a closed gate alone keeps the stream off air. */
export const GATE_CLOSED = 'GateClosed' satisfies ProblemReason;

export const SETTLED = {
  status: 'True',
  reason: 'Settled',
  message: 'The stream is in the requested state.',
} as const;
