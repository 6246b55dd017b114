/**
 * Gives each node a cgroup, in which all its processes are born: containerd's shims, which outlive containerd, and the containers'
 * processes. So no process of a node gets lost. Version 1 has a tree for each controller, version 2 one for all.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../../../src/core/lib/clock.ts';
import { signal } from '../../../../tools/process/identity.ts';

const ROOT = '/sys/fs/cgroup';
const CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'hugetlb', 'systemd'];
/** The cgroup of containerd and kubelet; the pods' own are beside it. */
const SYSTEM = 'system';

export const isCgroupV1 = (): boolean => !existsSync(join(ROOT, 'cgroup.controllers'));
const trees = (): string[] =>
  isCgroupV1() ? CONTROLLERS.map((name) => join(ROOT, name)).filter((dir) => existsSync(dir)) : [ROOT];
/** The tree that finds processes again. */
const register = (): string => (isCgroupV1() ? join(ROOT, 'pids') : ROOT);

/**
 * A node's weight beside other processes, in the units of each version. By default a whole node would weigh as much as any one process of
 * other tests, although nothing waits for those: it weighs as much as eight.
 */
const WEIGHTS = { 'cpu.shares': '8192', 'cpu.weight': '800' };

export function makeCgroup(id: string): void {
  for (const tree of trees()) mkdirSync(join(tree, id), { recursive: true });
  for (const [name, weight] of Object.entries(WEIGHTS)) {
    const file = join(isCgroupV1() ? join(ROOT, 'cpu') : ROOT, id, name);
    if (existsSync(file)) writeFileSync(file, weight);
  }
  mkdirSync(join(register(), id, SYSTEM), { recursive: true });
}

/** A process writes its own id into this file before it becomes containerd or kubelet. */
export const systemCgroupFile = (id: string): string => join(register(), id, SYSTEM, 'cgroup.procs');

const folders = (dir: string): string[] => {
  if (!existsSync(dir)) return [];
  const inner = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...inner.flatMap(({ name }) => folders(join(dir, name))), dir];
};

/** Returns the ids of the processes of a node: containerd, kubelet, shims and containers. */
export function listMembers(id: string): number[] {
  return folders(join(register(), id)).flatMap((dir) => {
    try {
      return readFileSync(join(dir, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
    } catch {
      // A removed cgroup has no processes.
      return [];
    }
  });
}

/** Kills all its processes and waits until none is left. */
export async function endCgroup(id: string): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const pids = listMembers(id);
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, 'SIGKILL');
    await sleep(50);
  }
  throw new Error(`processes of ${id} do not end: ${listMembers(id).join(', ')}`);
}

export function removeCgroup(id: string): void {
  // runc makes the node's cgroup in version 2's tree as well where both versions are mounted.
  for (const dir of [...trees(), join(ROOT, 'unified')].flatMap((tree) => folders(join(tree, id)))) rmdirSync(dir);
}
