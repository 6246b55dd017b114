/**
 * Decides when a container that ended is started again. Pure: no I/O, no clock.
 *
 * As in a kubelet, the first restart is at once and the wait before each further one doubles, until the container has
 * run for ten minutes. The wait begins at 1 s and ends at 60 s, where a kubelet has 10 s and 5 min. Those values spare
 * a node that pulls images and shares its processor among strangers. This node serves a user who waits for the next
 * attempt.
 */
import { type Backoff, exponentialMs } from '../../src/core/lib/backoff.ts';
import type { RestartPolicy, Terminated } from './types.ts';

const BACKOFF: Backoff = { baseMs: 1000, maxMs: 60_000 };
const BACKOFF_RESET_MS = 10 * 60_000;

/** Milliseconds between the end of a container and its start when it was already restarted `restarts` times in a row. */
export function backoffMs(restarts: number): number {
  return restarts === 0 ? 0 : exponentialMs(BACKOFF, restarts - 1);
}

/** Restarts in a row, counted anew after a long run. */
export const restartsAfter = (restarts: number, ranMs: number): number => (ranMs >= BACKOFF_RESET_MS ? 0 : restarts);

/** Whether a container that ended runs again under this policy. */
export function restarts(policy: RestartPolicy, last: Pick<Terminated, 'exitCode'>): boolean {
  return policy === 'Always' || (policy === 'OnFailure' && last.exitCode !== 0);
}
