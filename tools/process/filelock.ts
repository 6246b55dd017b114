/** Locks between processes with a file that names its holder; a lock whose holder is gone is taken over. */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep } from '../../src/core/lib/clock.ts';
import { identify, isAlive, type ProcessIdentity } from './identity.ts';

export interface LockOptions {
  /** Told once, when the lock is held by another process, with that process's number. */
  onWait?: (holder: number) => void;
  signal?: AbortSignal | undefined;
}

/** Runs `work` while holding the lock. Not for two users within one process: its holder is a process. */
export async function withFileLock<T>(file: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const mine = `${file}.${process.pid}`;
  const me = JSON.stringify(identify(process.pid) ?? { pid: process.pid, startTicks: '', bootId: '' });
  let waiting = false;
  while (!take(file, mine, me)) {
    const content = readHolder(file);
    const holder = content === undefined ? undefined : parse(content);
    if (content !== undefined && (!holder || !isAlive(holder))) {
      breakStale(file, mine, content);
      continue;
    }
    if (!waiting && holder) options.onWait?.(holder.pid);
    waiting = true;
    await sleep(300, options.signal);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** A link appears with its content or not at all, so no one ever reads a half-written holder. */
function take(file: string, mine: string, me: string): boolean {
  writeFileSync(mine, me, { mode: 0o600 });
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Only one process can rename a given file away; a process that moved a newer lock puts it back. */
function breakStale(file: string, mine: string, stale: string): void {
  const aside = `${mine}.stale`;
  try {
    renameSync(file, aside);
    if (readHolder(aside) !== stale) linkSync(aside, file);
  } catch {
    // Someone else was faster; the next round sees whose lock it is now.
  } finally {
    rmSync(aside, { force: true });
  }
}

function readHolder(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parse(content: string): ProcessIdentity | undefined {
  try {
    const holder = JSON.parse(content) as Partial<ProcessIdentity>;
    return typeof holder.pid === 'number' ? (holder as ProcessIdentity) : undefined;
  } catch {
    return undefined;
  }
}
