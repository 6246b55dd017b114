/**
 * Runs the children of the embedded default. Each leads a process group of its own, so that Ctrl-C in the terminal
 * reaches only the parent, which stops them in order. Each is recorded in the state directory (pids/PID.json), so that
 * the next start finds and ends the children of a killed parent.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sleep } from '../../src/core/lib/clock.ts';
import { identify, isAlive, type ProcessIdentity, signal } from './identity.ts';

/** A log that is larger than this when its program starts is put aside as FILE.1. */
const LOG_ROTATE_BYTES = 16 * 2 ** 20;
const LAST_LINES = 12;
const LAST_BYTES = 8192;

export interface ChildSpec {
  /** The name in messages, e.g. `kube-apiserver`. */
  name: string;
  /** An absolute path, or a name that is looked up in `env.PATH`. */
  command: string;
  /** Others on the machine can read these: never a secret. */
  args: readonly string[];
  /** The child's whole environment; nothing is inherited. */
  env: Record<string, string>;
  cwd?: string;
  /** stdout and stderr are appended here; directories are made as needed. */
  logFile: string;
  /** The directory of the child's record, as for `sweepLeftovers`. */
  stateDir: string;
  /** The signal that ends it; SIGTERM by default (Postgres: SIGINT). */
  stopSignal?: NodeJS.Signals;
  uid?: number;
  gid?: number;
}

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Whether `stop` was called before. */
  expected: boolean;
  /** The end of the log, 12 lines at most. */
  lastLogLines: string[];
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  /** Asks, and after `graceMs` (5 s by default) kills it with all it started. Resolves once gone; safe to repeat. */
  stop(graceMs?: number): Promise<void>;
}

interface PidRecord extends ProcessIdentity {
  name: string;
  parent: ProcessIdentity;
}

/** Starts a child; rejects with one sentence when the program cannot be started. */
export async function spawnChild(spec: ChildSpec): Promise<Child> {
  const { process, logFrom } = spawnLogged(spec);
  // Recorded before anything is awaited: a parent killed from here on leaves nothing that the next start cannot find.
  const record = process.pid === undefined ? undefined : recordChild(spec, process.pid);
  let stopping = false;
  const exited = new Promise<ChildExit>((resolve) => {
    process.once('exit', (code, exitSignal) => {
      // Processes that the child started must not outlive it; none left is the normal case.
      if (process.pid !== undefined) signal(-process.pid, 'SIGKILL');
      if (record) rmSync(record, { force: true });
      const exit = { code, signal: exitSignal, expected: stopping };
      void lastLogLines(spec.logFile, logFrom).then((lines) => resolve({ ...exit, lastLogLines: lines }));
    });
  });
  const pid = await started(process, spec);
  let stopped: Promise<void> | undefined;
  return {
    name: spec.name,
    pid,
    exited,
    stop: (graceMs = 5000) => {
      stopping = true;
      stopped ??= stopProcess(process, pid, exited, spec.stopSignal ?? 'SIGTERM', graceMs);
      return stopped;
    },
  };
}

/** `logFrom`: where in its log the words of this run begin. */
function spawnLogged(spec: ChildSpec): { process: ChildProcess; logFrom: number } {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const size = statSync(spec.logFile, { throwIfNoEntry: false })?.size ?? 0;
  const rotates = size > LOG_ROTATE_BYTES;
  if (rotates) renameSync(spec.logFile, `${spec.logFile}.1`);
  const log = openSync(spec.logFile, 'a', 0o600);
  try {
    const process = spawn(spec.command, spec.args, {
      env: spec.env,
      detached: true,
      stdio: ['ignore', log, log],
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
      ...(spec.uid === undefined ? {} : { uid: spec.uid }),
      ...(spec.gid === undefined ? {} : { gid: spec.gid }),
    });
    return { process, logFrom: rotates ? 0 : size };
  } finally {
    closeSync(log);
  }
}

/** The child's number once it runs. */
function started(child: ChildProcess, spec: ChildSpec): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'the program or directory does not exist' : error.message;
      reject(new Error(`${spec.name} could not be started from ${spec.command}: ${why}.`, { cause: error }));
    });
  });
}

async function stopProcess(
  child: ChildProcess,
  pid: number,
  exited: Promise<unknown>,
  stopSignal: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  const running = () => child.exitCode === null && child.signalCode === null;
  if (running()) signal(pid, stopSignal);
  const timer = setTimeout(() => running() && signal(-pid, 'SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}

/** The end of a log file, not before the byte `logFrom`; empty when there is none. */
export async function lastLogLines(logFile: string, logFrom = 0): Promise<string[]> {
  try {
    await using file = await open(logFile);
    const { size } = await file.stat();
    const from = Math.max(logFrom, size - LAST_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LAST_BYTES), 0, LAST_BYTES, from);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    return lines.filter((line) => line.trim() !== '').slice(-LAST_LINES);
  } catch {
    return [];
  }
}

const recordsIn = (stateDir: string): string => join(stateDir, 'pids');

function recordChild(spec: ChildSpec, pid: number): string | undefined {
  const [child, parent] = [identify(pid), identify(process.pid)];
  if (!child || !parent) return undefined;
  const record: PidRecord = { name: spec.name, ...child, parent };
  const file = join(recordsIn(spec.stateDir), `${pid}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
  return file;
}

/**
 * Ends what an earlier parent left behind: recorded processes, with their groups, that are still the same process
 * (`identity.ts`) and whose parent is gone. Asks first and kills after `graceMs`. Resolves to the names of what it ended.
 * Throws one sentence when the parent still runs, unless `evenInUse`: then this state directory is in use.
 */
export async function sweepLeftovers(stateDir: string, { graceMs = 3000, evenInUse = false } = {}): Promise<string[]> {
  const leftovers: { file: string; record: PidRecord }[] = [];
  for (const file of recordFiles(stateDir)) {
    const record = readRecord(file);
    if (!record || !isAlive(record)) {
      rmSync(file, { force: true });
      continue;
    }
    if (record.parent.pid === process.pid && isAlive(record.parent)) continue;
    if (isAlive(record.parent) && !evenInUse) {
      throw new Error(
        `${stateDir} is in use by the running process ${record.parent.pid}. Stop that process, or choose another state directory.`,
      );
    }
    leftovers.push({ file, record });
  }
  await Promise.all(leftovers.map(({ record }) => endLeftover(record, graceMs)));
  for (const { file } of leftovers) rmSync(file, { force: true });
  return leftovers.map(({ record }) => record.name);
}

async function endLeftover(record: PidRecord, graceMs: number): Promise<void> {
  signal(-record.pid, 'SIGTERM');
  // It is not our child any more, so there is no exit to wait for: its entry in /proc is looked at until it is gone.
  for (let waitedMs = 0; isAlive(record) && waitedMs < graceMs; waitedMs += 50) await sleep(50);
  // The group of a leader that ended may still have members, and a number is not given away while it names a group.
  signal(-record.pid, 'SIGKILL');
  for (let waitedMs = 0; isAlive(record) && waitedMs < 5000; waitedMs += 20) await sleep(20);
}

function recordFiles(stateDir: string): string[] {
  try {
    return readdirSync(recordsIn(stateDir)).map((name) => join(recordsIn(stateDir), name));
  } catch {
    return [];
  }
}

function readRecord(file: string): PidRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as Partial<PidRecord>;
    return record.pid && record.startTicks && record.parent ? (record as PidRecord) : undefined;
  } catch {
    return undefined;
  }
}
