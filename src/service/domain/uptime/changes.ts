/** Reads from a stream's resource when it went on and off air. Pure: no I/O, no clock. */
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Transition } from '../../../core/resources/stream/transitions.ts';
import { type Cause, describeCause } from '../streams/cause.ts';

/** `unwanted`: the stream is not meant to be on air. */
export type AirState = 'onAir' | 'offAir' | 'unwanted';

/** `unknown`: nobody can tell what viewers see. */
export type ViewerState = 'onAir' | 'offAir' | 'unknown';

/** From `at` until the next change, the stream is in this state. */
export interface AirChange {
  /** Number of the transition. A missing number is a change that was lost. */
  number: number;
  at: Date;
  /** `unchanged`: the transition says nothing of it. */
  state: AirState | 'unchanged';
  /** View of viewers while a destination takes media. Not set where the transition says nothing of it. */
  viewers?: ViewerState;
  /** Why it is off air, or off air for viewers; null for other states. */
  cause: Cause | null;
}

const STATES: Record<Transition['kind'], AirChange['state']> = {
  Live: 'onAir',
  Reconnecting: 'offAir',
  OffAir: 'offAir',
  Recovered: 'onAir',
  Stopped: 'unwanted',
  Degraded: 'onAir',
  StartMissed: 'unwanted',
  Rejected: 'unchanged',
  PlatformLive: 'unchanged',
  PlatformEnded: 'unchanged',
  PlatformHealth: 'unchanged',
  PlatformView: 'unchanged',
};

const OF_VIEWERS: Record<NonNullable<Transition['onAirForViewers']>, ViewerState> = {
  True: 'onAir',
  False: 'offAir',
  Unknown: 'unknown',
};

/** Nothing is known of the viewers of a new start before its first answer. */
function findViewers({ kind, onAirForViewers }: Transition): ViewerState | undefined {
  if (onAirForViewers !== undefined) return OF_VIEWERS[onAirForViewers];
  return kind === 'Live' || STATES[kind] === 'unwanted' ? 'unknown' : undefined;
}

/** The changes that the resource still knows, oldest first. */
export function listAirChanges({ status }: LoopStream): AirChange[] {
  const transitions = status?.transitions ?? [];
  const changes = transitions.map((transition, i): AirChange => {
    const state = STATES[transition.kind];
    const viewers = findViewers(transition);
    const cause = state === 'offAir' || viewers === 'offAir' ? describeCause(transition) : null;
    const at = findTime(transition, transitions.slice(0, i));
    return { number: transition.number, at, state, ...(viewers && { viewers }), cause };
  });
  // An operator of an earlier release put it on air, and told no transition.
  if (changes.length > 0 || status?.phase !== 'live' || status.liveSince === undefined) return changes;
  return [{ number: 0, at: new Date(status.liveSince), state: 'onAir', cause: null }];
}

/**
 * A destination that hung up often is told as recovered only after a while. The media of that time is on air, so that the outage ends as long
 * after its begin as no destination took media.
 */
function findTime({ kind, at, offAirSeconds }: Transition, before: readonly Transition[]): Date {
  if (kind !== 'Recovered' || offAirSeconds === undefined) return new Date(at);
  const onAir = before.findLastIndex((one) => STATES[one.kind] === 'onAir' || STATES[one.kind] === 'unwanted');
  const began = before.slice(onAir + 1).find((one) => STATES[one.kind] === 'offAir');
  return new Date(Math.min(Date.parse(at), Date.parse(began?.at ?? at) + offAirSeconds * 1000));
}
