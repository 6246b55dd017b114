/** Does the work that the database says is due: when it notifies of it, and when the next time comes. */
import { sleep } from '../../core/lib/clock.ts';
import type { NotificationHandlers } from './listen.ts';

/** Notifications may be lost. */
const POLL_MS = 10_000;
const LEAST_MS = 10;
const RETRY_MS = 1_000;

export interface DueWork {
  /** Begins the work that is due, and returns whether there may be more of it at once. */
  begin: () => Promise<boolean>;
  /** Milliseconds until work is due; undefined where none waits. */
  findNextDueMs: () => Promise<number | undefined>;
  /** Receives the error of a try, which is repeated. */
  onError: (err: unknown) => void;
}

export interface RunningWork {
  /** Reads at once what is due. */
  poke: () => void;
  /** Resolves when the signal has aborted and no work begins any more. */
  ended: Promise<void>;
  handlers: NotificationHandlers;
}

export function runWhenDue({ begin, findNextDueMs, onError }: DueWork, signal: AbortSignal): RunningWork {
  let wake = Promise.withResolvers<void>();
  const poke = () => wake.resolve();
  signal.addEventListener('abort', poke, { once: true });

  async function waitFor(ms: number): Promise<void> {
    const timer = setTimeout(poke, ms);
    await wake.promise;
    clearTimeout(timer);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      wake = Promise.withResolvers();
      try {
        if (await begin()) continue;
        await waitFor(Math.min(POLL_MS, Math.max(LEAST_MS, (await findNextDueMs()) ?? POLL_MS)));
      } catch (err) {
        if (signal.aborted) return;
        onError(err);
        await sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  return { poke, ended: run(), handlers: { onConnect: poke, onNotify: poke } };
}
