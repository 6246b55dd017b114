/** Keeps one local system per state directory: finds its process, waits for it and stops it. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { sleep } from '../../src/core/lib/clock.ts';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { identify, isAlive, type ProcessIdentity, signal } from '../process/identity.ts';
import type { LocalState } from './state.ts';

const recordFile = (state: LocalState) => state.path('supervisor.json');

/** The process that runs the local system of this directory now; undefined when none does. */
export function runningSupervisor(state: LocalState): ProcessIdentity | undefined {
  try {
    const record = JSON.parse(readFileSync(recordFile(state), 'utf8')) as ProcessIdentity;
    return isAlive(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** One sentence, thrown, when another process runs the local system of this directory. */
export function refuseSecond(state: LocalState): void {
  const running = runningSupervisor(state);
  if (running && running.pid !== process.pid) {
    throw new ConfigError(`loopstream is already running (process ${running.pid}). Stop it first with \`make stop\`.`);
  }
}

/** Makes this process the supervisor. */
export function claimSupervisor(state: LocalState): void {
  refuseSecond(state);
  writeFileSync(recordFile(state), JSON.stringify(identify(process.pid)), { mode: 0o600 });
}

export function releaseSupervisor(state: LocalState): void {
  state.removeFacts();
  rmSync(recordFile(state), { force: true });
}

/** Asks the running supervisor to stop and waits until it is gone; false when none was running. */
export async function stopSupervisor(state: LocalState, timeoutMs = 30_000): Promise<boolean> {
  const running = runningSupervisor(state);
  if (!running) return false;
  signal(running.pid, 'SIGTERM');
  for (let waitedMs = 0; isAlive(running); waitedMs += 50) {
    if (waitedMs > timeoutMs) throw new Error(`Process ${running.pid} did not stop within ${timeoutMs / 1000} s.`);
    await sleep(50);
  }
  return true;
}

/** Waits until the supervisor with this number has written its facts (true) or has ended (false). */
export async function untilReadyOrGone(state: LocalState, pid: number, onPoll: () => void): Promise<boolean> {
  const started = identify(pid);
  for (;;) {
    onPoll();
    if (existsSync(state.path('local.json')) && state.readFacts()?.pid === pid) return true;
    if (!started || !isAlive(started)) return false;
    await sleep(100);
  }
}
