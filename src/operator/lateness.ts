/** How late the windows of schedules begin. Pure: no I/O, no clock. */
import type { LoopStream } from '../kube/resources.ts';
import { airtime } from './schedule.ts';

/**
 * Seconds from the start of a window until the stream had a pod for it, which has just been made; undefined when it is not
 * the first of its window. What was made or edited within its window is not late by that, nor is what was on air already.
 */
export function secondsLate({ metadata, spec, status }: LoopStream, now: Date): number | undefined {
  if (!spec.schedule || status?.observedGeneration !== metadata.generation || status?.replicas === 1) return undefined;
  const last = status?.lastScheduleTime;
  // That the pod has been made is the answer to whether it was still to be made.
  const { startingDeadlineSeconds: _, ...schedule } = spec.schedule;
  const time = airtime(schedule, now, last === undefined ? undefined : new Date(last));
  if (time.kind !== 'on' || !time.since || (last !== undefined && time.since <= new Date(last))) return undefined;
  const due = Math.max(time.since.getTime(), Date.parse(metadata.creationTimestamp));
  return Math.max(0, now.getTime() - due) / 1000;
}
