/** What the operator does about one stream at a time. Pure: no I/O, no clock. */
import type { Program } from '../../resources/stream/program.ts';
import type { Skip } from './skip.ts';

export type Action =
  | { do: 'nothing' }
  /** Make what has to be there before a pod, for a start that is to come. */
  | { do: 'hold' }
  /** Make a pod. A standby is held: it publishes when nothing of the one before it is left, and not before. */
  | { do: 'create'; program: Program; standby: boolean }
  /** Let this pod publish, if nothing of the one that did is left. */
  | { do: 'publish'; podUid: string }
  /** Tell this pod to publish no more: another one is ready, and it is going already. */
  | { do: 'stop'; podUid: string }
  /** Take this pod away; `retire` lets it go on publishing until it is told to stop or its time is up. */
  | { do: 'delete'; podUid: string; retire: boolean }
  | { do: 'patch'; podUid: string; program: Program }
  /** Ask the pod for the next item, and hand it over as done in this program. */
  | { do: 'skip'; address: string; skip: Skip; program: Program }
  /** Nothing is left on air: let the deleted stream go. */
  | { do: 'release' }
  /** Its schedule is over for longer than it was to be kept: delete the stream as it now is. */
  | { do: 'expire' };

export const nothing: Action = { do: 'nothing' };

/** For a pod that is told to stop by its own control port first: it has no reason to take longer. */
export const STOP_GRACE_SECONDS = 5;
