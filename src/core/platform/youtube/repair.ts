/**
 * Decides the next single step of the repair of a broadcast that has ended under a running stream: make one broadcast, bind it to the
 * key, and see it live. The encoder is never touched.
 *
 * The caller runs one round at a time: load the state, read, `decideRepair`, persist the state by compare and swap with the version that was
 * loaded, then do the step. It may die or be replaced between any two of these. Three rules keep that from making a second broadcast:
 * - A mark is persisted before the insert and stands in the description of the broadcast, so a later process knows what was meant.
 * - An insert must have been sent by `sendByMs`; a process that has slept meanwhile gives it up. So its result shows within a known time.
 * - Lists lag. That something is missing counts only if two lists say so, the second one LIST_LAG_MS after the first, and the first
 *   after all that could still arrive. A broadcast that a list shows counts at once, since a broadcast never goes back in its life.
 *
 * Pure: no I/O, no clock.
 */

import type { RepairState, StallReason } from '../common/repair-state.ts';
import type { LifeCycle, YoutubeBroadcast } from './answers.ts';
import { LIST_LAG_MS } from './judge.ts';

/** Absence is confirmed after this time if the end of the last broadcast is known, which no list has to show. */
export const CONFIRM_MS = 15_000;
/** An insert is sent within the first time after its mark is persisted, and ends within the second. */
export const SEND_MS = 10_000;
export const SETTLE_MS = 30_000;
/** How often `noteLive` is worth a write. */
export const NOTE_EVERY_MS = 30_000;
/** Autostart is given this time; then the broadcast is started by a transition. */
export const AUTOSTART_MS = 20_000;
/** A bind or a start whose effect is not seen after this time is repeated. Both can be repeated safely. */
export const RETRY_MS = LIST_LAG_MS + CONFIRM_MS;
export const MAX_TRIES = 3;
export const MAX_PER_HOUR = 3;
export const MAX_PER_DAY = 10;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const NEW_REPAIR: RepairState = { phase: 'idle', insertsMs: [] };

export interface RepairReading {
  /** When the first of the calls was sent. */
  atMs: number;
  streamId: string;
  isIngestActive: boolean;
  /** Upcoming and active broadcasts of the channel, all pages, and those of `idsToRead`, joined by `joinBroadcasts`. */
  broadcasts: readonly YoutubeBroadcast[];
  /** Broadcasts that the public `videos.list` shows with an end. */
  endedIds?: readonly string[];
  /** The broadcast whose page is watched, where a person has named one. */
  watchedId?: string;
}

export interface RepairOptions {
  nowMs: number;
  /** A fresh random id of 128 bits, for the case that it is needed. */
  newMark: string;
  /** Changes when a person asks to go on after a stall. */
  resume?: string;
  /** Whether the budget of the day pays for insert, bind and start. */
  isAffordable: boolean;
}

export type RepairStep =
  | { kind: 'none' }
  | { kind: 'wait'; untilMs: number }
  | { kind: 'adopt'; broadcastId: string }
  | { kind: 'insert'; mark: string; sendByMs: number }
  | { kind: 'bind'; broadcastId: string; streamId: string }
  | { kind: 'start'; broadcastId: string }
  | { kind: 'stalled'; reason: StallReason };

/** `state` is to be persisted before the step, if it is not the one that was given in. */
export interface RepairDecision {
  state: RepairState;
  step: RepairStep;
}

/** The broadcasts that a reading asks for by id: lists of upcoming and active ones do not show an end. */
export const idsToRead = ({ broadcastId, live }: RepairState, watchedId?: string): string[] => [
  ...new Set([broadcastId, live?.broadcastId, watchedId].filter((id) => id !== undefined)),
];

const isOver = (lifeCycle: LifeCycle): boolean => lifeCycle === 'complete' || lifeCycle === 'revoked';

/** The state that remains when a repair is over. */
const rest = ({ insertsMs, live }: RepairState): RepairState => ({
  phase: 'idle',
  insertsMs,
  ...(live ? { live } : {}),
});

/** Absence has to be confirmed anew. */
function forgetAbsence(state: RepairState): RepairState {
  if (state.absentSinceMs === undefined) return state;
  const { absentSinceMs: _, ...others } = state;
  return others;
}

const stall = (state: RepairState, reason: StallReason, { resume }: RepairOptions): RepairDecision => ({
  state: {
    ...forgetAbsence(state),
    phase: 'stalled',
    stalled: reason,
    ...(resume === undefined ? {} : { resume }),
  },
  step: { kind: 'stalled', reason },
});

/** A repair that was under way before the stall goes on, so that nothing is made twice; a broadcast that was taken away is given up. */
function unstall({ stalled, resume: _, ...state }: RepairState): RepairState {
  if (stalled === 'revoked' || stalled === 'taken') return { phase: 'idle', insertsMs: state.insertsMs };
  const pending = state.mark === undefined ? 'idle' : 'inserting';
  return { ...state, phase: state.broadcastId === undefined ? pending : 'inserted', binds: 0, starts: 0 };
}

const wait = (state: RepairState, untilMs: number): RepairDecision => ({ state, step: { kind: 'wait', untilMs } });

/** The state after `broadcastId` was seen live; the same object if that is not worth a write. */
export function noteLive(state: RepairState, broadcastId: string, atMs: number): RepairState {
  const isOurs = broadcastId === state.broadcastId;
  const isKnown = state.live?.broadcastId === broadcastId && atMs - state.live.atMs < NOTE_EVERY_MS;
  if (isKnown && !isOurs && state.absentSinceMs === undefined) return state;
  const live = { broadcastId, atMs: Math.max(atMs, isKnown ? (state.live?.atMs ?? 0) : 0) };
  if (isOurs) return { ...rest(state), live };
  return { ...forgetAbsence(state), live };
}

/** The state after the API has answered the insert with an id. */
export const noteInserted = (state: RepairState, broadcastId: string): RepairState =>
  state.phase === 'inserting' ? { ...forgetAbsence(state), phase: 'inserted', broadcastId } : state;

/** The state after the API has refused the insert (4xx): nothing was made. An insert without an answer is no refusal. */
export const noteRefused = (state: RepairState): RepairState => (state.phase === 'inserting' ? rest(state) : state);

/** The state after the API has said that the account may not insert, or not this: another try would say the same. */
export const noteForbidden = (state: RepairState, resume: string | undefined): RepairState => ({
  ...rest(state),
  phase: 'stalled',
  stalled: 'refused',
  ...(resume === undefined ? {} : { resume }),
});

function beginInsert(state: RepairState, mark: string, options: RepairOptions): RepairDecision {
  const { nowMs } = options;
  const insertsMs = state.insertsMs.filter((at) => nowMs - at < DAY_MS);
  const lastHour = insertsMs.filter((at) => nowMs - at < HOUR_MS);
  if (lastHour.length >= MAX_PER_HOUR || insertsMs.length >= MAX_PER_DAY) return stall(state, 'limit', options);
  if (!options.isAffordable) return wait(state, nowMs + LIST_LAG_MS);
  return {
    state: { ...rest(state), phase: 'inserting', mark, markedMs: nowMs, insertsMs: [...insertsMs, nowMs] },
    step: { kind: 'insert', mark, sendByMs: nowMs + SEND_MS },
  };
}

/** Two lists `apartMs` apart, the first one not before `notBeforeMs`. Undefined once that is confirmed. */
function confirmAbsence(
  state: RepairState,
  atMs: number,
  apartMs: number,
  notBeforeMs = 0,
): RepairDecision | undefined {
  const { absentSinceMs } = state;
  if (atMs < notBeforeMs) return wait(forgetAbsence(state), notBeforeMs);
  if (absentSinceMs === undefined || absentSinceMs < notBeforeMs)
    return wait({ ...state, absentSinceMs: atMs }, atMs + apartMs);
  return atMs - absentSinceMs < apartMs ? wait(state, absentSinceMs + apartMs) : undefined;
}

/** Nothing of ours is under way. */
function decideIdle(state: RepairState, reading: RepairReading, options: RepairOptions): RepairDecision {
  const { atMs, broadcasts, streamId, watchedId } = reading;
  const starting = broadcasts.some(
    (one) => one.streamId === streamId && ['testStarting', 'testing', 'liveStarting'].includes(one.lifeCycle),
  );
  // A person is at it.
  if (starting) return wait(forgetAbsence(state), atMs + CONFIRM_MS);
  const lastId = state.live?.broadcastId ?? watchedId;
  const isEndKnown = broadcasts.some(({ id, lifeCycle }) => id === lastId && isOver(lifeCycle));
  return (
    confirmAbsence(state, atMs, isEndKnown ? CONFIRM_MS : LIST_LAG_MS) ?? beginInsert(state, options.newMark, options)
  );
}

/** An insert was begun, and nobody knows its result: its process has died, or the answer was lost. */
function decideInserting(state: RepairState, reading: RepairReading, options: RepairOptions): RepairDecision {
  const { atMs, broadcasts } = reading;
  const { mark = '', markedMs = atMs } = state;
  const ours = broadcasts.filter(({ description }) => mark !== '' && description.includes(mark));
  const open = ours.filter(({ lifeCycle }) => !isOver(lifeCycle));
  // The oldest, in case that a list lags by more than is believed and there are two.
  const [adopted] = open.toSorted((a, b) => (a.createdMs ?? 0) - (b.createdMs ?? 0) || (a.id < b.id ? -1 : 1));
  if (adopted) {
    const broadcastId = adopted.id;
    return { state: noteInserted(state, broadcastId), step: { kind: 'adopt', broadcastId } };
  }
  const [over] = ours;
  if (over) return wait({ ...rest(state), live: { broadcastId: over.id, atMs } }, atMs + CONFIRM_MS);
  return confirmAbsence(state, atMs, LIST_LAG_MS, markedMs + SETTLE_MS) ?? beginInsert(state, mark, options);
}

/** Our broadcast has an id. */
function decideInserted(state: RepairState, reading: RepairReading, options: RepairOptions): RepairDecision {
  const { atMs, streamId } = reading;
  const { nowMs } = options;
  const { broadcastId = '', boundMs, startedMs, binds = 0, starts = 0 } = state;
  const ours = reading.broadcasts.find(({ id }) => id === broadcastId);
  if (ours && isOver(ours.lifeCycle)) return wait({ ...rest(state), live: { broadcastId, atMs } }, atMs + CONFIRM_MS);
  if (ours?.streamId !== undefined && ours.streamId !== streamId) return stall(state, 'taken', options);

  let current: RepairState = ours ? forgetAbsence(state) : state;
  if (ours?.streamId === undefined) {
    const isTime = boundMs === undefined || nowMs - boundMs >= RETRY_MS;
    if (isTime && binds < MAX_TRIES)
      return {
        state: { ...current, boundMs: nowMs, binds: binds + 1 },
        step: { kind: 'bind', broadcastId, streamId },
      };
    if (!ours) {
      // Somebody has deleted it, or lists have not shown it yet.
      const missing = confirmAbsence(current, atMs, LIST_LAG_MS);
      return missing ?? wait(rest(current), atMs + LIST_LAG_MS);
    }
    return isTime ? stall(current, 'refused', options) : wait(current, nowMs + CONFIRM_MS);
  }

  if (['testStarting', 'liveStarting'].includes(ours.lifeCycle)) return wait(current, nowMs + CONFIRM_MS);
  if (boundMs === undefined) current = { ...current, boundMs: nowMs };
  const dueMs = startedMs === undefined ? (boundMs ?? nowMs) + AUTOSTART_MS : startedMs + RETRY_MS;
  if (nowMs < dueMs) return wait(current, dueMs);
  if (starts >= MAX_TRIES) return stall(current, 'refused', options);
  return {
    state: { ...current, startedMs: nowMs, starts: starts + 1 },
    step: { kind: 'start', broadcastId },
  };
}

export function decideRepair(before: RepairState, given: RepairReading, options: RepairOptions): RepairDecision {
  const { atMs, streamId, isIngestActive, endedIds = [] } = given;
  const broadcasts = [
    ...given.broadcasts.map((one) =>
      endedIds.includes(one.id) && !isOver(one.lifeCycle) ? { ...one, lifeCycle: 'complete' as const } : one,
    ),
    ...endedIds
      .filter((id) => !given.broadcasts.some((one) => one.id === id))
      .map((id): YoutubeBroadcast => ({ id, lifeCycle: 'complete', description: '' })),
  ];
  const reading = { ...given, broadcasts };
  let state = before;
  // A live broadcast whose key the API does not show may be ours: it is left alone.
  const live = broadcasts.find(
    (one) => one.lifeCycle === 'live' && (one.streamId === streamId || one.streamId === undefined),
  );
  if (state.phase === 'stalled') {
    const goesOn = options.resume !== state.resume;
    if (!live && !goesOn) return { state, step: { kind: 'stalled', reason: state.stalled ?? 'limit' } };
    state = { ...unstall(state), ...(goesOn ? { insertsMs: [] } : {}) };
  }
  const known = idsToRead(state);
  const isRevoked = broadcasts.some(
    ({ id, lifeCycle, description }) =>
      lifeCycle === 'revoked' && (known.includes(id) || (state.mark !== undefined && description.includes(state.mark))),
  );
  if (live) {
    const isMarked = state.mark !== undefined && live.description.includes(state.mark);
    const owned = isMarked ? { ...state, broadcastId: live.id } : state;
    return { state: noteLive(owned, live.id, atMs), step: { kind: 'none' } };
  }
  if (isRevoked && before.phase !== 'stalled') return stall(state, 'revoked', options);
  if (!isIngestActive) return { state: forgetAbsence(state), step: { kind: 'none' } };
  const lately = state.live;
  if (lately && !broadcasts.some(({ id, lifeCycle }) => id === lately.broadcastId && isOver(lifeCycle))) {
    // Viewers saw another broadcast a moment ago; lists that do not show it may be behind.
    const untilMs = lately.atMs + NOTE_EVERY_MS + LIST_LAG_MS;
    if (atMs < untilMs) return wait(forgetAbsence(state), untilMs);
  }
  if (state.phase === 'inserting') return decideInserting(state, reading, options);
  if (state.phase === 'inserted') return decideInserted(state, reading, options);
  return decideIdle(state, reading, options);
}
