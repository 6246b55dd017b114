/** Does the same to many things, a few at once, and collects what failed. */
import { sleep } from '../../core/lib/clock.ts';
import { LoopstreamError } from '../../service/client/index.ts';

/** Of six connections that a browser has to a server over HTTP/1.1, two stay for the rest of the page. */
const AT_ONCE = 4;
/** A server that asks for this much patience this often has another fault. */
const MOST_WAITS = 10;

export interface ActFailure<T> {
  item: T;
  error: unknown;
}

interface RunOptions<T> {
  act: (item: T) => Promise<unknown>;
  /** Called when one of them is over, with the error if it failed. */
  onOver?: (item: T, error?: unknown) => void;
  /** No other one begins after this; what has begun is finished. */
  signal?: AbortSignal;
}

/** An answer to too many requests names a pause. The things after it wait as well. */
async function actWithPatience<T>(item: T, { act, signal }: RunOptions<T>): Promise<void> {
  for (let waits = 0; ; waits += 1) {
    try {
      return void (await act(item));
    } catch (error) {
      const seconds = error instanceof LoopstreamError && error.isPassing ? error.retryAfterSeconds : undefined;
      if (seconds === undefined || waits >= MOST_WAITS || signal?.aborted) throw error;
      await sleep(seconds * 1000, signal).catch(() => Promise.reject(error));
    }
  }
}

/** Returns the failures. One that fails stops no other. */
export async function runAll<T>(items: readonly T[], options: RunOptions<T>): Promise<ActFailure<T>[]> {
  const failures: ActFailure<T>[] = [];
  const left = items.values();
  const work = async () => {
    for (const item of left) {
      if (options.signal?.aborted) return;
      const error = await actWithPatience(item, options).then(
        () => undefined,
        (reason: unknown) => reason ?? new Error('It failed without a reason.'),
      );
      if (error !== undefined) failures.push({ item, error });
      options.onOver?.(item, error);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return failures;
}
