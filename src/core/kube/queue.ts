/**
 * Queues keys for reconciliation. Two workers never process a key at the same time. Adding a waiting key changes
 * nothing; adding a key in process makes one more run afterwards. Only the monotonic clock is used, so that a change of
 * the wall clock neither hurries nor delays anything.
 */
import { type Backoff, backoffMs } from '../lib/backoff.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { outside } from '../lib/context.ts';
import type { Logger } from '../lib/log.ts';
import { KubeError } from './types.ts';

/** Node's timers count in 32 bits; a key that is due later gets a timer again in between. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface RunOutcome {
  requeueAfterMs?: number | undefined;
}
export type Process = (key: string) => Promise<RunOutcome | undefined> | Promise<void>;

/** Observes a queue's keys; times are in milliseconds. */
export interface QueueObserver {
  /** A key waits for a worker that did not wait before. */
  added(): void;
  started(waitedMs: number): void;
  done(tookMs: number): void;
  /** A run has thrown, and comes again after a backoff. */
  retried(): void;
}

export interface QueueOptions {
  /** How many keys are worked on at the same time. */
  workers: number;
  /** An error is logged and the key retried after a backoff; `requeueAfterMs` asks for a later run. */
  process: Process;
  backoff?: Backoff;
  log: Logger;
  clock?: Clock;
  /** Collects keys until `resume()`, e.g. until the caches are filled. */
  paused?: boolean;
  observer?: QueueObserver | undefined;
}

export interface WorkQueue {
  add(key: string): void;
  /** Adds the key after `ms`; of several such calls for a key the earliest counts. */
  addAfter(key: string, ms: number): void;
  resume(): void;
  /** Accepts nothing more and resolves when the running ones have ended. Waiting keys are dropped. */
  stop(): Promise<void>;
  /** Keys that wait for a worker. */
  readonly depth: number;
  readonly running: number;
  /** Keys that wait for their time. */
  readonly delayed: number;
  /** How often runs have thrown, since the start. */
  readonly failures: number;
  /** How long each run that is under way has taken so far, in milliseconds. */
  runningMs(): number[];
}

export function createQueue(options: QueueOptions): WorkQueue {
  const { workers, process, log, observer, clock = systemClock } = options;
  const { backoff = { baseMs: 200, maxMs: 60_000 } } = options;
  /** Key → since when it waits. */
  const waiting = new Map<string, number>();
  /** Key → since when it is worked on. */
  const begun = new Map<string, number>();
  const running = new Map<string, Promise<void>>();
  /** Keys added while they are being worked on. */
  const again = new Set<string>();
  const asked = createDelays(clock, (key) => add(key));
  /** The requeue or retry that the last run of a key asked for. The next run decides anew. */
  const outcome = createDelays(clock, (key) => add(key));
  const attempts = new Map<string, number>();
  let failures = 0;
  let stopped = false;
  let paused = options.paused ?? false;

  const fail = (key: string, err: unknown): void => {
    failures++;
    const attempt = (attempts.get(key) ?? 0) + 1;
    attempts.set(key, attempt);
    const retryMs = Math.round(backoffMs(backoff, attempt - 1));
    outcome.set(key, retryMs);
    observer?.retried();
    // A conflict is usual: another client wrote the object first. Repeated conflicts are not.
    const usual = err instanceof KubeError && err.reason === 'Conflict' && attempt < 3;
    log[usual ? 'debug' : 'warn']({ key, attempt, retryMs, err }, 'processing failed');
  };

  const run = async (key: string): Promise<void> => {
    outcome.cancel(key);
    try {
      const { requeueAfterMs } = (await process(key)) ?? {};
      attempts.delete(key);
      if (requeueAfterMs !== undefined && !stopped) outcome.set(key, requeueAfterMs);
    } catch (err) {
      if (!stopped) fail(key, err);
      else log.warn({ key, err }, 'processing failed while stopping');
    } finally {
      running.delete(key);
      observer?.done(clock.monotonicMs() - (begun.get(key) ?? clock.monotonicMs()));
      begun.delete(key);
      if (again.delete(key)) add(key);
      pump();
    }
  };

  const pump = (): void => {
    while (!stopped && !paused && running.size < workers) {
      const [next] = waiting;
      if (next === undefined) return;
      const [key, since] = next;
      waiting.delete(key);
      begun.set(key, clock.monotonicMs());
      observer?.started(clock.monotonicMs() - since);
      // The run begins in a later microtask, so that the caller finishes before its key is processed. It belongs to no caller: several
      // may have added the key.
      running.set(
        key,
        outside(() => Promise.resolve().then(() => run(key))),
      );
    }
  };

  const add = (key: string): void => {
    if (stopped) return;
    if (running.has(key)) again.add(key);
    else if (!waiting.has(key)) {
      waiting.set(key, clock.monotonicMs());
      observer?.added();
    }
    pump();
  };

  return {
    add,
    addAfter: (key, ms) => {
      if (!stopped) asked.set(key, ms);
    },
    resume: () => {
      paused = false;
      pump();
    },
    stop: async () => {
      stopped = true;
      asked.clear();
      outcome.clear();
      waiting.clear();
      again.clear();
      await Promise.all(running.values());
    },
    get depth() {
      return waiting.size;
    },
    get running() {
      return running.size;
    },
    get delayed() {
      return asked.size + outcome.size;
    },
    get failures() {
      return failures;
    },
    runningMs: () => [...begun.values()].map((since) => clock.monotonicMs() - since),
  };
}

/** Timers by key: the earlier of two stays. */
function createDelays(clock: Clock, due: (key: string) => void) {
  const delays = new Map<string, { at: number; timer: NodeJS.Timeout }>();

  const arm = (key: string, at: number): void => {
    const ms = Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil(at - clock.monotonicMs())));
    const timer = setTimeout(() => {
      // Timers may fire a little early, and those of MAX_TIMER_MS do so by design.
      if (clock.monotonicMs() < at) return arm(key, at);
      delays.delete(key);
      due(key);
    }, ms);
    delays.set(key, { at, timer });
  };
  const cancel = (key: string): void => {
    clearTimeout(delays.get(key)?.timer);
    delays.delete(key);
  };

  return {
    set(key: string, ms: number): void {
      const at = clock.monotonicMs() + Math.max(0, ms);
      const before = delays.get(key);
      if (before && before.at <= at) return;
      cancel(key);
      arm(key, at);
    },
    cancel,
    clear: () => {
      for (const key of [...delays.keys()]) cancel(key);
    },
    get size() {
      return delays.size;
    },
  };
}
