/**
 * Computes a stream's sessions (resources/stream/sessions.ts) from what its pods report: nothing is counted twice, and nothing is
 * lost before it is acknowledged. A pod reports in two ways: to the operator while it runs (streamers.ts), and its container leaves a
 * message when it ends, for whatever reason. A pod's object stays until its last report is written here (POD_FINALIZER), as the
 * Job controller does with the pods of Jobs.
 *
 * An account pays for what a pod reports, and a pod is not trusted: its time on air counts only as far as Kubernetes' own record of
 * the pod allows it. Times of a pod are compared with those of its kubelet, which reads the same clock; spans of time are
 * compared with the operator's clock, so that a node whose clock is wrong costs nobody anything.
 *
 * Time that is lost: of a pod whose node is lost, what it counted since its last report (five minutes), and where the operator was
 * restarted since and could not ask it, since the last full hour. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { kubeTime } from '../../lib/clock.ts';
import type { SessionEnd } from '../../lib/codes/streams.ts';
import { type Run, readTimeOnAir } from '../../protocol/report.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { lastNumber, MAX_SESSIONS, type Session } from '../../resources/stream/sessions.ts';
import { findPodEnd, findReadySince, isOver, listTerminations } from '../pods/status.ts';
import type { Verdict } from '../runtime/controller.ts';

/** A pod of the stream and what is known of its time on air. */
export interface PodTime {
  podUID: string;
  runs: readonly Run[];
  /** Runs up to this one have ended. */
  endedThrough: number;
  /** Nothing of the pod runs any more, nor will. */
  over: boolean;
  /** Since when a destination takes media (RFC 3339), if one does. */
  onAirSince: string | undefined;
  /** When it can have been on air, by Kubernetes' own record. */
  lifetime: Lifetime;
  /** The pod reports much less time on air than it was seen Ready. */
  reportsTooLittle?: boolean;
  /** It is being removed, or is over. */
  isGoing?: boolean;
  /** Why it goes or its process has ended, as far as Kubernetes says it. */
  end?: SessionEnd | undefined;
}

export interface Sessions {
  sessions: Session[];
  /** Sessions that nobody has acknowledged had to become one. */
  behind?: Verdict;
  /** A pod reports time on air that cannot be so. */
  doubt?: Verdict;
}

/** The runs in the messages that a pod's containers have left. */
function readLastRuns(pod: Pod): Run[] {
  const ends = (pod.status?.containerStatuses ?? []).flatMap(({ state, lastState }) =>
    [lastState?.terminated, state?.terminated].filter((end) => end !== undefined),
  );
  return ends.flatMap(({ message }) => {
    const read = readTimeOnAir(message);
    return read.ok ? listLatestRuns(read.message.runs) : [];
  });
}

/** `reported`: the runs in the pod's last report. */
export function readPodTime(pod: Pod, reported: readonly Run[] = [], reportsTooLittle = false): PodTime {
  const last = readLastRuns(pod);
  // The last message holds, also where it takes some time back.
  const runs = new Map([...reported, ...last].map((run) => [run.run, run]));
  const sorted = [...runs.values()].sort((a, b) => a.run - b.run);
  const over = isOver(pod);
  return {
    podUID: pod.metadata.uid,
    runs: sorted,
    // A process begins when the one before it has ended.
    endedThrough: Math.max(over ? (sorted.at(-1)?.run ?? 0) : (sorted.at(-2)?.run ?? 0), last.at(-1)?.run ?? 0),
    over,
    onAirSince: listTerminations(pod).length > 0 ? undefined : findReadySince(pod),
    lifetime: readLifetime(pod),
    isGoing: over || pod.metadata.deletionTimestamp !== undefined,
    end: findPodEnd(pod),
    ...(reportsTooLittle && { reportsTooLittle }),
  };
}

const isClosed = ({ endedAt }: Session): boolean => endedAt !== undefined;
const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;

/**
 * Up to when the time of a pod is taken by what its sessions have, in milliseconds since 1970. Of several that have become one
 * the seconds may be those of two pods.
 */
const findTakenUntil = (sessions: readonly Session[]): number =>
  Math.max(
    Number.NEGATIVE_INFINITY,
    ...sessions.map(
      ({ startedAt, onAirSeconds, through }) =>
        Date.parse(startedAt) + (through === undefined ? onAirSeconds * 1000 : 0),
    ),
  );

interface Recording {
  metered: boolean;
  /** Why the operator removes the pods that are going. */
  ends: SessionEnd | undefined;
  now: Date;
}

/** Records the runs of one pod in the list, as far as they are plausible. Returns whether all of them are. */
function record(list: Session[], podTime: PodTime, { metered, ends, now }: Recording): boolean {
  const { podUID, runs, endedThrough, over, onAirSince, lifetime } = podTime;
  let isPlausible = true;
  const wanted = podTime.isGoing ? ends : undefined;
  const close = (session: Session, endedAt: string): void => {
    session.endedAt = endedAt;
    // The reason from when the pod began to go holds: Kubernetes says afterwards only that it is gone.
    const reason = session.endReason ?? wanted ?? podTime.end;
    if (reason !== undefined) session.endReason = reason;
  };
  const own = list.filter((session) => session.podUID === podUID);
  const known = Math.max(0, ...own.map(({ run = 0 }) => run));
  const add = (startedAt: string): Session => {
    const last = list.at(-1);
    const session: Session = { number: last ? lastNumber(last) + 1 : 1, podUID, startedAt, onAirSeconds: 0 };
    list.push(session);
    return session;
  };
  let open = own.find((session) => !isClosed(session));
  for (const reported of runs) {
    const ended = reported.run <= endedThrough;
    if (reported.run <= known && reported.run !== open?.run) continue;
    const isOpen = (session: Session) => session === open && (open.run === undefined || open.run === reported.run);
    const others = list.filter((session) => session.podUID === podUID && !isOpen(session));
    const { run, isDoubtful } = judgeRun(reported, findTakenUntil(others), lifetime, now);
    if (isDoubtful) isPlausible = false;
    if (open?.run !== undefined && open.run < run.run) {
      // The end of that run is not reported any more.
      close(open, run.startedAt);
      open = undefined;
    }
    open ??= add(run.startedAt);
    if (ended || metered) {
      const hours = Math.floor(run.onAirSeconds / CHECKPOINT_SECONDS);
      const seconds = ended ? run.onAirSeconds : hours * CHECKPOINT_SECONDS;
      if (ended || hours > 0) Object.assign(open, { run: run.run, startedAt: run.startedAt });
      open.onAirSeconds = tenths(Math.max(open.onAirSeconds, seconds));
    }
    if (!ended) continue;
    close(open, run.lastAt);
    open = undefined;
  }
  if (open && over) close(open, kubeTime(now));
  else if (open && wanted) open.endReason ??= wanted;
  if (!open && !over && onAirSince !== undefined) add(onAirSince);
  return isPlausible;
}

/** Only there while it is False. */
export const DOUBT_CONDITION = 'TimekeepingPlausible';
/** Reasons of the condition. */
export const DOUBTS = ['MoreThanPossible', 'LessThanSeen'] as const;
const DOUBT = { type: DOUBT_CONDITION, status: 'False' } as const;
const CHECK = 'Check its container image and the clock of its node.';

/** The condition of a stream with a pod whose report cannot be so; it stays until a pod reports what can. */
function judgeDoubt(stream: LoopStream, podTimes: readonly PodTime[], odd: ReadonlySet<PodTime>, now: Date) {
  const tooMuch = podTimes.find((one) => odd.has(one) || reportsTooMuch(one.runs, one.lifetime, now));
  if (tooMuch) {
    const message =
      `Pod ${tooMuch.podUID} reports more time on air than has passed since Kubernetes started it. The excess is ` +
      `not charged. ${CHECK}`;
    return { ...DOUBT, reason: 'MoreThanPossible', message };
  }
  const tooLittle = podTimes.find((one) => one.reportsTooLittle);
  if (tooLittle) {
    const message =
      `Pod ${tooLittle.podUID} reports less than half of the time on air that the operator observes. Only the reported ` +
      `time is charged. ${CHECK}`;
    return { ...DOUBT, reason: 'LessThanSeen', message };
  }
  const before = findCondition(stream.status?.conditions, DOUBT.type);
  const isCleared = podTimes.some(({ over, runs }) => !over && runs.length > 0);
  return before && !isCleared ? { ...DOUBT, reason: before.reason, message: before.message } : undefined;
}

/** Sessions that must stay as they are: the open ones, and of each pod that there is the latest. */
function findNeeded(list: readonly Session[], podTimes: readonly PodTime[]): Set<Session> {
  const keep = new Set(list.filter((session) => !isClosed(session)));
  for (const { podUID } of podTimes) {
    const own = list.filter((session) => session.podUID === podUID && session.run !== undefined);
    const latest = own.sort((a, b) => (b.run ?? 0) - (a.run ?? 0))[0];
    if (latest) keep.add(latest);
  }
  return keep;
}

/** Joins two sessions that follow one another. */
function join(a: Session, b: Session): Session {
  const [startedAt = a.startedAt] = [a.startedAt, b.startedAt].sort();
  const ends = [a.endedAt, b.endedAt].filter((end) => end !== undefined).sort();
  return {
    number: a.number,
    through: lastNumber(b),
    podUID: b.podUID,
    startedAt,
    ...(ends.length > 0 && { endedAt: ends.at(-1) as string }),
    onAirSeconds: tenths(a.onAirSeconds + b.onAirSeconds),
    ...(a.endReason !== undefined && a.endReason === b.endReason && { endReason: a.endReason }),
  };
}

/**
 * Shortens the list to MAX_SESSIONS: acknowledged sessions go, the oldest first; of the others, two become one. The last one
 * always stays, which the next number follows.
 */
function shorten(list: Session[], podTimes: readonly PodTime[], acknowledged: number): Session[] {
  const shortened = [...list];
  while (shortened.length > MAX_SESSIONS) {
    const keep = findNeeded(shortened, podTimes);
    const done = shortened.findIndex((session) => !keep.has(session) && lastNumber(session) <= acknowledged);
    if (done >= 0) {
      shortened.splice(done, 1);
      continue;
    }
    const free = (session: Session | undefined) => session !== undefined && !keep.has(session);
    const first = shortened.findIndex((session, i) => free(session) && free(shortened[i + 1]));
    const [a, b] = [shortened[first], shortened[first + 1]];
    if (!a || !b) return shortened;
    shortened.splice(first, 2, join(a, b));
  }
  return shortened;
}

/**
 * Computes the sessions as they are now. `metered`: they are kept until they are acknowledged; otherwise the oldest closed ones
 * go when the list is full. `podTimes` are all pods of the stream that exist; `ends` says why the operator removes those that are going.
 */
export function computeSessions(
  stream: LoopStream,
  podTimes: readonly PodTime[],
  metered: boolean,
  now: Date,
  ends?: SessionEnd,
): Sessions {
  const { sessions = [], acknowledgedSession = 0 } = stream.status ?? {};
  const list = sessions.map((session) => ({ ...session }));
  const odd = new Set(podTimes.filter((podTime) => !record(list, podTime, { metered, ends, now })));
  const doubt = judgeDoubt(stream, podTimes, odd, now);
  const pods = new Set(podTimes.map(({ podUID }) => podUID));
  for (const session of list) if (!isClosed(session) && !pods.has(session.podUID)) session.endedAt = kubeTime(now);
  const acknowledged = metered ? acknowledgedSession : Number.POSITIVE_INFINITY;
  const shortened = shorten(list, podTimes, acknowledged);
  const late = shortened.filter((session) => session.through !== undefined && lastNumber(session) > acknowledged);
  const computed = { sessions: shortened, ...(doubt && { doubt }) };
  if (late.length === 0) return computed;
  const count = late.reduce((sum, session) => sum + lastNumber(session) - session.number + 1, 0);
  const message =
    `The meter has not acknowledged sessions after ${acknowledged}. ${count} of them were merged into ${late.length}, with the ` +
    'sum of their seconds. Check whether the meter runs.';
  return { ...computed, behind: { type: 'SessionsMetered', status: 'False', reason: 'MeterBehind', message } };
}

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

export function readLifetime(pod: Pod): Lifetime {
  const createdMs = Date.parse(pod.metadata.creationTimestamp);
  const startMs = Date.parse(pod.status?.startTime ?? '');
  const ends = listTerminations(pod).map(({ finishedAt }) => Date.parse(finishedAt ?? ''));
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
  /** The part of the run that may be charged. */
  run: Run;
  /** The pod reports what cannot be so. */
  isDoubtful: boolean;
  /** Time up to here is taken by this run, in milliseconds since 1970. */
  untilMs: number;
}

/** One run within the pod's lifetime and after the time that other runs of the pod have taken. */
export function judgeRun(reported: Run, takenMs: number, lifetime: Lifetime, now: Date): Judged {
  const [first, limit] = [lifetime.beganMs - SKEW_MS, limitMs(lifetime, now)];
  const [startMs, endMs] = [Date.parse(reported.startedAt), Date.parse(reported.lastAt)];
  const isPossible = startMs >= first && startMs <= limit;
  const fromMs = Math.max(isPossible ? startMs : lifetime.beganMs, takenMs);
  const toMs = Math.max(fromMs, Math.min(endMs, limit));
  const room = Math.max(0, Math.min(Math.min(endMs, limit) + ROUNDING_MS, limit) - fromMs);
  const onAirMs = Math.min(reported.onAirSeconds * 1000, room);
  const isDoubtful = !isPossible || endMs > limit || reported.onAirSeconds * 1000 - onAirMs > DOUBT_MS;
  const run: Run = {
    run: reported.run,
    startedAt: fromMs === startMs ? reported.startedAt : kubeTime(new Date(fromMs)),
    lastAt: toMs === endMs ? reported.lastAt : kubeTime(new Date(toMs)),
    onAirSeconds: onAirMs === reported.onAirSeconds * 1000 ? reported.onAirSeconds : Math.floor(onAirMs / 100) / 10,
  };
  return { run, isDoubtful, untilMs: fromMs + onAirMs };
}

/** Whether a pod reports time on air that it cannot have had. `runs` in their order. */
export function reportsTooMuch(runs: readonly Run[], lifetime: Lifetime, now: Date): boolean {
  let takenMs = Number.NEGATIVE_INFINITY;
  return runs.some((reported) => {
    const { isDoubtful, untilMs } = judgeRun(reported, takenMs, lifetime, now);
    takenMs = Math.max(takenMs, untilMs);
    return isDoubtful;
  });
}

/** A spell in which the operator saw a pod Ready, between two of its reports. */
export interface Sight {
  /** When the pod became Ready (RFC 3339): another time is another spell. */
  readySince: string;
  /** When the first report of the spell came (monotonic, in milliseconds). */
  atMs: number;
  /** The time on air that the pod had reported by then, in seconds. */
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

/** How far apart the writes of an open session are. */
export const CHECKPOINT_SECONDS = 3600;

/** A streamer reports 24 at most. */
const MAX_RUNS = 48;

/** The latest runs of a pod's report, in order. */
export const listLatestRuns = (runs: readonly Run[]): Run[] => runs.toSorted((a, b) => a.run - b.run).slice(-MAX_RUNS);
