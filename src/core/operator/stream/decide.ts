/**
 * Decides what a stream needs: observation → conditions, phase and one action. The phases are described above PHASES in
 * resources/stream/spec.ts. Decisions share no memory: facts that outlive one (whether the stream has been on air, since when)
 * are in the status or on the pod. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import type { EventInput } from '../../kube/events.ts';
import type { SessionEnd } from '../../lib/codes/streams.ts';
import { type Program, toPlaying } from '../../protocol/program.ts';
import { readPodProgram } from '../../protocol/to-streamer.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { isDue } from '../../resources/stream/effect.ts';
import { findStallTime } from '../../resources/stream/health.ts';
import type { Playing } from '../../resources/stream/playing.ts';
import { readGates } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import {
  computeScheduleState,
  earliest,
  findNextChange,
  findOffSchedule,
  findWindow,
} from '../../resources/stream/schedule.ts';
import { isWanted, type Phase, type Preparation, type Unplayable } from '../../resources/stream/spec.ts';
import { assessMedia } from '../media/assess.ts';
import type { PodSettings } from '../pods/security.ts';
import type { Verdict } from '../runtime/controller.ts';
import { checkReadiness, isReady, judgeConditions } from './conditions.ts';
import type { Action, Course } from './course.ts';
import type { Observation } from './observation.ts';
import { closeGate, stayOffAir } from './off-air.ts';
import { stayOnAir } from './on-air.ts';
import { findKeptPlayhead, pickPlayhead } from './program.ts';
import type { Situation } from './situation.ts';
import { startStream } from './start.ts';

export interface Decision {
  phase: Phase;
  /** Readiness conditions, Live, Progressing; of a stream with a pod PodScheduled, of one on air Degraded. */
  conditions: Verdict[];
  ready: boolean;
  action: Action;
  /** Where the stream stands; nothing while it is not meant to be on air. */
  epoch?: string;
  audioEpoch?: string;
  standings?: NonNullable<Program['standings']>;
  skipped?: NonNullable<Program['skipped']>;
  /** The program on air, or that was when its pod was lost, while the next one cannot be played. */
  playing?: Playing;
  /** Items that cannot be played. */
  unplayable?: Unplayable;
  /** How much of the media is prepared, until all of it is. */
  preparation?: Preparation;
  /** Start of the window of its schedule for which it was last put on air. */
  lastScheduleTime?: string;
  /** Why a pod that is going goes, where the operator wants it so. */
  ends?: SessionEnd;
  /** Events beside those for what changes in the status. */
  events?: EventInput[];
  /** When to reconcile again although nothing has changed. */
  requeueAt?: Date;
}

export function decide(observed: Observation, settings: PodSettings): Decision {
  const situation = assess(observed, settings);
  const course = chooseCourse(situation);
  const { conditions, unplayable } = judgeConditions(situation, course);
  const { media } = situation;
  const { phase, playhead, ends, events } = course;
  const requeueAt = findRequeueTime(situation, course);
  const lastScheduleTime = findScheduleTime(situation, course);
  return {
    phase,
    conditions,
    ready: situation.isReadyToStart && !conditions.some(isNotScheduled),
    // The operator before this one removed its finalizers for good (finalizers/remove.ts). A stream on air gets them before anything else.
    action: observed.lacksFinalizer ? { do: 'restoreFinalizers' } : course.action,
    ...playhead,
    // Otherwise only the pod would know what is on air. It is kept before the pod can be gone (removePodFinalizers), for as long as the stream is meant
    // to be on air. This costs no write of its own, for the status says then what is not ready.
    ...(playhead && media.goesOnWith && { playing: media.goesOnWith }),
    ...(unplayable && { unplayable }),
    ...(media.preparation && { preparation: media.preparation }),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
    ...(ends && { ends }),
    ...(events && { events }),
    ...(requeueAt && { requeueAt }),
  };
}

/** Computes once what the rest of the decision asks of the observation. */
function assess(observed: Observation, settings: PodSettings): Situation {
  const { stream, pod, other, now } = observed;
  const { spec, status } = stream;
  const program = pod && readPodProgram(pod);
  const schedule = computeScheduleState(spec.schedule, now, findLastStart(stream, pod));
  const media = assessMedia(stream, observed, program ? toPlaying(program) : status?.playing);
  const readiness = checkReadiness({ stream, destinations: observed.destinations, media, schedule });
  const gates = readGates(spec, status?.conditions);
  const conditions = [...readiness, ...gates];
  const live = findCondition(status?.conditions, 'Live');
  return {
    ...observed,
    settings,
    pods: [pod, other].filter((one) => one !== undefined),
    program,
    playhead: program ? pickPlayhead(program) : findKeptPlayhead(stream),
    schedule,
    offSchedule: findOffSchedule(schedule),
    isDue: isDue(stream, schedule),
    media,
    stays: program !== undefined && media.goesOnWith !== undefined,
    readiness,
    closedGate: gates.find((gate) => gate.status === 'False'),
    obstacle: findObstacle(stream, conditions),
    isReadyToStart: isReady(conditions),
    wasLive: live?.status === 'True' || live?.reason === 'Reconnecting',
  };
}

/** Start of the window for which the stream was last put on air. A pod that the status does not name yet is newer. */
function findLastStart({ spec, status }: LoopStream, pod: Pod | undefined): Date | undefined {
  const known = status?.lastScheduleTime === undefined ? undefined : new Date(status.lastScheduleTime);
  if (!pod || pod.metadata.uid === status?.podUID) return known;
  // Kubernetes rounds its times down to whole seconds.
  const made = new Date(Date.parse(pod.metadata.creationTimestamp) + 999);
  return findWindow(spec.schedule, made, known) ?? known;
}

/** A stream that was on air comes back with what it played, whether or not its media is ready. */
const findObstacle = ({ status }: LoopStream, conditions: readonly Verdict[]): Verdict | undefined =>
  conditions.find((one) => one.status !== 'True' && !(one.type === 'MediaReady' && status?.epoch && status.playing));

/** The stream is off air, on its way there, starts, or is on air. */
function chooseCourse(situation: Situation): Course {
  const { isDue, pod, closedGate } = situation;
  if (!isDue) return stayOffAir(situation);
  if (!pod) return startStream(situation);
  return closedGate ? closeGate(situation, closedGate) : stayOnAir(situation, pod);
}

const isNotScheduled = ({ type, status }: Verdict): boolean => type === 'PodScheduled' && status === 'False';

/** Phases in which the window that is open has been taken up. */
const BEGUN: ReadonlySet<Phase> = new Set(['starting', 'live', 'reconnecting']);

/** The time of the course, of the schedule's next change, or of a problem that becomes a person's, whichever comes first. */
function findRequeueTime(
  { stream, schedule, readiness, now }: Situation,
  { phase, requeueAt }: Course,
): Date | undefined {
  if (!isWanted(stream.spec)) return requeueAt;
  const changeAt = findNextChange(schedule, BEGUN.has(phase));
  return earliest(requeueAt, earliest(changeAt, findStallTime(stream, readiness, now)));
}

/** Start of the window for which the stream was last put on air. */
const findScheduleTime = ({ stream, schedule }: Situation, { phase }: Course): string | undefined =>
  schedule.kind === 'on' && schedule.since && BEGUN.has(phase)
    ? schedule.since.toISOString()
    : stream.status?.lastScheduleTime;
