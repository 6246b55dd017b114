/**
 * Identifies a process beyond its number. Numbers are used again, so its identity includes its start time and the boot
 * (proc(5)). Without /proc no process is ever recognised, and so none is killed.
 */
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks from boot to the start of the process: field 22 of /proc/PID/stat. */
  startTicks: string;
  bootId: string;
}

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** The process that has this number now; undefined when there is none or it is a zombie, which holds nothing any more. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (!stat) return undefined;
  // The second field is the program's name in brackets and may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (!startTicks || state === 'Z' || state === 'X') return undefined;
  return { pid, startTicks, bootId: read('/proc/sys/kernel/random/boot_id')?.trim() ?? '' };
}

/** Whether the process that was recorded still runs. */
export function isAlive(recorded: ProcessIdentity): boolean {
  const now = identify(recorded.pid);
  return now !== undefined && now.startTicks === recorded.startTicks && now.bootId === recorded.bootId;
}

/** Sends a signal to a process, or with a negative number to its group; false when there is none to receive it. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
