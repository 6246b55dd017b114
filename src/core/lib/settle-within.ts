/**
 * Waits for a promise with a time limit. (Each Promise.race would leave a reaction on a long-lived promise, which leaks
 * over a long body.) Pure: no I/O.
 */

/**
 * Resolves to whether `promise` settled within `ms`, which may be Infinity, and before the signal aborts. Never
 * rejects.
 */
export async function settlesWithin(promise: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return false;
  const { promise: outcome, resolve } = Promise.withResolvers<boolean>();
  const over = () => resolve(false);
  const timer = Number.isFinite(ms) ? setTimeout(over, ms) : undefined;
  signal?.addEventListener('abort', over);
  const settled = () => resolve(true);
  promise.then(settled, settled);
  try {
    return await outcome;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', over);
  }
}
