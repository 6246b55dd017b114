/**
 * Bounds the time on air that a pod reports by what Kubernetes recorded of the pod. A pod is not trusted: what it reports is
 * what its account pays. Times of a pod are compared with those of its kubelet, which reads the same clock; spans of time are
 * compared with the operator's clock, so that a node whose clock is wrong costs nobody anything. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { kubeTime } from '../../lib/clock.ts';
import { isOver, terminations } from '../pods/status.ts';
import type { Run } from './runs.ts';

/** How far the clocks of the API server, the operator and one kubelet may be apart. */
const SKEW_MS = 60_000;
/** Times are written in whole seconds, seconds in tenths. */
const ROUNDING_MS = 2_000;
/** Less than this is no reason to doubt a pod: a clock that is set may take a few seconds. */
const DOUBT_MS = 10_000;

/** When a pod can have been on air, in milliseconds since 1970 by the clock of its node. */
export interface Lifetime {
  /** When its kubelet took it up. */
  beganMs: number;
  /** When the API server made it, by the API server's clock. */
  createdMs: number;
  /** When its last container ended; undefined while one may run. */
  endedMs?: number;
}

export function lifetimeOf(pod: Pod): Lifetime {
  const createdMs = Date.parse(pod.metadata.creationTimestamp);
  const startMs = Date.parse(pod.status?.startTime ?? '');
  const ends = terminations(pod).map(({ finishedAt }) => Date.parse(finishedAt ?? ''));
  const endedMs = isOver(pod) && ends.length > 0 ? Math.max(...ends) : Number.NaN;
  return {
    createdMs,
    beganMs: Number.isNaN(startMs) ? createdMs : startMs,
    ...(!Number.isNaN(endedMs) && { endedMs }),
  };
}

/** The last moment at which a pod can have been on air by now. */
function limitMs({ beganMs, createdMs, endedMs }: Lifetime, now: Date): number {
  const limit = beganMs + Math.max(0, now.getTime() - createdMs) + SKEW_MS;
  return endedMs === undefined ? limit : Math.min(limit, endedMs + ROUNDING_MS);
}

export interface Judged {
  /** What may be charged of the run. */
  run: Run;
  /** The pod reports what cannot be so. */
  isDoubtful: boolean;
  /** Time up to here is taken by this run, in milliseconds since 1970. */
  untilMs: number;
}

/** One run within the pod's lifetime and after the time that other runs of the pod have taken. */
export function judgeRun(told: Run, takenMs: number, lifetime: Lifetime, now: Date): Judged {
  const [first, limit] = [lifetime.beganMs - SKEW_MS, limitMs(lifetime, now)];
  const [startMs, endMs] = [Date.parse(told.startedAt), Date.parse(told.lastAt)];
  const isPossible = startMs >= first && startMs <= limit;
  const fromMs = Math.max(isPossible ? startMs : lifetime.beganMs, takenMs);
  const toMs = Math.max(fromMs, Math.min(endMs, limit));
  const room = Math.max(0, Math.min(Math.min(endMs, limit) + ROUNDING_MS, limit) - fromMs);
  const onAirMs = Math.min(told.onAirSeconds * 1000, room);
  const isDoubtful = !isPossible || endMs > limit || told.onAirSeconds * 1000 - onAirMs > DOUBT_MS;
  const run: Run = {
    run: told.run,
    startedAt: fromMs === startMs ? told.startedAt : kubeTime(new Date(fromMs)),
    lastAt: toMs === endMs ? told.lastAt : kubeTime(new Date(toMs)),
    onAirSeconds: onAirMs === told.onAirSeconds * 1000 ? told.onAirSeconds : Math.floor(onAirMs / 100) / 10,
  };
  return { run, isDoubtful, untilMs: fromMs + onAirMs };
}

/** Whether a pod reports time on air that it cannot have had. `runs` in their order. */
export function reportsTooMuch(runs: readonly Run[], lifetime: Lifetime, now: Date): boolean {
  let takenMs = Number.NEGATIVE_INFINITY;
  return runs.some((told) => {
    const { isDoubtful, untilMs } = judgeRun(told, takenMs, lifetime, now);
    takenMs = Math.max(takenMs, untilMs);
    return isDoubtful;
  });
}

/** What the operator saw of a pod that was Ready all the time between two of its reports. */
export interface Sight {
  /** When the pod became Ready (RFC 3339): another time is another spell. */
  readySince: string;
  /** When the first report of the spell came (monotonic, in milliseconds). */
  atMs: number;
  /** What the pod had reported by then, in seconds. */
  seconds: number;
}

/** A pod is compared with what was seen of it over at least so long. */
const SIGHT_MS = 120_000;
const LEAST_SHARE = 0.5;

/**
 * Compares a report with the time that the pod was seen Ready: returns where the next comparison begins, and whether the pod
 * reports too little; undefined while it is too soon to say.
 */
export function compareWithSight(
  sight: Sight | undefined,
  report: { readySince: string | undefined; seconds: number; atMs: number },
): { sight: Sight | undefined; isTooLittle?: boolean } {
  const { readySince, seconds, atMs } = report;
  if (readySince === undefined) return { sight: undefined };
  const next = { readySince, atMs, seconds };
  if (sight?.readySince !== readySince) return { sight: next };
  if (atMs - sight.atMs < SIGHT_MS) return { sight };
  return { sight: next, isTooLittle: seconds - sight.seconds < ((atMs - sight.atMs) / 1000) * LEAST_SHARE };
}
