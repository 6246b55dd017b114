/** Computes the progress of an upload, and decides when a change is worth a write. Pure: no I/O, no clock. */
import type { Job } from '../../kube/core.ts';

/** A smaller difference is not written: the API server is no place for a progress bar's every move. */
const STEP = 0.05;
/** So that what lies a step apart in decimals does so in binary too. */
const EPSILON = 1e-9;

export const hasMoved = (before: number | undefined, now: number): boolean =>
  before === undefined || Math.abs(now - before) >= STEP - EPSILON;

/** Whether nothing of a Job works any more. */
export const hasEnded = (job: Job): boolean =>
  job.status?.conditions?.some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True') ??
  false;

/** Whether a Job may still have something to tell. */
export const isActive = (job: Job): boolean => !job.metadata.deletionTimestamp && !hasEnded(job);

/**
 * The progress to show. `parts` are all the tasks of the current state: how far each is, undefined while nobody can say.
 * `shown` is what stands in the status for the same state; it stays while the difference is small, and does not fall
 * because of a pod that cannot be asked.
 */
export function computeProgress(parts: readonly (number | undefined)[], shown: number | undefined): number {
  const sum = parts.reduce<number>((total, part) => total + (part ?? 0), 0);
  const now = parts.length === 0 ? 0 : Math.round((sum / parts.length) * 100) / 100;
  if (shown === undefined) return now;
  if (now < shown && parts.includes(undefined)) return shown;
  return hasMoved(shown, now) ? now : shown;
}
