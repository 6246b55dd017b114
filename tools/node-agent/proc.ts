/** Finds the processes of a container again by proc(5): they have a session of their own. */
import { readdirSync, readFileSync } from 'node:fs';
import { sleep } from '../../src/core/lib/clock.ts';
import { isAlive, type ProcessIdentity, signal } from '../process/identity.ts';

/**
 * Marks every process of a container in its environment. An agent then recognises processes of a killed agent, even
 * without their leader or in a session of their own.
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

function readMarker(pid: number): string | undefined {
  const prefix = `${MARKER}=`;
  const found = read(`/proc/${pid}/environ`)
    ?.split('\0')
    .find((variable) => variable.startsWith(prefix));
  return found?.slice(prefix.length);
}

/** Zombies hold nothing any more and do not count. */
function readStat(pid: number): { group: number; session: number } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (!stat) return undefined;
  const [state, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? undefined : { group: Number(group), session: Number(session) };
}

/** Live processes of the group or session that `leader` began, and those that left it but carry the marker. */
function members(leader: number, marker: string): number[] {
  return processNumbers().filter((pid) => {
    const stat = readStat(pid);
    return stat && (stat.group === leader || stat.session === leader || readMarker(pid) === marker);
  });
}

/** Undefined when nobody can say, e.g. because the agent has no file descriptor left. */
function tryMembers(leader: number, marker: string): number[] | undefined {
  try {
    return members(leader, marker);
  } catch {
    return undefined;
  }
}

/** Kills what is left of a container whose first process was `leader`, and resolves when nothing is. */
export async function killMembers(leader: number, marker: string): Promise<void> {
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 1000)) {
    // The group first, at one stroke, so that it cannot fork away from under the list.
    signal(-leader, 'SIGKILL');
    const left = tryMembers(leader, marker);
    if (left?.length === 0) return;
    for (const pid of left ?? []) signal(pid, 'SIGKILL');
    await sleep(waitMs);
  }
}

export interface ContainerProcessRecord extends ProcessIdentity {
  /** The value of MARKER. */
  marker: string;
}

/** Every live process that carries one of these markers. */
const marked = (markers: Set<string>): number[] =>
  processNumbers().filter((pid) => {
    const marker = readMarker(pid);
    return marker !== undefined && markers.has(marker) && readStat(pid) !== undefined;
  });

const SWEEP_GRACE_MS = 3000;
const SWEEP_KILL_MS = 5000;

/**
 * Ends the containers that a killed agent left running: sends SIGTERM, kills after 3 s, and resolves to their number
 * when they are gone. It waits at most 5 s more for a process that even SIGKILL does not end.
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
