/** Passes the clock as an argument: code that decides by time takes a Clock, and tests pass their own. */
export interface Clock {
  /** Wall clock. */
  now(): Date;
  /** Milliseconds of a clock that never goes back (performance.now). */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};

/** RFC 3339 in whole seconds, as Kubernetes writes its timestamps. */
export const kubeTime = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z');

/** RFC 3339 with the milliseconds, if there are any. */
export const exactTime = (date: Date): string => date.toISOString().replace('.000Z', 'Z');

/** Resolves after `ms`, or rejects with the signal's reason when that comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const done = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
