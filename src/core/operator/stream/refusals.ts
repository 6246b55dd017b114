/** Decides anew for a stream whose action Kubernetes has refused. Pure: no I/O, no clock. */

import { findCondition } from '../../resources/common/conditions.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { earliest } from '../../resources/stream/schedule.ts';
import { no, type Verdict } from '../runtime/controller.ts';
import type { KnownRefusal, Refusal } from '../runtime/retries.ts';
import { judgeScheduling } from './conditions.ts';
import { type Action, type Course, NO_ACTION, type ProgressCondition } from './course.ts';
import type { Decision } from './decide.ts';
import type { Observation } from './observation.ts';
import { describeOffAir } from './off-air.ts';
import { findKeptPlayhead } from './program.ts';
import { describeNameTaken } from './start.ts';

/** Others end what refuses the pod, so the stream waits. The words of a quota are those of its admission plugin. */
function describeRefusal(stream: LoopStream, { message, retryAt }: Refusal): Omit<Course, 'action'> {
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

const withProgress = (conditions: Verdict[], progressing: ProgressCondition): Verdict[] =>
  conditions.map((one) => (one.type === 'Progressing' ? { type: 'Progressing', ...progressing } : one));

/** The decision after Kubernetes has refused its pod, or its name is taken: the stream is where it was before. */
export function withoutPod({ stream, now }: Observation, decision: Decision, refusal?: Refusal): Decision {
  const { phase, live, progressing, requeueAt } =
    refusal === undefined ? describeNameTaken(stream, now) : describeRefusal(stream, refusal);
  const { epoch: _, audioEpoch: __, skipped: ___, standings: ____, ...rest } = decision;
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
