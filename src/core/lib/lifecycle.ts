/**
 * Acquires resources together with their release, and releases them in reverse order, once, each within its time. There
 * is one per process: SIGTERM and SIGINT begin the shutdown, and a second signal ends the process at once.
 */
import type { Logger } from './log.ts';

type Release = () => Promise<void> | void;

export class Lifecycle {
  /** A first SIGTERM waits for this before anything is stopped. SIGINT, and a second signal, do not wait. */
  linger: (() => Promise<void>) | undefined;
  /** Exit status after a signal. A Job that was stopped before its end sets another one, so that it is tried again. */
  exitStatus = 0;
  readonly #releases: { name: string; release: Release; timeoutMs: number }[] = [];
  readonly #abort = new AbortController();
  readonly #log: Logger | undefined;
  #stopping: Promise<void> | undefined;

  constructor(log?: Logger) {
    this.#log = log;
  }

  /** Aborted as soon as stopping begins. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Registers what undoes an acquisition; a release that takes longer than `timeoutMs` is left behind and logged. */
  defer(name: string, release: Release, timeoutMs = 10_000): void {
    this.#releases.push({ name, release, timeoutMs });
  }

  /** Releases everything in reverse order; safe to call again. */
  stop(reason = 'stopped'): Promise<void> {
    this.#stopping ??= this.#stop(reason);
    return this.#stopping;
  }

  async #stop(reason: string): Promise<void> {
    this.#abort.abort(new Error(reason));
    for (const { name, release, timeoutMs } of this.#releases.reverse()) {
      const { promise: late, resolve } = Promise.withResolvers<'late'>();
      const timer = setTimeout(resolve, timeoutMs, 'late');
      try {
        if ((await Promise.race([release(), late])) === 'late')
          this.#log?.warn({ part: name, timeoutMs }, 'a resource was not released in time');
      } catch (error) {
        this.#log?.warn({ part: name, err: error }, 'a resource could not be released');
      } finally {
        clearTimeout(timer);
      }
    }
  }

  /** Ends the process on SIGTERM or SIGINT after everything was released: exitStatus, or 130 on a second signal. */
  exitOnSignal(): void {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.#stopping) process.exit(130);
        const stop = () => void this.stop(signal).then(() => process.exit(this.exitStatus));
        if (asked || signal === 'SIGINT' || !this.linger) stop();
        else void this.linger().then(stop, stop);
        asked = true;
      });
    }
  }
}
