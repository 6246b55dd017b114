/**
 * Decides what a stream needs: observation → conditions, phase and one action. The phases are described above PHASES in
 * resources/stream/spec.ts. Decisions share no memory: facts that outlive one (whether the stream has been on air, since when)
 * are in the status or on the pod. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import type { EventInput } from '../../kube/events.ts';
import { kubeTime } from '../../lib/clock.ts';
import { type Program, toPlaying } from '../../protocol/program.ts';
import { readPodProgram } from '../../protocol/to-streamer.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { FINALIZER, podName } from '../../resources/common/names.ts';
import { type Airtime, computeAirtime, earliest, findNextChange, findWindow } from '../../resources/stream/airtime.ts';
import { findStallTime, type ProblemReason } from '../../resources/stream/health.ts';
import type { Playing } from '../../resources/stream/playing.ts';
import { readGates } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { isWanted, type Phase, type Preparation, type Unplayable } from '../../resources/stream/spec.ts';
import { assessTracks, losesItems } from '../media/items.ts';
import { computePreparation } from '../media/preparation.ts';
import type { PodSettings } from '../pods/security.ts';
import { findAddressToAsk, findPodTrouble, isOver, type PodReason } from '../pods/status.ts';
import type { Verdict } from '../runtime/controller.ts';
import type { KnownRefusal, Refusal } from '../runtime/retries.ts';
import {
  checkReadiness,
  findCutShort,
  findLeftOut,
  findUnplayable,
  isReady,
  judgeDegraded,
  judgeScheduling,
} from './conditions.ts';
import { type Action, decideExchange, decideRemoval, NO_ACTION } from './handover.ts';
import type { AssessedObservation, Observation } from './observation.ts';
import { readDisruption, readDisruptionLabel } from './pod.ts';
import {
  buildProgram,
  computeJoinTime,
  findPendingSkip,
  type Playhead,
  pickPlayhead,
  readSkipped,
  rebuildProgram,
  withClock,
  withSkipped,
} from './program.ts';

export interface Decision {
  phase: Phase;
  /** Readiness conditions, Live, Progressing; of a stream with a pod PodScheduled, of one on air Degraded. */
  conditions: Verdict[];
  ready: boolean;
  action: Action;
  /** Where the stream stands; nothing while it is not meant to be on air. */
  epoch?: string;
  audioEpoch?: string;
  skipped?: NonNullable<Program['skipped']>;
  /** The program on air, or that was when its pod was lost, while the next one cannot be played. */
  playing?: Playing;
  /** Items that cannot be played. */
  unplayable?: Unplayable;
  /** How much of the media is prepared, until all of it is. */
  preparation?: Preparation;
  /** Start of the window of its schedule for which it was last put on air. */
  lastScheduleTime?: string;
  /** Events beside those for what changes in the status. */
  events?: EventInput[];
  /** When to reconcile again although nothing has changed. */
  requeueAt?: Date;
}

/** The condition Progressing. OUTLOOKS says of each reason whether it passes by itself. */
interface Progress {
  status: 'True' | 'False';
  reason: ProblemReason | PodReason;
  message: string;
}

type PartialDecision = Pick<Decision, 'phase' | 'action'> & {
  live: Omit<Verdict, 'type'>;
  progressing: Progress;
  playhead?: Playhead | undefined;
  degraded?: Verdict;
  events?: EventInput[];
  requeueAt?: Date | undefined;
};

/** How long until a name that someone else's pod holds is tried again. That pod may have no label that we watch. */
const NAME_TAKEN_RETRY_MS = 30_000;

const yes = <R extends string>(reason: R, message: string) => ({ status: 'True' as const, reason, message });
const no = <R extends string>(reason: R, message: string) => ({ status: 'False' as const, reason, message });
const SETTLED = yes('Settled', 'The stream is in the requested state.');
const STOPPING = yes('Stopping', 'The pod is being stopped.');
const SUSPENDED = yes('Suspended', 'spec.suspend keeps the stream off air.');

/** An observation with what follows from it, computed once for the whole decision. */
interface Situation extends AssessedObservation {
  settings: PodSettings;
  /** The stream's pods. The one that publishes, or is to, comes first. */
  pods: Pod[];
  /** The program of the first of them. */
  program: Program | undefined;
  readiness: Verdict[];
  /** Conditions of others that the stream waits for. */
  gates: Verdict[];
  airtime: Airtime;
  /** The stream was live when its status was written, or is coming back from that. */
  wasLive: boolean;
}

function assess(observed: Observation, settings: PodSettings): Situation {
  const { stream, pod, other, now } = observed;
  const live = findCondition(stream.status?.conditions, 'Live');
  const assessed = { ...observed, tracks: assessTracks(stream, observed) };
  return {
    ...assessed,
    settings,
    pods: [pod, other].filter((one) => one !== undefined),
    program: pod && readPodProgram(pod),
    readiness: checkReadiness(assessed),
    gates: readGates(stream.spec, stream.status?.conditions),
    airtime: computeAirtime(stream.spec.schedule, now, findLastStart(stream, pod)),
    wasLive: live?.status === 'True' || live?.reason === 'Reconnecting',
  };
}

/** Whether the status says that the stream was ever on air, or had a pod for it. */
export function hasBeenOnAir({ status }: LoopStream): boolean {
  const live = findCondition(status?.conditions, 'Live');
  return status?.epoch !== undefined || (live ? live.reason !== 'NotStarted' : false);
}

/** The condition Live of a stream that is not on air. */
function describeOffAir(stream: LoopStream) {
  return hasBeenOnAir(stream)
    ? no('Stopped', 'The stream is not on air.')
    : no('NotStarted', 'The stream has never been on air.');
}

/** The stream is not meant to be on air: its pods are removed. */
function keepOffAir(situation: Situation): PartialDecision {
  const { stream, pods, airtime: time, now } = situation;
  if (pods.length > 0) {
    return {
      phase: 'stopping',
      action: removeFirst(pods),
      live: no('Stopping', STOPPING.message),
      progressing: STOPPING,
    };
  }
  const live = describeOffAir(stream);
  const idle: PartialDecision = {
    phase: live.reason === 'Stopped' ? 'stopped' : 'idle',
    action: NO_ACTION,
    live,
    progressing: SETTLED,
  };
  if (stream.metadata.deletionTimestamp) {
    return stream.metadata.finalizers?.includes(FINALIZER) ? { ...idle, action: { do: 'removeFinalizer' } } : idle;
  }
  if (stream.spec.suspend && stream.spec.replicas > 0) return { ...idle, progressing: SUSPENDED };
  if (!isWanted(stream.spec)) return idle;
  const missed = 'missed' in time && time.missed && describeMissedStart(stream, time.missed);
  if (time.kind === 'before') {
    const message = `The stream goes on air at ${kubeTime(time.startAt)}.`;
    const progressing = missed ? no('ScheduleMissed', `${missed} ${message}`) : yes('Scheduled', message);
    // Many may start in the same second: what can be made before is made while there is time.
    const action: Action = isPrepared(stream) ? NO_ACTION : { do: 'prepare' };
    return { ...idle, action, phase: 'scheduled', progressing };
  }
  const message = time.kind === 'after' ? `The schedule ended at ${kubeTime(time.endedAt)}.` : 'The schedule is over.';
  const progressing = missed ? no('ScheduleMissed', missed) : SETTLED;
  const ended = live.reason === 'Stopped' ? no('Ended', message) : live;
  return { ...idle, ...expire(stream, time, now), phase: 'ended', live: ended, progressing };
}

/** The status says `scheduled` only after what the first pod needs was made. A stream that has been on air has it since then. */
const isPrepared = (stream: LoopStream): boolean =>
  (stream.metadata.finalizers?.includes(FINALIZER) ?? false) &&
  (stream.status?.phase === 'scheduled' || hasBeenOnAir(stream));

/** A stream whose schedule is over is deleted when its time is up. */
function expire({ spec }: LoopStream, time: Airtime, now: Date): Pick<PartialDecision, 'action' | 'requeueAt'> {
  const { ttlSecondsAfterFinished: ttl } = spec;
  if (ttl === undefined || time.kind !== 'after') return { action: NO_ACTION };
  const at = new Date(time.endedAt.getTime() + ttl * 1000);
  return now >= at ? { action: { do: 'expire' } } : { action: NO_ACTION, requeueAt: at };
}

const describeMissedStart = ({ spec }: LoopStream, start: Date): string =>
  `The stream missed its start at ${kubeTime(start)} by more than the deadline of ${spec.schedule?.startingDeadlineSeconds} s.`;

const removeFirst = (pods: readonly Pod[]): Action =>
  pods.map(decideRemoval).find((action) => action.do !== 'nothing') ?? NO_ACTION;

/** The condition that keeps a stream without a pod off air. One that was on air comes back with what it played. */
const findObstacle = ({ status }: LoopStream, conditions: readonly Verdict[]): Verdict | undefined =>
  conditions.find((one) => one.status !== 'True' && !(one.type === 'MediaReady' && status?.epoch && status.playing));

/** The stream is meant to be on air and has no pod. */
function start(situation: Situation): PartialDecision {
  const { stream, readiness, gates, wasLive, now } = situation;
  const live = describeOffAir(stream);
  const saved = findKeptPlayhead(stream);
  const obstacle = findObstacle(stream, [...readiness, ...gates]);
  if (obstacle) {
    return {
      phase: 'waiting',
      action: NO_ACTION,
      live,
      progressing: yes('Waiting', obstacle.message),
      playhead: saved,
    };
  }
  const playhead = saved ?? { epoch: kubeTime(now), ...readSkipped(stream) };
  const { playing } = stream.status ?? {};
  const program =
    playing && goesOnWith(playing, situation)
      ? rebuildProgram(stream, situation, playhead, playing)
      : buildProgram(stream, situation, playhead);
  return {
    phase: wasLive ? 'reconnecting' : 'starting',
    action: { do: 'create', program, standby: false },
    live: wasLive ? no('Reconnecting', 'The pod is being replaced.') : no('Starting', 'The pod is starting.'),
    progressing: yes('Starting', 'The pod is starting.'),
    playhead,
  };
}

/** Where the stream stood when its status was written last. */
const findKeptPlayhead = ({ status }: LoopStream): Playhead | undefined =>
  status?.epoch === undefined ? undefined : pickPlayhead({ ...status, epoch: status.epoch });

/** The stream is meant to be on air and has a pod: it may publish and fits, or something is done about that. */
function run(situation: Situation, pod: Pod): PartialDecision {
  const { stream, program: current, readiness, report, settings, now } = situation;
  const playhead = (current && pickPlayhead(current)) ?? findKeptPlayhead(stream) ?? { epoch: kubeTime(now) };
  const before = findCondition(stream.status?.conditions, 'Degraded');
  // A stream on air is left as it is until what it is to become can be played: an edit never causes dead air by itself.
  const stays = current !== undefined && goesOnWith(current, situation);
  // A stream that stays as it is lacks what its pod reports, and the end of what could not be prepared to its end.
  const leftOut = findLeftOut(situation, { hasPod: true, brokenOnly: stays });
  const found = [...leftOut, ...(stays ? findCutShort(situation, current) : [])];
  const degraded = judgeDegraded(report, before && withoutTimes(before), found);
  const core: PartialDecision = { ...describeOnAir(situation, pod), action: NO_ACTION, playhead, degraded };
  const isPublisher = stream.status?.podUID === pod.metadata.uid;
  // The status names the pod that has the publisher lock. A pod that reports that it is held has not heard of it.
  if (!isOver(pod) && !pod.metadata.deletionTimestamp && (!isPublisher || report?.held)) {
    return { ...core, action: { do: 'publish', podUid: pod.metadata.uid } };
  }
  const ready = isReady(readiness) && !stays;
  const program = (previous = current) => (ready ? buildProgram(stream, situation, playhead, previous) : previous);
  const change = decideExchange({ observed: situation, main: pod, settings, program });
  if (change?.why !== undefined) {
    const { why, waitsFor, action, requeueAt } = change;
    return { ...core, action, progressing: yes('Replacing', waitsFor ? `${why} ${waitsFor}` : why), requeueAt };
  }
  if (change && change.action !== NO_ACTION) return { ...core, action: change.action };
  const next = program();
  // The label tells those who evict pods whether they may move this one.
  const labelled = readDisruptionLabel(pod) === readDisruption(stream);
  const later = next && current && labelled ? computeJoinTime({ observed: situation, pod, current, next }) : undefined;
  if (next && !later && (next !== current || !labelled)) {
    return { ...core, action: { do: 'patch', podUid: pod.metadata.uid, program: next } };
  }
  return current ? { ...core, requeueAt: later, ...follow(situation, pod, current) } : core;
}

const withoutTimes = ({ type, status, reason, message }: Verdict): Verdict => ({ type, status, reason, message });

/** How long until a pod that could not go on to the next item is asked again. */
const SKIP_RETRY_MS = 1000;

/** The pod plays what it should: its playhead is written to its program, and a skip is passed on to it. */
function follow({ stream, report, now }: Situation, pod: Pod, current: Program): Partial<PartialDecision> {
  const podUid = pod.metadata.uid;
  const program = withClock(current, report?.clock ?? {});
  if (program !== current) return { action: { do: 'patch', podUid, program }, playhead: pickPlayhead(program) };
  const skip = findPendingSkip(stream, current, now);
  if (!skip) return {};
  const done = withSkipped(current, skip);
  if (skip.void) {
    const message = `The skip to the next ${skip.track} item did not happen in time. Request it again.`;
    const events: EventInput[] = [{ type: 'Warning', reason: 'SkipExpired', message }];
    return { action: { do: 'patch', podUid, program: done }, playhead: pickPlayhead(done), events };
  }
  const requeueAt = new Date(now.getTime() + SKIP_RETRY_MS);
  const address = findAddressToAsk([pod]);
  return { ...(address !== undefined && { action: { do: 'skip', address, skip, program: done } }), requeueAt };
}

/**
 * Whether a destination takes media. Kubelet says so first, with the write of the pod's status that a start causes anyway. From then on the
 * pod reports each change sooner than kubelet probes it.
 */
function takesMedia({ wasLive, report }: Situation, pod: Pod): boolean {
  const isReady = pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
  return !isOver(pod) && ((wasLive ? report?.live : undefined) ?? isReady);
}

function describeOnAir(situation: Situation, pod: Pod): Omit<PartialDecision, 'action'> {
  const { wasLive } = situation;
  if (takesMedia(situation, pod))
    return { phase: 'live', live: yes('Live', 'A destination is accepting media.'), progressing: SETTLED };
  const trouble = findPodTrouble(pod);
  const progressing = trouble ? no(trouble.reason, trouble.message) : yes('Starting', 'The pod is starting.');
  const message = trouble?.message ?? 'No destination has accepted media yet.';
  if (!wasLive) return { phase: 'starting', live: no('Starting', message), progressing };
  const lost = trouble?.message ?? 'No destination accepts media at the moment.';
  return {
    phase: 'reconnecting',
    live: no('Reconnecting', lost),
    progressing: trouble ? progressing : yes('Reconnecting', lost),
  };
}

/** The stream waits until the pods of an earlier stream of its name are gone, which the operator deletes. */
const waitForStrays = (stream: LoopStream): PartialDecision => {
  const message = 'The pod of an earlier stream of this name is being removed.';
  return {
    phase: 'starting',
    action: NO_ACTION,
    live: no('Starting', message),
    progressing: yes('Starting', message),
    playhead: findKeptPlayhead(stream),
  };
};

function describeNameTaken(stream: LoopStream, now: Date): PartialDecision {
  const message = `Pod "${podName(stream.metadata.name)}" exists but does not belong to this stream. Delete it.`;
  return {
    phase: 'failed',
    action: NO_ACTION,
    live: describeOffAir(stream),
    progressing: no('PodNameTaken', message),
    playhead: findKeptPlayhead(stream),
    requeueAt: new Date(now.getTime() + NAME_TAKEN_RETRY_MS),
  };
}

/** A gate is closed: the stream goes off air, and comes back to where it then stands. */
function shutOff({ stream, pods, program }: Situation, { message }: Verdict): PartialDecision {
  return {
    phase: 'stopping',
    action: removeFirst(pods),
    live: no('Stopping', message),
    progressing: yes('Stopping', message),
    playhead: (program && pickPlayhead(program)) ?? findKeptPlayhead(stream),
  };
}

function decideCourse(situation: Situation): PartialDecision {
  const { stream, pod, isNameTaken, strays = [], readiness, gates, airtime: time, now } = situation;
  const wanted = isWanted(stream.spec) && !stream.metadata.deletionTimestamp;
  if (!wanted || time.kind === 'before' || time.kind === 'after') return keepOffAir(situation);
  const shut = gates.find(({ status }) => status === 'False');
  if (shut && pod) return shutOff(situation, shut);
  if (pod) return run(situation, pod);
  if (isNameTaken && !findObstacle(stream, [...readiness, ...gates]))
    return strays.length > 0 ? waitForStrays(stream) : describeNameTaken(stream, now);
  return start(situation);
}

const isPlayable = (conditions: readonly Verdict[]): boolean =>
  conditions.some(({ type, status }) => type === 'MediaReady' && status === 'True');

/** Whether a stream goes on with `playing`: its media cannot be played yet, or less of it than will be in a while. */
const goesOnWith = (playing: Playing, situation: Situation): boolean =>
  !isPlayable(situation.readiness) || losesItems(situation.tracks, playing);

/**
 * The program on air while the stream refers to media that cannot be played yet (a version that was published, another upload, another
 * quality): only its pod would know of it. It is kept in the status before the pod can be gone (removePodFinalizers), for as long
 * as the stream is meant to be on air. This costs no write of its own, for the status says then what is not ready; nothing is
 * kept of a stream whose media is ready.
 */
function findPlaying(situation: Situation): Playing | undefined {
  const { stream, program } = situation;
  const playing = program ? toPlaying(program) : stream.status?.playing;
  return playing && goesOnWith(playing, situation) ? playing : undefined;
}

/** Phases in which the window that is open has been taken up. */
const BEGUN: ReadonlySet<Phase> = new Set(['starting', 'live', 'reconnecting']);

/** Start of the window for which the stream was last put on air. A pod that the status does not name yet says so first. */
function findLastStart({ spec, status }: LoopStream, pod: Pod | undefined): Date | undefined {
  const known = status?.lastScheduleTime === undefined ? undefined : new Date(status.lastScheduleTime);
  if (!pod || pod.metadata.uid === status?.podUID) return known;
  // Kubernetes tells whole seconds, and means the one that had begun.
  const made = new Date(Date.parse(pod.metadata.creationTimestamp) + 999);
  return findWindow(spec.schedule, made, known) ?? known;
}

export function decide(observed: Observation, settings: PodSettings): Decision {
  const situation = assess(observed, settings);
  const { stream, pod, readiness, gates, airtime: time, now } = situation;
  const { live, progressing, playhead, degraded, requeueAt, ...rest } = decideCourse(situation);
  const hasBegun = BEGUN.has(rest.phase);
  const changeAt = isWanted(stream.spec)
    ? earliest(findNextChange(time, hasBegun), findStallTime(stream, readiness, now))
    : undefined;
  const wakeAt = earliest(requeueAt, changeAt);
  const lastScheduleTime =
    time.kind === 'on' && time.since && hasBegun ? time.since.toISOString() : stream.status?.lastScheduleTime;
  const scheduled = judgeScheduling(stream, pod, progressing);
  const playing = playhead && findPlaying(situation);
  const unplayable = findUnplayable(situation, { hasPod: pod !== undefined });
  const preparation = computePreparation(situation);
  return {
    ...rest,
    // An operator before this one has removed them for good (finalizers/remove.ts). A stream on air gets them before anything else.
    ...(observed.lacksFinalizer && { action: { do: 'restoreFinalizers' } }),
    conditions: [
      ...readiness,
      ...(scheduled ? [scheduled] : []),
      { type: 'Live', ...live },
      { type: 'Progressing', ...progressing },
      ...(degraded ? [degraded] : []),
    ],
    ready: isReady([...readiness, ...gates]) && scheduled?.status !== 'False',
    ...playhead,
    ...(playing && { playing }),
    ...(unplayable && { unplayable }),
    ...(preparation && { preparation }),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
    ...(wakeAt && { requeueAt: wakeAt }),
  };
}

/** Others end what refuses the pod, so the stream waits. The words of a quota are those of its admission plugin. */
function describeRefusal(stream: LoopStream, { message, retryAt }: Refusal): Omit<PartialDecision, 'action'> {
  const reason = /exceeded quota:/.test(message) ? 'QuotaExceeded' : 'PodRefused';
  // The part that others use changes with every pod, and would be written each time.
  // linear-time: the sentence is that of Kubernetes, and as long as the names of a quota.
  const words = message.replace(/, used: .*(?=, limited: )/, '');
  return { phase: 'waiting', live: describeOffAir(stream), progressing: no(reason, words), requeueAt: retryAt };
}

/** The refusal of this action that the status tells, for the spec as it is. An operator that has begun anew knows no more. */
export function findKnownRefusal({ metadata, status }: LoopStream, action: Action): KnownRefusal | undefined {
  const told = findCondition(status?.conditions, 'Progressing');
  if (told?.status !== 'False' || told.observedGeneration !== metadata.generation) return undefined;
  if (!listRefusalReasons(action).includes(told.reason)) return undefined;
  return { message: told.message, since: new Date(told.lastTransitionTime) };
}

function listRefusalReasons(action: Action): string[] {
  switch (action.do) {
    case 'create':
      return action.standby ? ['StandbyRefused'] : ['PodRefused', 'QuotaExceeded'];
    case 'patch':
    case 'skip':
      return ['ProgramRefused'];
    default:
      return ['WriteRefused'];
  }
}

const withProgress = (conditions: Verdict[], progressing: Progress): Verdict[] =>
  conditions.map((one) => (one.type === 'Progressing' ? { type: 'Progressing', ...progressing } : one));

/** The decision after Kubernetes has refused its pod, or its name is taken: the stream is where it was before. */
export function withoutPod({ stream, now }: Observation, decision: Decision, refusal?: Refusal): Decision {
  const { phase, live, progressing, requeueAt } =
    refusal === undefined ? describeNameTaken(stream, now) : describeRefusal(stream, refusal);
  const { epoch: _, audioEpoch: __, skipped: ___, ...rest } = decision;
  const scheduled = judgeScheduling(stream, undefined, progressing);
  const conditions = withProgress(decision.conditions, progressing).filter(({ type }) => type !== 'PodScheduled');
  return {
    ...rest,
    phase,
    ready: false,
    action: NO_ACTION,
    conditions: [...conditions, ...(scheduled ? [scheduled] : [])].map((one) =>
      one.type === 'Live' ? { type: 'Live', ...live } : one,
    ),
    ...findKeptPlayhead(stream),
    ...(requeueAt && { requeueAt }),
  };
}

/** The decision after Kubernetes has refused a standby: the pod on air stays as it is. */
export const withoutStandby = (decision: Decision, refusal: Refusal): Decision =>
  withoutWrite(decision, refusal, 'StandbyRefused');

/** The decision after Kubernetes has refused a program: the pod on air keeps the one it has. */
export const withoutProgram = (decision: Decision, refusal: Refusal): Decision =>
  withoutWrite(decision, refusal, 'ProgramRefused');

/** The decision after Kubernetes has refused something else, e.g. the Secret of the stream. */
export const withoutWrite = (
  decision: Decision,
  { message, retryAt }: Refusal,
  reason: 'StandbyRefused' | 'ProgramRefused' | 'WriteRefused' = 'WriteRefused',
): Decision => ({
  ...decision,
  action: NO_ACTION,
  conditions: withProgress(decision.conditions, no(reason, message)),
  requeueAt: earliest(retryAt, decision.requeueAt) ?? retryAt,
});
