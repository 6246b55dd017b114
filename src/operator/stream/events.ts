/** The Events that tell the story of an object: one for each thing that changed, none for what stayed. Pure: no I/O, no clock. */

import type { EventInput } from '../../kube/events.ts';
import type { Condition } from '../../resources/common/conditions.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { fixOf, gatesOf } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { type LoopStreamStatus, READINESS_CONDITIONS, READINESS_ISSUES } from '../../resources/stream/spec.ts';
import { normal, warning } from '../runtime/events.ts';
import type { Verdict } from '../runtime/status.ts';

const messageOf = (status: { conditions?: Condition[] }, type: string): string =>
  findCondition(status.conditions, type)?.message ?? '';

/** What only takes time is no reason to warn anybody. */
const PATIENCE = new Set(['MediaImporting', 'MediaPreparing', 'DestinationChecking']);

/** What is wrong, and what to do about it: the same fix that REST and GraphQL give. */
const withFix = (condition: Verdict): string => `${condition.message} ${fixOf(condition)}`;
const isIssue = (reason: string): boolean => Object.hasOwn(READINESS_ISSUES, reason);

const obstacle = (status: LoopStreamStatus | undefined): Condition | undefined =>
  READINESS_CONDITIONS.map((type) => findCondition(status?.conditions, type)).find((c) => c?.status === 'False');

function failure(status: LoopStreamStatus): string {
  const stuck = findCondition(status.conditions, 'Progressing');
  return stuck && isIssue(stuck.reason) ? withFix(stuck) : (stuck?.message ?? '');
}

/** That it starts is told by its conditions: an event more for each start would be a write more. */
function ofPhase(status: LoopStreamStatus): EventInput[] {
  switch (status.phase) {
    case 'scheduled':
      return [normal('Scheduled', messageOf(status, 'Progressing'))];
    case 'live':
      return [normal('Live', messageOf(status, 'Live'))];
    case 'reconnecting':
      return [warning('Reconnecting', messageOf(status, 'Live'))];
    case 'stopping':
      return [normal('Stopping', messageOf(status, 'Live'))];
    case 'stopped':
      return [normal('Stopped', messageOf(status, 'Live'))];
    case 'ended':
      return [normal('Ended', 'The schedule is over.')];
    case 'failed':
      return [warning('Failed', failure(status))];
    default:
      return [];
  }
}

/** `gates` are the conditions of others that the stream waits for. */
export function streamEvents(
  before: LoopStreamStatus | undefined,
  status: LoopStreamStatus,
  gates: readonly Verdict[] = [],
): EventInput[] {
  const told = before?.phase === status.phase ? [] : ofPhase(status);
  const problem = obstacle(status);
  if (problem && problem.reason !== obstacle(before)?.reason) {
    const { reason, message } = problem;
    told.push(PATIENCE.has(reason) ? normal('NotReady', message) : warning('NotReady', withFix(problem)));
  }
  const shut = gates.find((gate) => gate.status === 'False');
  // A gate is closed by others, so what is new of it is that the stream obeys.
  const obeys = (of: LoopStreamStatus | undefined) =>
    shut !== undefined && messageOf(of ?? {}, 'Progressing') === shut.message;
  if (shut && obeys(status) && !obeys(before)) told.push(warning('NotReady', withFix(shut)));
  const stuck = findCondition(status.conditions, 'Progressing');
  if (status.phase !== 'failed' && stuck?.status === 'False') {
    const earlier = findCondition(before?.conditions, 'Progressing');
    const words = isIssue(stuck.reason) ? withFix(stuck) : stuck.message;
    if (earlier?.reason !== stuck.reason) told.push(warning(stuck.reason, words));
  }
  const wrong = findCondition(status.conditions, 'Degraded');
  const earlier = findCondition(before?.conditions, 'Degraded');
  if (wrong?.status === 'True' && earlier?.message !== wrong.message) {
    if (wrong.reason !== 'ItemsLeftOut') told.push(warning(wrong.reason, wrong.message));
    else if (hasNewFault(before, status)) told.push(warning(wrong.reason, wrong.message));
    else if (earlier?.reason !== wrong.reason) told.push(normal(wrong.reason, wrong.message));
  }
  return told;
}

/** Whether an item is left out for another reason than time, and was not before. One that only takes time is no reason to warn. */
function hasNewFault(before: LoopStreamStatus | undefined, { unplayable }: LoopStreamStatus): boolean {
  const known = before?.unplayable?.items ?? [];
  const faults = unplayable?.items.filter(({ reason }) => !PATIENCE.has(reason)) ?? [];
  return faults.some(({ upload, reason }) => !known.some((one) => one.upload === upload && one.reason === reason));
}

/** What is to be told of a stream whose status becomes this one. */
export const streamStory = ({ spec, status: before }: LoopStream, status: LoopStreamStatus): EventInput[] =>
  streamEvents(before, status, gatesOf(spec, before?.conditions));
