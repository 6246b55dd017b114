/**
 * Decides about a stream that is meant to be on air and has a pod: to publish, to replace the pod, or to change its
 * program. An edit changes the program at once, and a skip when the pod has done it. Items that become ready join in
 * turns, since a list of 500 would rewrite the program 500 times. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import type { EventInput } from '../../kube/events.ts';
import { kubeTime } from '../../lib/clock.ts';
import type { Program } from '../../protocol/program.ts';
import { PROGRAM_CHANGED_ANNOTATION } from '../../resources/common/names.ts';
import { isLeftOut } from '../../resources/stream/item-place.ts';
import { isOnTheWay } from '../media/items.ts';
import { findAddressToAsk, findPodTrouble, isOver } from '../pods/status.ts';
import { no, yes } from '../runtime/controller.ts';
import { isReady } from './conditions.ts';
import { type Course, NO_ACTION, SETTLED } from './course.ts';
import { decideExchange } from './handover.ts';
import { findJoins } from './joins.ts';
import { findLabelPatch, readDisruption, readDisruptionLabel } from './pod.ts';
import { buildProgram, dropQuarantined, findPendingSkip, pickPlayhead, withClock, withSkipped } from './program.ts';
import type { Situation } from './situation.ts';

export function stayOnAir(situation: Situation, pod: Pod): Course {
  const { stream, program, stays, readiness, now } = situation;
  const playhead = situation.playhead ?? { epoch: kubeTime(now) };
  const course: Course = { ...describeOnAir(situation, pod), action: NO_ACTION, playhead };
  if (mayNotPublish(situation, pod)) return { ...course, action: { do: 'publish', podUid: pod.metadata.uid } };
  const built =
    isReady(readiness) && !stays
      ? buildProgram(stream, situation, playhead, program)
      : dropQuarantined(program, situation);
  const step = decideExchange(situation, pod, built) ?? decideProgramChange(situation, pod, built ?? program);
  return { ...course, ...step };
}

/** The status names the pod that has the publisher lock. A pod that reports `held` does not know of its lock. */
const mayNotPublish = ({ stream, report }: Situation, pod: Pod): boolean =>
  !isOver(pod) &&
  !pod.metadata.deletionTimestamp &&
  (stream.status?.podUID !== pod.metadata.uid || report?.held === true);

function describeOnAir(situation: Situation, pod: Pod): Pick<Course, 'phase' | 'live' | 'progressing'> {
  if (takesMedia(situation, pod)) {
    return { phase: 'live', live: yes('Live', 'A destination is accepting media.'), progressing: SETTLED };
  }
  const trouble = findPodTrouble(pod);
  const stuck = trouble && no(trouble.reason, trouble.message);
  if (situation.wasLive) {
    const message = trouble?.message ?? 'No destination accepts media at the moment.';
    return {
      phase: 'reconnecting',
      live: no('Reconnecting', message),
      progressing: stuck ?? yes('Reconnecting', message),
    };
  }
  const message = trouble?.message ?? 'No destination has accepted media yet.';
  return {
    phase: 'starting',
    live: no('Starting', message),
    progressing: stuck ?? yes('Starting', 'The pod is starting.'),
  };
}

/**
 * Whether a destination takes media. Kubelet reports it first, in the status write that a start causes anyway. From
 * then on the pod reports each change sooner than kubelet probes it.
 */
function takesMedia({ wasLive, report }: Situation, pod: Pod): boolean {
  const isReady = pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
  return !isOver(pod) && ((wasLive ? report?.live : undefined) ?? isReady);
}

/** Pause before a failed skip is repeated. */
const SKIP_RETRY_MS = 1000;

/** The part of a course that follows from the program. */
type ProgramCourse = Partial<Pick<Course, 'action' | 'playhead' | 'events' | 'requeueAt'>>;

/** `next` is the program that the pod is to have; undefined when its own cannot be read and no other one can be built. */
function decideProgramChange(situation: Situation, pod: Pod, next: Program | undefined): ProgramCourse {
  const { stream, program: current } = situation;
  // A label tells those who evict pods whether they may move this one; others tell whose it is.
  const isLabelled = readDisruptionLabel(pod) === readDisruption(stream) && !findLabelPatch(stream, pod);
  const isChanged = next !== current;
  const joinAt =
    next && current && isChanged && isLabelled ? computeJoinTime(situation, pod, current, next) : undefined;
  if (next && !joinAt && (isChanged || !isLabelled)) {
    return { action: { do: 'patch', podUid: pod.metadata.uid, program: next } };
  }
  return current ? { requeueAt: joinAt, ...followPod(situation, pod, current) } : {};
}

/** The pod plays what it should: its playhead is written to its program, and a skip is passed on to it. */
function followPod({ stream, report, now }: Situation, pod: Pod, current: Program): ProgramCourse {
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

/** Between two rewrites of a program that only let items join, while more of them are on their way. */
export const JOIN_INTERVAL_MS = 30_000;

const playsAll = ({ video, audio }: Program): boolean =>
  [video, audio].every((track) => track === undefined || track.items.some((item) => !isLeftOut(item)));

/**
 * Until when a pod keeps `current`; undefined when it is handed `next` now: because of more than items that join, and sounds,
 * looks and cards that were made, because no other one is on its way, because nothing plays meanwhile, or because the last rewrite is long ago.
 */
function computeJoinTime(
  { media, report, now }: Situation,
  pod: Pod,
  current: Program,
  next: Program,
): Date | undefined {
  const joins = findJoins(next, current);
  if (joins === undefined) return undefined;
  const isStuck = report?.problems.some(({ reason }) => reason === 'NothingPlayable');
  if (isStuck || !playsAll(current)) return undefined;
  const isOneOfMany = media.unplayable.some(({ problem }) => isOnTheWay(problem?.reason ?? ''));
  if (joins !== 'aside' && !isOneOfMany) return undefined;
  const changed = Date.parse(pod.metadata.annotations?.[PROGRAM_CHANGED_ANNOTATION] ?? '');
  const until = changed + JOIN_INTERVAL_MS;
  // A time ahead of now is of a clock that has been put right since.
  return changed <= now.getTime() && now.getTime() < until ? new Date(until) : undefined;
}
