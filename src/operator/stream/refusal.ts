/**
 * What becomes of a decision that Kubernetes refuses to carry out.
 * Pure: no I/O, no clock.
 */

import { findCondition } from '../../resources/common/conditions.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Verdict } from '../runtime/status.ts';
import { nothing } from './action.ts';
import { type Core, type Decision, history, keptSince, NAME_TAKEN_RETRY_MS, nameTaken, no, offAir } from './decide.ts';
import type { World } from './observe.ts';
import { scheduling } from './scheduling.ts';

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
