/** Reads the cost of processes from /proc (proc(5)): processor time and memory of a process with all its descendants. */
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ: Linux counts processor time for programs in hundredths of a second on every architecture Node runs on. */
const TICKS_PER_SECOND = 100;

interface ProcStat {
  pid: number;
  parent: number;
  cpuSeconds: number;
}

function readStat(pid: string): ProcStat | undefined {
  try {
    // The name is in parentheses and may contain anything, so fields are counted from the last one.
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    return { pid: Number(pid), parent: Number(fields[1]), cpuSeconds };
  } catch {
    return undefined;
  }
}

/** Returns these processes and all their running descendants. */
function listFamilies(roots: readonly number[]): ProcStat[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name) ?? []);
  const members = new Set(roots);
  for (let before = 0; before !== members.size; ) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid));
}

/** Returns user and system seconds so far. */
export const sumCpuSeconds = (roots: readonly number[]): number =>
  listFamilies(roots).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

/** Returns the proportional set size in MiB: shared pages count as a share each. */
export function sumPssMib(roots: readonly number[]): number {
  const kib = listFamilies(roots).map(({ pid }) => {
    try {
      return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kib.reduce((sum, n) => sum + n, 0) / 1024;
}

/** Returns the voluntary context switches so far, of all threads: how often they have waited for something, and were woken. */
export function countSwitches(roots: readonly number[]): number {
  const counts = listFamilies(roots).flatMap(({ pid }) => {
    try {
      return readdirSync(`/proc/${pid}/task`).map((task) => {
        const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'latin1');
        return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      });
    } catch {
      return [];
    }
  });
  return counts.reduce((sum, n) => sum + n, 0);
}

/** Returns the user and system seconds of the children of this process that have ended, with their own children. */
export function readEndedChildrenSeconds(): number {
  const text = readFileSync('/proc/self/stat', 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
