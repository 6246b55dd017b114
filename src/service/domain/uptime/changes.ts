/** Reads from a stream's resource when it went on and off air. Pure: no I/O, no clock. */
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Transition } from '../../../core/resources/stream/transitions.ts';
import { type Cause, describeCause } from '../streams/cause.ts';

/** `unwanted`: the stream is not meant to be on air. */
export type AirState = 'onAir' | 'offAir' | 'unwanted';

/** From `at` until the next change, the stream is in this state. */
export interface AirChange {
  /** Number of the transition. A missing number is a change that was lost. */
  number: number;
  at: Date;
  state: AirState;
  /** Why it is off air; null for other states. */
  cause: Cause | null;
}

const STATES: Record<Exclude<Transition['kind'], 'Rejected'>, AirState> = {
  Live: 'onAir',
  Reconnecting: 'offAir',
  OffAir: 'offAir',
  Recovered: 'onAir',
  Stopped: 'unwanted',
  Degraded: 'onAir',
  StartMissed: 'unwanted',
};

/** A refusal of one destination leaves the stream in the state that it was in: that of `before`. */
function readState(transition: Transition, before: AirChange | undefined): Pick<AirChange, 'state' | 'cause'> {
  if (transition.kind === 'Rejected') return before ?? { state: 'unwanted', cause: null };
  const state = STATES[transition.kind];
  return { state, cause: state === 'offAir' ? describeCause(transition) : null };
}

/** The changes that the resource still knows, oldest first. */
export function listAirChanges({ status }: LoopStream): AirChange[] {
  const changes: AirChange[] = [];
  for (const transition of status?.transitions ?? []) {
    const { number, at } = transition;
    changes.push({ ...readState(transition, changes.at(-1)), number, at: new Date(at) });
  }
  // An operator of an earlier release put it on air, and told no transition.
  if (changes.length > 0 || status?.phase !== 'live' || status.liveSince === undefined) return changes;
  return [{ number: 0, at: new Date(status.liveSince), state: 'onAir', cause: null }];
}
