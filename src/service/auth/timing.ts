/**
 * Responds at evenly spaced times, so that the duration does not show the result: an address with an account takes a
 * statement or two more (OWASP ASVS 4.0, section 2.2.1). Passwords are hashed in any case; this hides the rest.
 */
import { type Clock, sleep, systemClock } from '../../core/lib/clock.ts';

/** Longer than any of it takes on a machine that is not overloaded. */
const STEP_MS = 250;

/** How long an answer is to be held that took so long: until the next multiple of the step. */
export const computeRemainingMs = (tookMs: number, stepMs = STEP_MS): number =>
  Math.ceil(tookMs / stepMs) * stepMs - tookMs;

/** Resolves to what `work` does, and not before an even time after its begin; `isHeld` says whether that matters. */
export async function hideDuration<T>(
  work: () => Promise<T>,
  isHeld: (result: T) => boolean,
  { clock = systemClock, wait = sleep }: { clock?: Clock; wait?: (ms: number) => Promise<void> } = {},
): Promise<T> {
  const begun = clock.monotonicMs();
  const result = await work();
  if (isHeld(result)) await wait(computeRemainingMs(clock.monotonicMs() - begun));
  return result;
}
