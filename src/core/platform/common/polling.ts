/** Runs the rounds of an observer of an API: one at a time, when something is due or the targets have changed. */
import { once } from 'node:events';
import { sleep as realSleep } from '../../lib/clock.ts';
import type { Observer, ObserverDeps, PlatformTarget } from './observer.ts';

export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** An observer reports at least this often, so that what it knows stays valid. */
export const REPORT_EVERY_MS = 30_000;
const AT_LEAST_MS = 100;

/** `poll` returns the time until it is due again. Without targets it only forgets, and then it is not called until there are some. */
export function startPolling(
  { signal, log }: Pick<ObserverDeps, 'signal' | 'log'>,
  poll: (targets: readonly PlatformTarget[]) => Promise<number>,
  sleep: Sleep = realSleep,
): Observer {
  let targets: readonly PlatformTarget[] = [];
  let wake = new AbortController();

  const run = async () => {
    while (!signal.aborted) {
      wake = new AbortController();
      const ended = AbortSignal.any([signal, wake.signal]);
      const isIdle = targets.length === 0;
      let waitMs = REPORT_EVERY_MS;
      try {
        waitMs = Math.max(AT_LEAST_MS, Math.min(waitMs, await poll(targets)));
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'a round of an observer failed');
      }
      if (ended.aborted) continue;
      if (isIdle) await once(ended, 'abort');
      else await sleep(waitMs, ended).catch(() => undefined);
    }
  };
  return {
    update(next) {
      targets = next;
      wake.abort();
    },
    ended: run(),
  };
}
