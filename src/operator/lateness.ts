/** How late the windows of schedules begin. Pure: no I/O, no clock. */
import type { LoopStream } from '../kube/resources.ts';

/**
 * Seconds from the start of a window until the stream had a pod for it, when a change of its status tells of that; undefined
 * otherwise. What was made or edited within its window is not late by that, nor is what was on air already.
 */
export function secondsLate(current: LoopStream, previous: LoopStream, now: Date): number | undefined {
  const start = current.status?.lastScheduleTime;
  if (start === undefined || start === previous.status?.lastScheduleTime) return undefined;
  if (previous.status?.observedGeneration !== current.metadata.generation || previous.status?.replicas === 1)
    return undefined;
  const due = Math.max(Date.parse(start), Date.parse(current.metadata.creationTimestamp));
  return Math.max(0, now.getTime() - due) / 1000;
}
