/** Finds the condition that says why a stream is not as viewers should see it. Pure: no I/O, no clock. */
import { type Condition, findCondition } from '../common/conditions.ts';
import type { LoopStreamStatus } from './spec.ts';

type Status = Pick<LoopStreamStatus, 'phase' | 'conditions'>;

/** The condition Degraded, while it is True. */
export function findDegraded({ conditions }: Status): Condition | undefined {
  const degraded = findCondition(conditions, 'Degraded');
  return degraded?.status === 'True' ? degraded : undefined;
}

/** Why viewers see nothing: what the pod reports, or else what the stream waits for. */
export const findOffAirCause = (status: Status): Condition | undefined =>
  findDegraded(status) ??
  findCondition(status.conditions, status.phase === 'waiting' || status.phase === 'failed' ? 'Ready' : 'Live');

const OFF_AIR: readonly LoopStreamStatus['phase'][] = ['waiting', 'starting', 'reconnecting', 'failed'];

/** Undefined while a stream is on air without a problem, or is not meant to be on air. */
export const findProblem = (status: Status): Condition | undefined =>
  OFF_AIR.includes(status.phase) ? findOffAirCause(status) : findDegraded(status);
