/**
 * What a stream needs now: (stream, world) → conditions, phase and one action. The phases are described above PHASES in
 * streams/spec.ts. Nothing here remembers anything: what has to outlive a decision (whether the stream has been on air,
 * since when) stands in the status or on the pod. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import type { EventInput } from '../../kube/events.ts';
import { kubeTime } from '../../lib/clock.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { DISRUPTION_LABEL, FINALIZER, podName } from '../../resources/common/names.ts';
import { type Playing, type Program, playingOf, programOfPod } from '../../resources/stream/program.ts';
import { gatesOf } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { isWanted, type Phase, type Unplayable } from '../../resources/stream/spec.ts';
import { losesItems } from '../media/items.ts';
import { isOwnedBy, type PodSettings } from '../pods/security.ts';
import { addressToAsk, isOver, podTrouble } from '../pods/status.ts';
import type { Verdict } from '../runtime/controller.ts';
import { degraded, describeLeftOut, isReady, readiness, scheduling, unplayableOf } from './conditions.ts';
import { type Action, exchange, nothing, remove } from './handover.ts';
import type { World } from './observe.ts';
import { disruptionOf } from './pod.ts';
import {
  allSkipped,
  joinAt,
  pendingSkip,
  programOf,
  programOfKept,
  type Since,
  sinceOf,
  withClock,
  withSkipped,
} from './program.ts';
import { type Airtime, airtime, nextChange, windowAt } from './schedule.ts';

export interface Decision {
  phase: Phase;
  /** Readiness conditions, Live, Progressing; of a stream with a pod PodScheduled, of one on air Degraded. */
  verdicts: Verdict[];
  ready: boolean;
  action: Action;
  /** Where the stream stands; nothing while it is not meant to be on air. */
  epoch?: string;
  audioEpoch?: string;
  skipped?: NonNullable<Program['skipped']>;
  /** What is on air, or was when its pod was lost, while what is to follow it cannot be played. */
  playing?: Playing;
  /** Items that cannot be played. */
  unplayable?: Unplayable;
  /** Start of the window of its schedule for which it was last put on air. */
  lastScheduleTime?: string;
  /** What is to be told of it beside what has changed in the status. */
  events?: EventInput[];
  /** When to look again although nothing has changed. */
  lookAgainAt?: Date;
}

export type Core = Pick<Decision, 'phase' | 'action'> & {
  live: Omit<Verdict, 'type'>;
  progressing: Omit<Verdict, 'type'>;
  since?: Since | undefined;
  degraded?: Verdict;
  events?: EventInput[];
  lookAgainAt?: Date | undefined;
};

/** How long until a name that someone else's pod holds is tried again. That pod may have no label that we watch. */
export const NAME_TAKEN_RETRY_MS = 30_000;

const yes = (reason: string, message: string) => ({ status: 'True' as const, reason, message });
export const no = (reason: string, message: string) => ({ status: 'False' as const, reason, message });
const SETTLED = yes('Settled', 'Everything is as asked.');
const STOPPING = yes('Stopping', 'The pod is being stopped.');
const SUSPENDED = yes('Suspended', 'spec.suspend keeps the stream off air.');

/** Whether the stream has ever been on air, whether it has been live since it last went on air. */
export function history(stream: LoopStream, pod: Pod | undefined) {
  const live = findCondition(stream.status?.conditions, 'Live');
  const been = pod !== undefined || stream.status?.epoch !== undefined || (live ? live.reason !== 'NotStarted' : false);
  return { been, wasLive: live?.status === 'True' || live?.reason === 'Reconnecting' };
}

export const offAir = (been: boolean) =>
  been ? no('Stopped', 'The stream is not on air.') : no('NotStarted', 'The stream has never been on air.');

/** The stream is not meant to be on air: whatever is there of it goes. */
function off(stream: LoopStream, pods: Pod[], time: Airtime, now: Date): Core {
  const [pod] = pods;
  if (pod) {
    const action = pods.map(remove).find((of) => of.do !== 'nothing') ?? nothing;
    return { phase: 'stopping', action, live: no('Stopping', STOPPING.message), progressing: STOPPING };
  }
  const live = offAir(history(stream, pod).been);
  const idle: Core = {
    phase: live.reason === 'Stopped' ? 'stopped' : 'idle',
    action: nothing,
    live,
    progressing: SETTLED,
  };
  if (stream.metadata.deletionTimestamp) {
    return stream.metadata.finalizers?.includes(FINALIZER) ? { ...idle, action: { do: 'release' } } : idle;
  }
  if (stream.spec.suspend && stream.spec.replicas > 0) return { ...idle, progressing: SUSPENDED };
  if (!isWanted(stream.spec)) return idle;
  const missed = 'missed' in time && time.missed && missedStart(stream, time.missed);
  if (time.kind === 'before') {
    const message = `The stream goes on air at ${kubeTime(time.startAt)}.`;
    const progressing = missed ? no('ScheduleMissed', `${missed} ${message}`) : yes('Scheduled', message);
    // Many may start in the same second: what can be made before is made while there is time.
    const action: Action = stream.metadata.finalizers?.includes(FINALIZER) ? nothing : { do: 'hold' };
    return { ...idle, action, phase: 'scheduled', progressing };
  }
  const message = time.kind === 'after' ? `The schedule ended at ${kubeTime(time.endedAt)}.` : 'The schedule is over.';
  const progressing = missed ? no('ScheduleMissed', missed) : SETTLED;
  const ended = live.reason === 'Stopped' ? no('Ended', message) : live;
  return { ...idle, ...expiry(stream, time, now), phase: 'ended', live: ended, progressing };
}

/** What is over is deleted when its time is up. */
function expiry({ spec }: LoopStream, time: Airtime, now: Date): Pick<Core, 'action' | 'lookAgainAt'> {
  const { ttlSecondsAfterFinished: ttl } = spec;
  if (ttl === undefined || time.kind !== 'after') return { action: nothing };
  const at = new Date(time.endedAt.getTime() + ttl * 1000);
  return now >= at ? { action: { do: 'expire' } } : { action: nothing, lookAgainAt: at };
}

const missedStart = ({ spec }: LoopStream, start: Date): string =>
  `The start at ${kubeTime(start)} was missed by more than its deadline of ${spec.schedule?.startingDeadlineSeconds} s.`;

/** What keeps a stream without a pod off air. One that was on air comes back with what it played, as a pod goes on with that. */
const obstacleOf = ({ status }: LoopStream, verdicts: readonly Verdict[]): Verdict | undefined =>
  verdicts.find((of) => of.status !== 'True' && !(of.type === 'MediaReady' && status?.epoch && status.playing));

/** The stream is meant to be on air and has no pod. */
function start(stream: LoopStream, world: World, verdicts: Verdict[]): Core {
  const { been, wasLive } = history(stream, undefined);
  const kept = keptSince(stream);
  const { playing: before } = stream.status ?? {};
  const playing = before && goesOnWith(before, stream, world, verdicts) ? before : undefined;
  const obstacle = obstacleOf(stream, verdicts);
  if (obstacle) {
    const progressing = yes('Waiting', obstacle.message);
    return { phase: 'waiting', action: nothing, live: offAir(been), progressing, since: kept };
  }
  const refusal = findCondition(stream.status?.conditions, 'Progressing');
  if (refusal?.reason === 'PodRefused' && refusal.observedGeneration === stream.metadata.generation) {
    const { reason, message } = refusal;
    return { phase: 'failed', action: nothing, live: offAir(been), progressing: no(reason, message), since: kept };
  }
  const since = kept ?? { epoch: kubeTime(world.now), ...allSkipped(stream) };
  return {
    phase: wasLive ? 'reconnecting' : 'starting',
    action: {
      do: 'create',
      program: playing ? programOfKept(stream, world, since, playing) : programOf(stream, world, since),
      standby: false,
    },
    live: wasLive ? no('Reconnecting', 'The pod is being replaced.') : no('Starting', 'The pod is starting.'),
    progressing: yes('Starting', 'The pod is starting.'),
    since,
  };
}

/** Where the stream stood when its status was written last. */
export const keptSince = ({ status }: LoopStream): Since | undefined =>
  status?.epoch === undefined ? undefined : sinceOf({ ...status, epoch: status.epoch });

/** The stream is meant to be on air and has a pod: it may publish and fits, or something is done about that. */
function run(stream: LoopStream, world: World, verdicts: Verdict[], pod: Pod, settings: PodSettings): Core {
  const current = programOfPod(pod);
  const since = (current && sinceOf(current)) ?? keptSince(stream) ?? { epoch: kubeTime(world.now) };
  const before = findCondition(stream.status?.conditions, 'Degraded');
  // A stream on air is left as it is until what it is to become can be played: an edit never causes dead air by itself.
  const stays = current !== undefined && goesOnWith(current, stream, world, verdicts);
  const wrong = degraded(world.news, before && verdictOf(before), leftOutNow(stream, world, stays));
  const core: Core = { ...onAir(stream, pod), action: nothing, since, degraded: wrong };
  const released = stream.status?.podUID === pod.metadata.uid;
  // The status names a pod when it has been let publish; one that says that it is held has not heard of that.
  if (!isOver(pod) && !pod.metadata.deletionTimestamp && (!released || world.news?.held)) {
    return { ...core, action: { do: 'publish', podUid: pod.metadata.uid } };
  }
  const ready = isReady(verdicts) && !stays;
  const program = (previous = current) => (ready ? programOf(stream, world, since, previous) : previous);
  const change = exchange({ stream, world, main: pod, settings, program });
  if (change?.why !== undefined) {
    const { why, waitsFor, action, lookAgainAt } = change;
    return { ...core, action, progressing: yes('Replacing', waitsFor ? `${why} ${waitsFor}` : why), lookAgainAt };
  }
  if (change && change.action !== nothing) return { ...core, action: change.action };
  const next = program();
  // Who may move the pod is read from its label, by those who evict.
  const labelled = (pod.metadata.labels?.[DISRUPTION_LABEL] ?? 'OnDrain') === disruptionOf(stream);
  const later = next && current && labelled ? joinAt({ stream, world, pod, current, next }) : undefined;
  if (next && !later && (next !== current || !labelled)) {
    return { ...core, action: { do: 'patch', podUid: pod.metadata.uid, program: next } };
  }
  return current ? { ...core, lookAgainAt: later, ...follow(stream, world, pod, current) } : core;
}

const verdictOf = ({ type, status, reason, message }: Verdict): Verdict => ({ type, status, reason, message });

/** How long until a pod that could not go on to the next item is asked again. */
const SKIP_AGAIN_MS = 1000;

/** The pod plays what it should: what has moved in it is written down, and what is asked of it is passed on. */
function follow(stream: LoopStream, world: World, pod: Pod, current: Program): Partial<Core> {
  const podUid = pod.metadata.uid;
  const program = withClock(current, world.news?.clock ?? {});
  if (program !== current) return { action: { do: 'patch', podUid, program }, since: sinceOf(program) };
  const skip = pendingSkip(stream, current, world.now);
  if (!skip) return {};
  const done = withSkipped(current, skip);
  if (skip.void) {
    const message = `The next ${skip.track} item was asked for, and could not be gone on to in time.`;
    const events: EventInput[] = [{ type: 'Warning', reason: 'SkipExpired', message }];
    return { action: { do: 'patch', podUid, program: done }, since: sinceOf(done), events };
  }
  const lookAgainAt = new Date(world.now.getTime() + SKIP_AGAIN_MS);
  const address = addressToAsk([pod]);
  return { ...(address !== undefined && { action: { do: 'skip', address, skip, program: done } }), lookAgainAt };
}

function onAir(stream: LoopStream, pod: Pod): Omit<Core, 'action'> {
  const ready = pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
  if (ready && !isOver(pod))
    return { phase: 'live', live: yes('Live', 'A destination is accepting media.'), progressing: SETTLED };
  const trouble = podTrouble(pod);
  const progressing = trouble ? no(trouble.reason, trouble.message) : yes('Starting', 'The pod is starting.');
  const message = trouble?.message ?? 'No destination has accepted media yet.';
  if (!history(stream, pod).wasLive) return { phase: 'starting', live: no('Starting', message), progressing };
  const lost = trouble?.message ?? 'No destination accepts media at the moment.';
  return {
    phase: 'reconnecting',
    live: no('Reconnecting', lost),
    progressing: trouble ? progressing : yes('Reconnecting', lost),
  };
}

export function nameTaken(stream: LoopStream, now: Date): Core {
  const message = `A pod named "${podName(stream.metadata.name)}" exists that does not belong to this stream; delete it.`;
  return {
    phase: 'failed',
    action: nothing,
    live: offAir(history(stream, undefined).been),
    progressing: no('PodNameTaken', message),
    since: keptSince(stream),
    lookAgainAt: new Date(now.getTime() + NAME_TAKEN_RETRY_MS),
  };
}

/** Somebody else says that the stream may not be on air: it goes, and comes back to where it then stands. */
function shutOff(stream: LoopStream, pods: Pod[], { message }: Verdict): Core {
  const program = pods[0] && programOfPod(pods[0]);
  const since = (program && sinceOf(program)) ?? keptSince(stream);
  return {
    phase: 'stopping',
    action: pods.map(remove).find((of) => of.do !== 'nothing') ?? nothing,
    live: no('Stopping', message),
    progressing: yes('Stopping', message),
    since,
  };
}

function core(stream: LoopStream, world: World, verdicts: Verdict[], time: Airtime, settings: PodSettings): Core {
  const pods = [world.pod, world.other].filter((of) => of !== undefined && isOwnedBy(of, stream)) as Pod[];
  const [owned] = pods;
  const wanted = isWanted(stream.spec) && !stream.metadata.deletionTimestamp;
  if (!wanted || time.kind === 'before' || time.kind === 'after') return off(stream, pods, time, world.now);
  const gates = gatesOf(stream.spec, stream.status?.conditions);
  const shut = gates.find(({ status }) => status === 'False');
  if (shut && pods.length > 0) return shutOff(stream, pods, shut);
  if (owned) return run(stream, world, verdicts, owned, settings);
  const all = [...verdicts, ...gates];
  return world.pod && !obstacleOf(stream, all) ? nameTaken(stream, world.now) : start(stream, world, all);
}

const isPlayable = (verdicts: readonly Verdict[]): boolean =>
  verdicts.some(({ type, status }) => type === 'MediaReady' && status === 'True');

/** Whether what plays goes on: nothing of what is to follow can be played yet, or less of it than will be in a while. */
const goesOnWith = (playing: Playing, stream: LoopStream, world: World, checks: readonly Verdict[]): boolean =>
  !isPlayable(checks) || losesItems(stream, world, playing);

/** The sentence about the items that a stream on air goes without. One that goes on with what it played lacks what its pod says. */
function leftOutNow(stream: LoopStream, world: World, stays: boolean): string | undefined {
  const { total = 0, items = [], count = 0 } = unplayableOf(stream, world, { hasPod: true, brokenOnly: stays }) ?? {};
  const messages = items.map(({ message }) => message);
  return count === 0 ? undefined : describeLeftOut(count, total, messages);
}

/**
 * What is on air while the stream refers to what cannot be played yet (a version that was published, another upload, another
 * quality): nothing but its pod would know of it. Kept in the status before the pod can be gone (timekeeping.ts), for as
 * long as the stream is meant to be on air. The status is written then anyway, for it says what is not ready; of a stream
 * whose media is ready nothing is kept.
 */
function playingNow(
  stream: LoopStream,
  world: World,
  pod: Pod | undefined,
  checks: readonly Verdict[],
): Playing | undefined {
  const program = pod && programOfPod(pod);
  const playing = program ? playingOf(program) : stream.status?.playing;
  return playing && goesOnWith(playing, stream, world, checks) ? playing : undefined;
}

/** Phases in which the window that is open has been taken up. */
const BEGUN: ReadonlySet<Phase> = new Set(['starting', 'live', 'reconnecting']);

/** Start of the window for which the stream was last put on air: a pod that its status does not tell of yet says so first. */
function lastStart({ spec, status }: LoopStream, pod: Pod | undefined): Date | undefined {
  const known = status?.lastScheduleTime === undefined ? undefined : new Date(status.lastScheduleTime);
  if (!pod || pod.metadata.uid === status?.podUID) return known;
  // Kubernetes tells whole seconds, and means the one that had begun.
  const made = new Date(Date.parse(pod.metadata.creationTimestamp) + 999);
  return windowAt(spec.schedule, made, known) ?? known;
}

const earliest = (a: Date | undefined, b: Date | undefined): Date | undefined => (a && b && a < b ? a : (b ?? a));

export function decide(stream: LoopStream, world: World, settings: PodSettings): Decision {
  const checks = readiness(stream, world);
  const before = stream.status?.lastScheduleTime;
  const owned = world.pod && isOwnedBy(world.pod, stream) ? world.pod : undefined;
  const time = airtime(stream.spec.schedule, world.now, lastStart(stream, owned));
  const { live, progressing, since, degraded, lookAgainAt, ...rest } = core(stream, world, checks, time, settings);
  const wake = earliest(lookAgainAt, isWanted(stream.spec) ? nextChange(time) : undefined);
  const begun = time.kind === 'on' && time.since && BEGUN.has(rest.phase) ? time.since.toISOString() : before;
  const scheduled = scheduling(stream, owned, progressing);
  const playing = since && playingNow(stream, world, owned, checks);
  const unplayable = unplayableOf(stream, world, { hasPod: owned !== undefined });
  const gates = gatesOf(stream.spec, stream.status?.conditions);
  return {
    ...rest,
    verdicts: [
      ...checks,
      ...(scheduled ? [scheduled] : []),
      { type: 'Live', ...live },
      { type: 'Progressing', ...progressing },
      ...(degraded ? [degraded] : []),
    ],
    ready: isReady([...checks, ...gates]) && scheduled?.status !== 'False',
    ...since,
    ...(playing && { playing }),
    ...(unplayable && { unplayable }),
    ...(begun !== undefined && { lastScheduleTime: begun }),
    ...(wake && { lookAgainAt: wake }),
  };
}

/**
 * A pod that a quota had no room for is tried again after half the time that its stream has waited, within these: what is
 * freed soon is taken soon, and thousands that wait for days ask little.
 */
const QUOTA_RETRY_MS = { soonest: 5_000, latest: 60_000 };

/** A quota is freed by others, so no edit of the stream is waited for (the words are those of its admission plugin). */
function refused(stream: LoopStream, refusal: string, now: Date): Omit<Core, 'action'> {
  const live = offAir(history(stream, undefined).been);
  if (!/exceeded quota:/.test(refusal)) return { phase: 'failed', live, progressing: no('PodRefused', refusal) };
  const before = findCondition(stream.status?.conditions, 'Progressing');
  const waitedMs = before?.reason === 'QuotaExceeded' ? now.getTime() - Date.parse(before.lastTransitionTime) : 0;
  const { soonest, latest } = QUOTA_RETRY_MS;
  const lookAgainAt = new Date(now.getTime() + Math.min(latest, Math.max(soonest, waitedMs / 2)));
  // What others use of it changes with every pod, and would be written each time.
  const message = refusal.replace(/, used: .*(?=, limited: )/, '');
  return { phase: 'waiting', live, progressing: no('QuotaExceeded', message), lookAgainAt };
}

const withProgress = (verdicts: Verdict[], progressing: Omit<Verdict, 'type'>): Verdict[] =>
  verdicts.map((verdict) => (verdict.type === 'Progressing' ? { type: 'Progressing', ...progressing } : verdict));

/**
 * What becomes of a decision to make a pod that cannot be made: the stream is where it was before. A refusal lasts until
 * the stream is edited; a name that is taken and a quota that is used up are tried again.
 */
export function notCreated(stream: LoopStream, decision: Decision, world: World, refusal?: string): Decision {
  const { phase, live, progressing, lookAgainAt } =
    refusal === undefined ? nameTaken(stream, world.now) : refused(stream, refusal, world.now);
  const { epoch: _, audioEpoch: __, skipped: ___, ...rest } = decision;
  const scheduled = scheduling(stream, undefined, progressing);
  const verdicts = withProgress(decision.verdicts, progressing).filter(({ type }) => type !== 'PodScheduled');
  return {
    ...rest,
    phase,
    ready: false,
    action: nothing,
    verdicts: [...verdicts, ...(scheduled ? [scheduled] : [])].map((verdict) =>
      verdict.type === 'Live' ? { type: 'Live', ...live } : verdict,
    ),
    ...keptSince(stream),
    ...(lookAgainAt && { lookAgainAt }),
  };
}

/** What becomes of a decision to make a standby that Kubernetes refuses: what is on air stays as it is. */
export const noStandby = (decision: Decision, refusal: string, now: Date): Decision => ({
  ...decision,
  action: nothing,
  verdicts: withProgress(decision.verdicts, no('StandbyRefused', refusal)),
  lookAgainAt: new Date(now.getTime() + NAME_TAKEN_RETRY_MS),
});

/** What becomes of a decision to hand over a program that Kubernetes refuses: what is on air stays as it is. */
export const notPatched = (decision: Decision, refusal: string): Decision => ({
  ...decision,
  action: nothing,
  verdicts: withProgress(decision.verdicts, no('ProgramRefused', refusal)),
});
