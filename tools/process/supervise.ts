/** Keeps the parts of the local system running: each that ends unasked is started again, until it ends too often. */
import { sleep } from '../../src/core/lib/clock.ts';
import type { Logger } from '../../src/core/lib/log.ts';
import { settlesWithin } from '../../src/core/lib/settle-within.ts';
import { type Child, type ChildExit, type ChildSpec, spawnChild } from './processes.ts';
import { decideRestart, MAX_ENDS } from './restart-policy.ts';

const READY_TIMEOUT_MS = 60_000;
const HELD_RETRY_MS = 100;

export interface PartSpec extends ChildSpec {
  /** Resolves when the part serves; may wait for as long as the signal is not aborted. Without it a part serves once it runs. */
  untilReady?: (signal: AbortSignal) => Promise<void>;
  /** A part whose start fails without these: each of its starts waits for them. */
  needs?: readonly Part[];
  /** Runs before each start. */
  prepare?: () => Promise<void>;
  /** An end with such last words does not count: what the part needs is still held by the processes of its last run. */
  held?: RegExp;
}

export interface Part {
  readonly name: string;
  /** The process that runs now or ran last; 0 before the first. */
  readonly pid: number;
  /** Resolves when the part serves for the first time; rejects with one sentence after a minute, or when it ended too often. */
  readonly started: Promise<void>;
  /** Resolves once the part serves, at once if it does now. */
  untilServing(): Promise<void>;
  /** Ends the part for good, also while it is being started again. `graceMs` is 5 s by default. */
  stop(graceMs?: number): Promise<void>;
}

type GiveUp = (sentence: string, lastLogLines: readonly string[]) => void;

export interface SupervisorOptions {
  log: Logger;
  /** Takes one plain line for a person. */
  say?: (line: string) => void;
  /** Once aborted, nothing is started again. */
  signal?: AbortSignal | undefined;
  /** Called once, with the sentence that says why and the last lines of the part. */
  onGiveUp?: GiveUp;
  decide?: typeof decideRestart;
}

export interface Supervisor {
  start(spec: PartSpec): Part;
  /** Rejects when a part has ended too often. */
  readonly failed: Promise<never>;
  /** Ends all parts for good, in no order: those of a start that was interrupted have nobody else. */
  stop(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const giveUp: GiveUp = (sentence, lastLogLines) => {
    failed.reject(new Error(`${sentence} ${lastLogLines.at(-1) ?? ''}`.trim()));
    options.onGiveUp?.(sentence, lastLogLines);
  };
  const parts: Part[] = [];
  const start = (spec: PartSpec): Part => {
    const part = new SupervisedPart(spec, options, giveUp);
    parts.push(part);
    return part;
  };
  const stop = async () => void (await Promise.all(parts.map((part) => part.stop())));
  return { failed: failed.promise, start, stop };
}

/** Runs each part once, for those that start a part again themselves. */
export const createRunOnce = (log: Logger): Supervisor => createSupervisor({ log, decide: () => ({ restart: false }) });

const describeExit = ({ code, signal }: Pick<ChildExit, 'code' | 'signal'>): string =>
  signal ? `signal ${signal}` : code === null ? 'it could not be started' : `exit code ${code}`;

class SupervisedPart implements Part {
  readonly started: Promise<void>;
  readonly #spec: PartSpec;
  readonly #options: SupervisorOptions;
  readonly #giveUp: GiveUp;
  readonly #stopping = new AbortController();
  readonly #endedAt: number[] = [];
  readonly #running: Promise<void>;
  #serving = Promise.withResolvers<void>();
  #serves = false;
  #child: Child | undefined;
  #graceMs: number | undefined;

  constructor(spec: PartSpec, options: SupervisorOptions, giveUp: GiveUp) {
    this.#spec = spec;
    this.#options = options;
    this.#giveUp = giveUp;
    this.#serving.promise.catch(() => undefined);
    this.#running = this.#run();
    this.started = this.#firstStart();
    this.started.catch(() => undefined);
  }

  get name(): string {
    return this.#spec.name;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  untilServing(): Promise<void> {
    return this.#serving.promise;
  }

  async stop(graceMs?: number): Promise<void> {
    this.#graceMs = graceMs;
    this.#stopping.abort(new Error(`${this.name} was stopped.`));
    await this.#child?.stop(graceMs);
    await this.#running;
  }

  async #firstStart(): Promise<void> {
    const serving = this.#serving.promise;
    if (!(await settlesWithin(serving, READY_TIMEOUT_MS)))
      throw new Error(`${this.name} is not ready after a minute. See ${this.#spec.logFile}.`);
    await serving;
  }

  get #isOver(): boolean {
    return this.#stopping.signal.aborted || this.#options.signal?.aborted === true;
  }

  async #run(): Promise<void> {
    const { held } = this.#spec;
    while (!this.#isOver) {
      const exit = await this.#runOnce().catch((error: Error) => ({
        code: null,
        signal: null,
        expected: this.#isOver,
        lastLogLines: [error.message],
      }));
      if (this.#isOver) break;
      const pauseMs = held?.test(exit.lastLogLines.join('\n')) ? HELD_RETRY_MS : this.#decide(exit);
      if (pauseMs === undefined) return;
      await sleep(pauseMs, this.#stopping.signal).catch(() => undefined);
    }
    if (!this.#serves) this.#serving.reject(new Error(`${this.name} was stopped.`));
  }

  /** The pause before the next start; undefined when there is none. */
  #decide(exit: ChildExit): number | undefined {
    const { log, say, decide = decideRestart } = this.#options;
    const { code, signal, lastLogLines } = exit;
    this.#endedAt.push(performance.now());
    const decision = decide(this.#endedAt);
    log.error({ part: this.name, code, signal, lastLogLines }, 'a part of the local system ended');
    const ended = `${this.name} ended (${describeExit(exit)})`;
    if (decision.restart) {
      say?.(`${ended}; starting it again`);
      return decision.pauseMs;
    }
    const sentence =
      this.#endedAt.length < MAX_ENDS ? `${ended}.` : `${ended}, ${MAX_ENDS} times in a minute, so everything stops.`;
    this.#serving.reject(new Error(`${sentence} ${lastLogLines.at(-1) ?? ''} See ${this.#spec.logFile}.`));
    this.#giveUp(sentence, lastLogLines);
    return undefined;
  }

  async #runOnce(): Promise<ChildExit> {
    const { needs = [], prepare } = this.#spec;
    const serving = Promise.all(needs.map((part) => part.untilServing()));
    if (!(await settlesWithin(serving, Number.POSITIVE_INFINITY, this.#stopping.signal)))
      throw this.#stopping.signal.reason;
    await serving;
    await prepare?.();
    this.#child = await spawnChild(this.#spec);
    const { exited } = this.#child;
    // A stop was requested while it was starting.
    if (this.#isOver) await this.#child.stop(this.#graceMs);
    const ended = new AbortController();
    void this.#watch(AbortSignal.any([ended.signal, this.#stopping.signal]));
    const exit = await exited;
    ended.abort(new Error(`${this.name} ended.`));
    if (this.#serves) this.#serving = Promise.withResolvers();
    this.#serving.promise.catch(() => undefined);
    this.#serves = false;
    return exit;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    try {
      await this.#spec.untilReady?.(signal);
    } catch (err) {
      if (!signal.aborted)
        this.#options.log.warn({ err, part: this.name }, 'the readiness of a part cannot be checked');
      return;
    }
    if (signal.aborted) return;
    this.#serves = true;
    this.#serving.resolve();
    if (this.#endedAt.length > 0) this.#options.say?.(`${this.name} is back`);
  }
}
