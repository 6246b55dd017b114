/** Runs several tasks at once, with a limit. */
import pMap from 'p-map';

/** Enough to hide the latency of a server, and few enough to leave it time for other clients. */
const DEFAULT_CONCURRENCY = 16;

/**
 * Runs the task for each item, even if it fails for some of them: then rejects at the end with the first error. Starts
 * no more tasks once the signal is aborted, waits for the running ones, and rejects with its reason.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  task: (item: T) => Promise<void>,
  signal: AbortSignal,
  concurrency = DEFAULT_CONCURRENCY,
): Promise<void> {
  // p-map's own `signal` rejects at once and leaves running tasks behind.
  const run = async (item: T) => {
    if (!signal.aborted) await task(item);
  };
  const failure = await pMap(items, run, { concurrency, stopOnError: false }).then(
    () => undefined,
    (error: AggregateError) => error,
  );
  signal.throwIfAborted();
  if (failure) throw failure.errors[0];
}
