/**
 * Builds the status of a stream from a decision, and the Events for what changed in it. The same observation gives the same
 * status to the last byte, so that a steady stream and a restarted operator write nothing. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import type { EventInput } from '../../kube/events.ts';
import { kubeTime } from '../../lib/clock.ts';
import { toPascalCase } from '../../lib/codes/code-text.ts';
import type { FailureCode } from '../../lib/codes/destinations.ts';
import { findPlatformCode } from '../../lib/codes/platforms.ts';
import { findStreamCode, READINESS_ISSUES } from '../../lib/codes/streams.ts';
import { type Condition, findCondition } from '../../resources/common/conditions.ts';
import { buildHealth } from '../../resources/common/health.ts';
import { followAnchors } from '../../resources/stream/anchors.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import { recordFacts } from '../../resources/stream/facts.ts';
import { judgeStream } from '../../resources/stream/health.ts';
import { getConditionFix, readGates } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import {
  type LoopStreamStatus,
  ON_AIR_PHASES,
  type Phase,
  READINESS_CONDITIONS,
  type Rejection,
} from '../../resources/stream/spec.ts';
import { MAX_TRANSITION_MESSAGE, type Transition } from '../../resources/stream/transitions.ts';
import { countRestarts, findReadySince } from '../pods/status.ts';
import { buildConditions, buildNormalEvent, buildWarningEvent, type Verdict } from '../runtime/controller.ts';
import { GATE_CLOSED } from './course.ts';
import type { Decision } from './decide.ts';
import { describeDropped, followDropped } from './dropped-rules.ts';
import type { Observation } from './observation.ts';
import { followPlatforms } from './platforms.ts';
import { describeProblem, type PodProblem } from './pod-report.ts';
import { pickPlayhead } from './program.ts';
import type { Sessions } from './sessions.ts';
import { recordTransitions } from './transitions.ts';

/** Destinations as people call them: those that the API made have ids for names, which tell nobody anything. */
const listDestinations = ({ spec }: LoopStream, { destinations }: Pick<Observation, 'destinations'>): string =>
  listReceivers(spec)
    .map((name) => destinations.get(name)?.spec.displayName || name)
    .join(', ');

const findFailures = ({ report, destinations }: Pick<Observation, 'report' | 'destinations'>) =>
  (report?.problems ?? [])
    .filter(({ reason }) => reason === 'DestinationReconnecting')
    .map((problem) => ({ ...problem, message: describeProblem(problem, destinations) }));

/** Failures that another try does not mend: somebody has to change something. */
const REFUSALS: ReadonlySet<string> = new Set<FailureCode>([
  'key_in_use',
  'login_required',
  'login_refused',
  'publish_rejected',
]);

/**
 * The destinations that refuse a stream in this phase. A refusal lasts until the destination takes media or the stream leaves the air,
 * however often the pod tries again, so each makes one transition. A destination that the pod has not reported yet keeps its state.
 */
export function findRejections(
  { spec, status }: LoopStream,
  phase: Phase,
  observed: Pick<Observation, 'destinations' | 'report' | 'now'>,
): Rejection[] {
  if (!ON_AIR_PHASES.includes(phase)) return [];
  const { report, destinations, now } = observed;
  const before = status?.rejections ?? [];
  return listReceivers(spec).flatMap((name): Rejection[] => {
    const known = before.find(({ destination }) => destination === name);
    if (!report || known) return known && !report?.accepting?.includes(name) ? [known] : [];
    const problem = report.problems.find((one) => one.destination === name && REFUSALS.has(one.code ?? ''));
    return problem ? [toRejection(name, problem, destinations, now)] : [];
  });
}

const toRejection = (
  destination: string,
  problem: PodProblem,
  destinations: Observation['destinations'],
  now: Date,
): Rejection => ({
  destination,
  reason: toPascalCase(problem.code ?? ''),
  message: describeProblem(problem, destinations).slice(0, MAX_TRANSITION_MESSAGE),
  since: kubeTime(now),
});

/** `pod` is the stream's own pod after the decision was carried out. */
export function buildStatus(
  stream: LoopStream,
  decision: Decision,
  pod: Pod | undefined,
  observed: Pick<Observation, 'destinations' | 'report' | 'now'>,
  { sessions, behind, doubt }: Sessions = { sessions: stream.status?.sessions ?? [] },
): LoopStreamStatus {
  const { now } = observed;
  const { generation } = stream.metadata;
  const liveSince =
    pod && decision.phase === 'live' ? (findReadySince(pod) ?? stream.status?.liveSince ?? kubeTime(now)) : undefined;
  const isPlaying = pod !== undefined && decision.epoch !== undefined;
  const anchors = isPlaying && followAnchors(stream.status?.anchors, observed.report?.clock);
  const facts = recordFacts(stream.status?.facts, isPlaying ? observed.report : undefined);
  const rejections = findRejections(stream, decision.phase, observed);
  const platforms = followPlatforms(stream, decision.phase, observed);
  const status: LoopStreamStatus = {
    observedUID: stream.metadata.uid,
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: decision.phase,
    replicas: pod ? 1 : 0,
    canStart: decision.ready,
    ...(decision.epoch !== undefined && pickPlayhead({ ...decision, epoch: decision.epoch })),
    ...(stream.status?.seed !== undefined && { seed: stream.status.seed }),
    ...(anchors && { anchors }),
    ...(facts && { facts: [...facts] }),
    ...(decision.playing && { playing: decision.playing }),
    ...(decision.unplayable && { unplayable: decision.unplayable }),
    ...(decision.preparation && { preparation: decision.preparation }),
    ...(liveSince !== undefined && { liveSince }),
    ...(decision.lastScheduleTime !== undefined && { lastScheduleTime: decision.lastScheduleTime }),
    ...(pod && { podName: pod.metadata.name, podUID: pod.metadata.uid, restarts: countRestarts(pod) }),
    destinationSummary: listDestinations(stream, observed),
    ...(sessions.length > 0 && { sessions }),
    ...(rejections.length > 0 && { rejections }),
    ...(platforms.platforms.length > 0 && { platforms: platforms.platforms }),
    conditions: buildConditions(
      [
        ...buildHealth(judgeStream(stream, decision, { failures: findFailures(observed), now })),
        ...decision.conditions,
        ...[behind, doubt].filter((one) => one !== undefined),
      ],
      stream.status?.conditions,
      generation,
      now,
    ),
  };
  const transitions = recordTransitions(stream.status, status, now, observed.report, platforms.told);
  const isLeaving = !ON_AIR_PHASES.includes(decision.phase) || pod?.metadata.deletionTimestamp !== undefined;
  const dropped = observed.report?.droppedRules;
  const known = stream.status?.droppedRules;
  const droppedRules = dropped ? followDropped(known, dropped, now, isLeaving) : known;
  return {
    ...status,
    ...(droppedRules && { droppedRules: [...droppedRules] }),
    ...(transitions.length > 0 && { transitions }),
  };
}

const findMessage = (status: { conditions?: Condition[] }, type: string): string =>
  findCondition(status.conditions, type)?.message ?? '';

/** Reasons that only take time: nobody is warned. */
const PATIENCE = new Set(['MediaImporting', 'MediaPreparing', 'DestinationChecking']);

/** The problem, and the fix that REST and GraphQL give too. */
const withFix = (condition: Verdict): string => `${condition.message} ${getConditionFix(condition)}`;
const isIssue = (reason: string): boolean => Object.hasOwn(READINESS_ISSUES, reason);

const findObstacle = (status: LoopStreamStatus | undefined): Condition | undefined =>
  READINESS_CONDITIONS.map((type) => findCondition(status?.conditions, type)).find((c) => c?.status === 'False');

function describeFailure(status: LoopStreamStatus): string {
  const stuck = findCondition(status.conditions, 'Progressing');
  return stuck && isIssue(stuck.reason) ? withFix(stuck) : (stuck?.message ?? '');
}

/** A start has no Event: its conditions tell it, and an Event is a write more. */
function describePhase(status: LoopStreamStatus): EventInput[] {
  switch (status.phase) {
    case 'scheduled':
      return [buildNormalEvent('Scheduled', findMessage(status, 'Progressing'))];
    case 'live':
      return [buildNormalEvent('Live', findMessage(status, 'Live'))];
    case 'reconnecting':
      return [buildWarningEvent('Reconnecting', findMessage(status, 'Live'))];
    case 'stopping':
      return [buildNormalEvent('Stopping', findMessage(status, 'Live'))];
    case 'stopped':
      return [buildNormalEvent('Stopped', findMessage(status, 'Live'))];
    case 'ended':
      return [buildNormalEvent('Ended', 'The schedule is over.')];
    case 'failed':
      return [buildWarningEvent('Failed', describeFailure(status))];
    default:
      return [];
  }
}

const obeysGate = (status: LoopStreamStatus | undefined): boolean =>
  findCondition(status?.conditions, 'Progressing')?.reason === GATE_CLOSED;

/** `gates` are the conditions of others that the stream waits for. */
export function buildStreamEvents(
  before: LoopStreamStatus | undefined,
  status: LoopStreamStatus,
  gates: readonly Verdict[] = [],
): EventInput[] {
  const events = before?.phase === status.phase ? [] : describePhase(status);
  const problem = findObstacle(status);
  if (problem && problem.reason !== findObstacle(before)?.reason) {
    const { reason, message } = problem;
    events.push(
      PATIENCE.has(reason) ? buildNormalEvent('NotReady', message) : buildWarningEvent('NotReady', withFix(problem)),
    );
  }
  const shut = gates.find((gate) => gate.status === 'False');
  // Others close a gate, so what is new of it is that the stream obeys.
  if (shut && obeysGate(status) && !obeysGate(before)) events.push(buildWarningEvent('NotReady', withFix(shut)));
  const stuck = findCondition(status.conditions, 'Progressing');
  if (status.phase !== 'failed' && stuck?.status === 'False') {
    const earlier = findCondition(before?.conditions, 'Progressing');
    const words = isIssue(stuck.reason) ? withFix(stuck) : stuck.message;
    if (earlier?.reason !== stuck.reason) events.push(buildWarningEvent(stuck.reason, words));
  }
  const wrong = findCondition(status.conditions, 'Degraded');
  const earlier = findCondition(before?.conditions, 'Degraded');
  const isNew = earlier?.reason !== wrong?.reason;
  const isToldBelow = isNew && findPlatformCode(wrong?.reason ?? '') !== undefined;
  if (wrong?.status === 'True' && earlier?.message !== wrong.message && !isToldBelow) {
    if (wrong.reason !== 'ItemsLeftOut') events.push(buildWarningEvent(wrong.reason, wrong.message));
    else if (hasNewFault(before, status)) events.push(buildWarningEvent(wrong.reason, wrong.message));
    else if (earlier?.reason !== wrong.reason) events.push(buildNormalEvent(wrong.reason, wrong.message));
  }
  const dropped = status.droppedRules ? describeDropped(before?.droppedRules, status.droppedRules) : [];
  return [...events, ...dropped, ...describePlatforms(before, status)];
}

const PLATFORM_EVENTS: Partial<Record<Transition['kind'], EventInput['type']>> = {
  PlatformLive: 'Normal',
  PlatformEnded: 'Warning',
  PlatformHealth: 'Warning',
};

function describePlatforms(before: LoopStreamStatus | undefined, { transitions = [] }: LoopStreamStatus): EventInput[] {
  const known = before?.transitions?.at(-1)?.number ?? 0;
  return transitions.flatMap(({ number, kind, reason = '', message = '' }): EventInput[] => {
    const type = PLATFORM_EVENTS[kind];
    if (number <= known || !type) return [];
    return [{ type, reason: kind, message: `${message} ${findStreamCode(reason)?.fix ?? ''}`.trimEnd() }];
  });
}

/** Whether an item is left out for another reason than time, and was not before. One that only takes time is no reason to warn. */
function hasNewFault(before: LoopStreamStatus | undefined, { unplayable }: LoopStreamStatus): boolean {
  const known = before?.unplayable?.items ?? [];
  const faults = unplayable?.items.filter(({ reason }) => !PATIENCE.has(reason)) ?? [];
  return faults.some(({ upload, reason }) => !known.some((one) => one.upload === upload && one.reason === reason));
}

/** The Events of a stream whose status becomes this one. */
export const buildEvents = ({ spec, status: before }: LoopStream, status: LoopStreamStatus): EventInput[] =>
  buildStreamEvents(before, status, readGates(spec, before?.conditions));
