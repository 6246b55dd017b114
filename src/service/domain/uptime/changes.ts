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

const STATES: Record<Transition['kind'], AirState> = {
  Live: 'onAir',
  Reconnecting: 'offAir',
  OffAir: 'offAir',
  Recovered: 'onAir',
  Stopped: 'unwanted',
  Degraded: 'onAir',
  StartMissed: 'unwanted',
};

/** The changes that the resource still knows, oldest first. */
export function listAirChanges({ status }: LoopStream): AirChange[] {
  const changes = (status?.transitions ?? []).map((transition): AirChange => {
    const state = STATES[transition.kind];
    const cause = state === 'offAir' ? describeCause(transition) : null;
    return { number: transition.number, at: new Date(transition.at), state, cause };
  });
  // An operator of an earlier release put it on air, and told no transition.
  if (changes.length > 0 || status?.phase !== 'live' || status.liveSince === undefined) return changes;
  return [{ number: 0, at: new Date(status.liveSince), state: 'onAir', cause: null }];
}
