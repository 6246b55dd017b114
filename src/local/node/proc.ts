/** The processes of a container: a session of their own, found again by proc(5). */
import { readdirSync, readFileSync } from 'node:fs';
import { sleep } from '../../clock.ts';
import { isAlive, type ProcessIdentity, signal } from '../identity.ts';

/**
 * Marks every process of a container in its environment, so that one whose leader is gone, or that began a session of
 * its own, is known for what it is after the agent was killed.
 */
export const MARKER = 'LOOPSTREAM_NODE_CONTAINER';

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

const processNumbers = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Live processes of the group or session that `leader` began; zombies hold nothing and do not count. */
export function members(leader: number): number[] {
  return processNumbers().filter((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    if (!stat) return false;
    const [state, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return false;
    return Number(group) === leader || Number(session) === leader;
  });
}

/** Kills what is left of a leader's group and session, and resolves when nothing is. */
export async function killMembers(leader: number): Promise<void> {
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 1000)) {
    const left = members(leader);
    if (left.length === 0) return;
    // The group first, at one stroke, so that it cannot fork away from under the list.
    signal(-leader, 'SIGKILL');
    for (const pid of left) signal(pid, 'SIGKILL');
    await sleep(waitMs);
  }
}

export interface ContainerProcessRecord extends ProcessIdentity {
  /** The value of MARKER. */
  marker: string;
}

/** Every live process that carries one of these markers. */
function marked(markers: Set<string>): number[] {
  return processNumbers().filter((pid) => {
    const found = read(`/proc/${pid}/environ`)
      ?.split('\0')
      .find((variable) => variable.startsWith(`${MARKER}=`));
    return found !== undefined && markers.has(found.slice(MARKER.length + 1));
  });
}

const SWEEP_GRACE_MS = 3000;
const SWEEP_KILL_MS = 5000;

/**
 * Ends what the containers of an agent that was killed left running: asks all, kills after 3 s, and resolves when they
 * are gone (or, with a process that even SIGKILL does not end, after 5 s more) to how many there were.
 */
export async function sweepContainers(records: readonly ContainerProcessRecord[]): Promise<number> {
  const markers = new Set(records.map(({ marker }) => marker));
  if (markers.size === 0) return 0;
  const left = () => [...new Set([...records.filter(isAlive).map(({ pid }) => pid), ...marked(markers)])];
  const found = left();
  for (const pid of found) signal(pid, 'SIGTERM');
  await gone(left, SWEEP_GRACE_MS);
  for (const pid of left()) signal(pid, 'SIGKILL');
  await gone(() => {
    const still = left();
    for (const pid of still) signal(pid, 'SIGKILL');
    return still;
  }, SWEEP_KILL_MS);
  return found.length;
}

async function gone(left: () => number[], withinMs: number): Promise<void> {
  for (let waitedMs = 0; left().length > 0 && waitedMs < withinMs; waitedMs += 50) await sleep(50);
}
