/**
 * Builds the conditions Ready, Reconciling and Stalled of an object. An object is in exactly one of three states, so that kstatus,
 * `kubectl wait` and a health check of Argo CD agree on it. Pure: no I/O, no clock.
 */

import { type Condition, findCondition, type Verdict } from './conditions.ts';

/**
 * The state of an object:
 *
 * - ready        it is as its spec asks.
 * - reconciling  it is on its way there, and needs no person.
 * - stalled      it gets there only when a person does something.
 */
export interface Health extends Pick<Verdict, 'reason' | 'message'> {
  state: 'ready' | 'reconciling' | 'stalled';
}

/** Exactly the conditions that are to be there. */
export function buildHealth({ state, reason, message }: Health): Verdict[] {
  if (state === 'ready') return [{ type: 'Ready', status: 'True', reason, message }];
  const type = state === 'stalled' ? 'Stalled' : 'Reconciling';
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type, status: 'True', reason, message },
  ];
}

/**
 * How a problem goes away:
 *
 * - passes   by itself: time, a retry or another controller ends it.
 * - appears  by an object that may be on its way: Helm and GitOps tools apply a stream before its upload. Later only by a person.
 * - stays    only by a person.
 */
export type Outlook = 'passes' | 'appears' | 'stays';

/** How long a missing object counts as one that is on its way. Tools that apply objects together do so within seconds. */
const APPEAR_MS = 10_000;

export interface HealthProblem extends Pick<Verdict, 'reason' | 'message'> {
  outlook: Outlook;
  /** Since when the object lacks what it needs. */
  since: Date;
}

/** Since when `condition` has been False; `now` where it was not until now. */
export const readSince = (condition: Condition | undefined, now: Date): Date =>
  condition?.status === 'False' ? new Date(condition.lastTransitionTime) : now;

/** When a problem needs a person; undefined where it never does. */
function getStallTime({ outlook, since }: Pick<HealthProblem, 'outlook' | 'since'>): Date | undefined {
  if (outlook === 'passes') return undefined;
  return outlook === 'stays' ? since : new Date(since.getTime() + APPEAR_MS);
}

/** Whether only a person ends a problem. */
export function isStuck(problem: HealthProblem, now: Date): boolean {
  const at = getStallTime(problem);
  return at !== undefined && at <= now;
}

export const judgeProblem = (problem: HealthProblem, now: Date): Health => ({
  state: isStuck(problem, now) ? 'stalled' : 'reconciling',
  reason: problem.reason,
  message: problem.message,
});

/** When the first of the problems needs a person that does not need one yet. */
export function findNextStall(problems: readonly HealthProblem[], now: Date): Date | undefined {
  const times = problems.flatMap((problem) => getStallTime(problem) ?? []).filter((at) => at > now);
  return times.sort((a, b) => a.getTime() - b.getTime())[0];
}

/** When an object whose only problem is one that `appears` needs a person, by its conditions. */
export function findStallTime(conditions: readonly Condition[] | undefined): Date | undefined {
  const ready = findCondition(conditions, 'Ready');
  if (!ready || !findCondition(conditions, 'Reconciling')) return undefined;
  return getStallTime({ outlook: 'appears', since: new Date(ready.lastTransitionTime) });
}
