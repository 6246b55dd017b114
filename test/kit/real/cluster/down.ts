/**
 * Removes the cluster, whatever its state: after a run, after Ctrl-C, and before the next run when one was killed. It finds everything by
 * the cluster's own names and records.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localEnvironment } from '../../../../tools/process/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { sweepLeftovers } from '../../../../tools/process/processes.ts';
import { endCgroup, removeCgroup } from './cgroups.ts';
import { tryRun } from './command.ts';
import { type ClusterLayout, clusterLayout, STATE_PATH } from './layout.ts';
import { removeNetwork } from './network.ts';

/** Kernel settings that kubelet changes for the whole machine. */
const TUNED = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];
const settingsFile = (stateDir: string) => join(stateDir, 'kernel-settings.json');

/** Records, before anything starts, all that the next run needs when this one is killed. */
export function claimMachine({ stateDir, runDir, ownerFile }: ClusterLayout): void {
  for (const dir of [stateDir, runDir]) mkdirSync(dir, { recursive: true });
  writeFileSync(ownerFile, stateDir);
  const values = TUNED.map((name) => [name, readFileSync(join('/proc/sys', name), 'utf8').trim()]);
  writeFileSync(settingsFile(stateDir), JSON.stringify(Object.fromEntries(values)));
}

function restoreKernelSettings(stateDir: string): void {
  if (!existsSync(settingsFile(stateDir))) return;
  const values: Record<string, string> = JSON.parse(readFileSync(settingsFile(stateDir), 'utf8'));
  for (const [name, value] of Object.entries(values)) writeFileSync(join('/proc/sys', name), value);
}

/** Unmounts the deepest first, until none is left: kubelet's and containerd's mounts lie upon each other. */
async function unmountBelow(dirs: string[]): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .flatMap((line) => line.split(' ')[4] ?? [])
      .map((path) => path.replaceAll('\\040', ' '))
      .filter((path) => dirs.some((dir) => path.startsWith(`${dir}/`)))
      .sort((a, b) => b.length - a.length);
    if (mounts.length === 0) return;
    for (const path of mounts) if (!(await tryRun('umount', [path]))) await tryRun('umount', ['--lazy', path]);
  }
}

/** kubelet links each container's log in this folder, wherever the log itself is. */
function removeLogLinks(stateDir: string): void {
  const dir = '/var/log/containers';
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir)) {
    const link = join(dir, name);
    try {
      if (readlinkSync(link).startsWith(stateDir)) rmSync(link);
    } catch {
      // A file that is no link belongs to others.
    }
  }
}

/** All containerds of a machine share the place of the shims' sockets; a shim's bundle identifies its own. */
function removeShimSockets({ nodes, runDir }: ClusterLayout): void {
  for (const dir of [...nodes.map((node) => node.runDir), join(runDir, 'import')]) {
    const tasks = join(dir, 'containerd/io.containerd.runtime.v2.task/k8s.io');
    for (const id of existsSync(tasks) ? readdirSync(tasks) : []) {
      const file = join(tasks, id, 'address');
      if (!existsSync(file)) continue;
      const socket = readFileSync(file, 'utf8')
        .trim()
        .replace(/^unix:\/\//, '');
      if (socket.startsWith('/run/containerd/s/')) rmSync(socket, { force: true });
    }
  }
}

/** Returns this cache's state directory, and that of a killed run with another cache. */
function stateDirs({ stateDir, ownerFile }: ClusterLayout): string[] {
  const owner = existsSync(ownerFile) ? readFileSync(ownerFile, 'utf8') : stateDir;
  return owner === stateDir || !owner.endsWith(STATE_PATH) ? [stateDir] : [stateDir, owner];
}

/** Safe to repeat. The caller holds the lock. */
export async function takeDown(layout: ClusterLayout): Promise<void> {
  const dirs = stateDirs(layout);
  for (const dir of dirs) await sweepLeftovers(dir);
  for (const { id } of layout.nodes) await endCgroup(id);
  await unmountBelow([...dirs, layout.runDir]);
  await removeNetwork(layout);
  for (const { id } of layout.nodes) removeCgroup(id);
  removeShimSockets(layout);
  for (const dir of dirs) {
    removeLogLinks(dir);
    restoreKernelSettings(dir);
  }
  for (const dir of [layout.runDir, ...dirs]) rmSync(dir, { recursive: true, force: true });
}

/** Cleans up after an interrupted run, and leaves a cluster that another run has started since. */
async function takeDownOurs(layout: ClusterLayout): Promise<void> {
  const signal = AbortSignal.timeout(20_000);
  try {
    await withFileLock(layout.lockFile, () => takeDown(layout), { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

if (import.meta.main) await takeDownOurs(clusterLayout(localEnvironment().cacheDir));
