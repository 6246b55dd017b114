/** Computes how late the windows of schedules begin. Pure: no I/O, no clock. */

import type { LoopStream } from '../../resources/stream/resource.ts';
import { findWindow } from '../../resources/stream/schedule.ts';

/**
 * Seconds from the start of a window until the stream had a pod for it, which has just been made; undefined when it is not
 * the first of its window. A stream that was made or edited within its window is not late by that, nor is one that was on air already.
 */
export function computeLateness({ metadata, spec, status }: LoopStream, now: Date): number | undefined {
  if (status?.observedGeneration !== metadata.generation || status?.replicas === 1) return undefined;
  const last = status?.lastScheduleTime;
  const start = findWindow(spec.schedule, now, last === undefined ? undefined : new Date(last));
  if (!start || (last !== undefined && start <= new Date(last))) return undefined;
  const due = Math.max(start.getTime(), Date.parse(metadata.creationTimestamp));
  return Math.max(0, now.getTime() - due) / 1000;
}
