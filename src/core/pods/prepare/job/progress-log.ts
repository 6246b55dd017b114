/** Logs the progress of a task. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';

const STEP = 0.05;
const PAUSE_MS = 2_000;

/**
 * Takes the fraction done, 0 to 1, any number of times. Logs a line for each twentieth, but never two within two
 * seconds. The end has a line of its own elsewhere, so a short task logs no progress.
 */
export function progressLog(
  action: string,
  log: Logger,
  clock: Pick<Clock, 'monotonicMs'>,
): (fraction: number) => void {
  let nextFraction = STEP;
  let nextMs = clock.monotonicMs() + PAUSE_MS;
  return (fraction) => {
    if (fraction < nextFraction || fraction >= 1) return;
    const now = clock.monotonicMs();
    if (now < nextMs) return;
    nextFraction = fraction + STEP;
    nextMs = now + PAUSE_MS;
    log.info({ action, progress: Math.round(fraction * 100) / 100 }, 'progress');
  };
}
