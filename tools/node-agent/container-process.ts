/**
 * Runs a container once: a child process that leads a session of its own. When the first process ends, the others are
 * killed, as in a container's process namespace. `spawnChild` of local/ does not fit: a container's output passes
 * through the agent, which gives each line its time for `kubectl logs`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { identify, signal } from '../process/identity.ts';
import type { ContainerLog } from './container-log.ts';
import { type ContainerProcessRecord, killMembers, MARKER } from './proc.ts';

export interface ContainerProcessOptions {
  argv: readonly string[];
  env: Record<string, string>;
  cwd: string;
  log: ContainerLog;
  /** The record of the running process, for the next agent to find. */
  recordFile: string;
  /** Names this run among all. */
  marker: string;
}

export interface ContainerExit {
  exitCode: number;
  signal?: number;
  /** Why it could not be started at all. */
  startError?: string;
}

export class ContainerProcess {
  readonly exited: Promise<ContainerExit>;
  readonly #child: ChildProcess;
  readonly #pid: number | undefined;
  readonly #marker: string;
  #timer: NodeJS.Timeout | undefined;
  #killAt = Number.POSITIVE_INFINITY;
  #gone = false;

  constructor(options: ContainerProcessOptions) {
    const { argv, env, cwd, log, recordFile, marker } = options;
    const [command = '', ...args] = argv;
    this.#child = spawn(command, args, {
      cwd,
      env: { ...env, [MARKER]: marker },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#pid = this.#child.pid;
    this.#marker = marker;
    this.#record(recordFile);
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#child[stream]?.on('data', (chunk: Buffer) => log.write(stream, chunk));
      // A pipe that breaks costs lines, not the agent.
      this.#child[stream]?.on('error', () => {});
    }
    this.exited = this.#watch(log, recordFile);
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  /** Whether it was asked to end. */
  get ending(): boolean {
    return this.#killAt !== Number.POSITIVE_INFINITY;
  }

  /**
   * Asks the first process to end (SIGTERM, or what is given), as container runtimes do, and kills its group after
   * `graceMs`: what it started is its own to end, in its own time. Repeating it can only bring the end closer. A
   * container whose processes cannot be killed stays, as on any node, until the kernel ends them.
   */
  terminate(graceMs: number, how: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): void {
    const pid = this.#pid;
    if (this.#gone || pid === undefined) return;
    if (!this.ending && graceMs > 0) signal(pid, how);
    const killAt = performance.now() + graceMs;
    if (killAt >= this.#killAt) return;
    this.#killAt = killAt;
    clearTimeout(this.#timer);
    if (graceMs <= 0) this.#kill(pid);
    else this.#timer = setTimeout(() => this.#kill(pid), graceMs);
  }

  #kill(pid: number): void {
    // Those that left the group are killed when its leader has ended.
    signal(-pid, 'SIGKILL');
  }

  /** Throws when it cannot: a process that the next agent could not find again must not run. */
  #record(file: string): void {
    const pid = this.#pid;
    const identity = pid === undefined ? undefined : identify(pid);
    if (pid === undefined || !identity) return;
    const content: ContainerProcessRecord = { ...identity, marker: this.#marker };
    try {
      writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    } catch (error) {
      this.#child.once('error', () => {});
      this.#kill(pid);
      throw error;
    }
  }

  async #watch(log: ContainerLog, recordFile: string): Promise<ContainerExit> {
    const exit = await new Promise<ContainerExit>((resolve) => {
      this.#child.once('error', (error) => resolve({ exitCode: 128, startError: error.message }));
      this.#child.once('exit', (code, name) => resolve(toExit(code, name)));
    });
    if (this.#pid !== undefined) await killMembers(this.#pid, this.#marker);
    this.#gone = true;
    clearTimeout(this.#timer);
    await drained(this.#child);
    log.end();
    rmSync(recordFile, { force: true });
    return exit;
  }
}

function toExit(code: number | null, name: NodeJS.Signals | null): ContainerExit {
  if (name === null) return { exitCode: code ?? 0 };
  const number = constants.signals[name];
  // Shells and container runtimes show a process that a signal ended as 128 + its number.
  return { exitCode: 128 + number, signal: number };
}

/** A record that an earlier agent wrote; undefined when it is not one. */
export function readRecord(file: string): ContainerProcessRecord | undefined {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as Partial<ContainerProcessRecord>;
    return content.pid && content.startTicks && content.marker ? (content as ContainerProcessRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** How long the last output may take to arrive when something outside the session holds the pipe open. */
const DRAIN_MS = 500;

function drained(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve();
    };
    const timer = setTimeout(finish, DRAIN_MS);
    if (child.pid === undefined || (child.stdout?.readableEnded && child.stderr?.readableEnded)) finish();
    else child.once('close', finish);
  });
}
