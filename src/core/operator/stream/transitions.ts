/**
 * Records what happens to a stream (resources/stream/transitions.ts) from its status before and after: nothing is observed for it, and
 * it is written with the status that tells of the change anyway. Pure: no I/O, no clock.
 */

import { exactTime } from '../../lib/clock.ts';
import { type Condition, findCondition } from '../../resources/common/conditions.ts';
import { findDegraded, findOffAirCause } from '../../resources/stream/problem.ts';
import type { LoopStreamStatus } from '../../resources/stream/spec.ts';
import { MAX_TRANSITION_MESSAGE, MAX_TRANSITIONS, type Transition } from '../../resources/stream/transitions.ts';
import { GATE_CLOSED } from './course.ts';
import type { PodReport } from './pod-report.ts';

/** A handover to a warm pod takes about a second, a connection that broke off two: what lasts longer is an outage. */
export const OFF_AIR_SECONDS = 5;

type Told = Omit<Transition, 'number'>;
type Status = Pick<LoopStreamStatus, 'phase' | 'conditions' | 'liveSince' | 'transitions' | 'rejections'>;

/** Kinds that say nothing of whether a destination takes media. */
const BESIDE: ReadonlySet<Transition['kind']> = new Set([
  'Degraded',
  'StartMissed',
  'Rejected',
  'PlatformLive',
  'PlatformEnded',
  'PlatformHealth',
  'PlatformView',
]);

/** A destination that breaks off is noticed at once. One that hangs takes no media for longer than this before it is given up. */
const NOTICED_MS = 2_000;
/** The pod writes its times in whole seconds, rounded down. */
const ROUNDING_MS = 1_000;

/** How far the clock of a node may be from that of the operator. */
const SKEW_MS = 60_000;

type Report = Pick<PodReport, 'live' | 'runs' | 'interruption'>;

/** The last transition that says whether viewers see the stream. */
const findLastOnAir = (transitions: readonly Transition[]): Transition | undefined =>
  transitions.findLast(({ kind }) => !BESIDE.has(kind));

/** When an interruption becomes an outage; undefined while there is none. */
export function findOffAirTime(transitions: readonly Transition[] | undefined): Date | undefined {
  const last = findLastOnAir(transitions ?? []);
  return last?.kind === 'Reconnecting' ? new Date(Date.parse(last.at) + OFF_AIR_SECONDS * 1000) : undefined;
}

/**
 * Returns the transitions as they are when `next` follows `before`; none of them is lost before there are too many. `report` is the last one
 * of the stream's pod, whose times are closer to the truth than the moment at which the operator learns of a change. `platforms` is what is new of
 * the viewers (platforms.ts).
 */
export function recordTransitions(
  before: Status | undefined,
  next: Status,
  now: Date,
  report?: Report,
  platforms: readonly Told[] = [],
): Transition[] {
  const known = before?.transitions ?? [];
  const told = [
    ...tellRejected(before, next),
    tellOnAir(before, next, now, report),
    ...platforms,
    tellDegraded(before, next, now),
    tellMissed(before, next, now),
  ];
  const first = (known.at(-1)?.number ?? 0) + 1;
  const added = told.filter((one) => one !== undefined).map((one, i) => ({ number: first + i, ...one }));
  return [...known, ...added].slice(-MAX_TRANSITIONS);
}

const readCause = (condition: Condition | undefined): Pick<Told, 'reason' | 'message'> =>
  condition ? { reason: condition.reason, message: condition.message.slice(0, MAX_TRANSITION_MESSAGE) } : {};

const isTrue = (status: Status | undefined, type: string): Condition | undefined => {
  const condition = findCondition(status?.conditions, type);
  return condition?.status === 'True' ? condition : undefined;
};

const isGateClosed = (next: Status): boolean => isTrue(next, 'Progressing')?.reason === GATE_CLOSED;

function tellOnAir(before: Status | undefined, next: Status, now: Date, report: Report | undefined): Told | undefined {
  const last = findLastOnAir(before?.transitions ?? []);
  const wasOnAir = last ? last.kind === 'Live' || last.kind === 'Recovered' : before?.phase === 'live';
  const isInterrupted = last?.kind === 'Reconnecting';
  const at = exactTime(now);
  switch (next.phase) {
    case 'live':
      if (wasOnAir) return undefined;
      return tellLive(before?.transitions ?? [], last, next.liveSince, now, report);
    case 'reconnecting':
      if (wasOnAir)
        return { kind: 'Reconnecting', at: findOffTime(last, now, report), ...readCause(findOffAirCause(next)) };
      if (!isInterrupted || now < (findOffAirTime(before?.transitions) ?? now)) return undefined;
      return { kind: 'OffAir', at, ...readCause(findOffAirCause(next)) };
    case 'waiting':
    case 'failed':
    case 'starting':
      return wasOnAir || isInterrupted ? { kind: 'OffAir', at, ...readCause(findOffAirCause(next)) } : undefined;
    default:
      if (!wasOnAir && !isInterrupted && last?.kind !== 'OffAir') return undefined;
      if (!isGateClosed(next)) return { kind: 'Stopped', at, ...readCause(findCondition(next.conditions, 'Live')) };
      return last?.kind === 'OffAir'
        ? undefined
        : { kind: 'OffAir', at, ...readCause(findCondition(next.conditions, 'Progressing')) };
  }
}

/**
 * Returns when the destinations last took media. The pod reports a change at once, unless a destination hung, or the pod had to wait with
 * its report.
 */
function findOffTime(last: Transition | undefined, now: Date, report: Report | undefined): string {
  const run = report?.live === false ? report.runs.at(-1) : undefined;
  const lastMs = Date.parse(run?.lastAt ?? '') + ROUNDING_MS;
  const isLate = now.getTime() - lastMs > NOTICED_MS && lastMs > Date.parse(last?.at ?? run?.startedAt ?? '');
  return exactTime(isLate ? new Date(lastMs) : now);
}

/**
 * When a destination first took media after the last transition: by the process of a pod that began since then, or by kubelet. Kubelet misses
 * an interruption between two of its probes, and its time is then of before.
 */
function findOnAirTime(
  last: Transition | undefined,
  liveSince: string | undefined,
  now: Date,
  report: Report | undefined,
): string {
  const isSince = (at: string | undefined): at is string =>
    at !== undefined && Date.parse(at) <= now.getTime() && (!last || Date.parse(at) > Date.parse(last.at));
  return [report?.runs.at(-1)?.startedAt, liveSince].find(isSince) ?? exactTime(now);
}

/**
 * An outage begins with the first transition after the stream was last on air. The pod knows better how long it was: a destination that
 * hung up often is believed to be back only after a while.
 */
function tellLive(
  transitions: readonly Transition[],
  last: Transition | undefined,
  liveSince: string | undefined,
  now: Date,
  report: Report | undefined,
): Told {
  const at = findOnAirTime(last, liveSince, now, report);
  if (last?.kind !== 'Reconnecting' && last?.kind !== 'OffAir') return { kind: 'Live', at };
  const onAir = transitions.findLastIndex(({ kind }) => kind === 'Live' || kind === 'Recovered' || kind === 'Stopped');
  const began = findFirstInterruption(transitions.slice(onAir + 1)) ?? last;
  const known = findInterruption(began, now, report);
  const endedMs = Math.max(Math.min(Date.parse(known?.endedAt ?? at), now.getTime()), Date.parse(last.at));
  const seconds = known?.offAirSeconds ?? Math.max(0, (endedMs - Date.parse(began.at)) / 1000);
  return { kind: 'Recovered', at: exactTime(new Date(endedMs)), offAirSeconds: seconds };
}

/** The interruption that the pod reports, if it is this one and can be so. Its length holds, whatever the clock of the node says. */
function findInterruption({ at }: Transition, now: Date, report: Report | undefined): Report['interruption'] {
  const { live, interruption } = report ?? {};
  if (!live || !interruption) return undefined;
  const isThis = Math.abs(Date.parse(interruption.startedAt) - Date.parse(at)) <= SKEW_MS;
  const isPossible = interruption.offAirSeconds * 1000 <= now.getTime() - Date.parse(at) + ROUNDING_MS;
  return isThis && isPossible ? interruption : undefined;
}

const findFirstInterruption = (transitions: readonly Transition[]): Transition | undefined =>
  transitions.find(({ kind }) => kind === 'Reconnecting' || kind === 'OffAir');

/** A problem of a stream on air. An interruption has its cause itself. */
function tellDegraded(before: Status | undefined, next: Status, now: Date): Told | undefined {
  const degraded = findDegraded(next);
  if (!degraded || next.phase !== 'live') return undefined;
  const isKnown = before?.phase === 'live' && isTrue(before, 'Degraded')?.reason === degraded.reason;
  return isKnown ? undefined : { kind: 'Degraded', at: exactTime(now), ...readCause(degraded) };
}

const MISSED = 'ScheduleMissed';

function tellMissed(before: Status | undefined, next: Status, now: Date): Told | undefined {
  const missed = findCondition(next.conditions, 'Progressing');
  if (missed?.reason !== MISSED) return undefined;
  const earlier = findCondition(before?.conditions, 'Progressing');
  const isKnown = earlier?.reason === MISSED && earlier.message === missed.message;
  return isKnown ? undefined : { kind: 'StartMissed', at: exactTime(now), ...readCause(missed) };
}

/** The refusals that have begun. */
const tellRejected = (before: Status | undefined, next: Status): Told[] =>
  (next.rejections ?? [])
    .filter(({ destination }) => !before?.rejections?.some((known) => known.destination === destination))
    .map(({ destination, reason, message, since }) => ({ kind: 'Rejected', at: since, reason, message, destination }));
