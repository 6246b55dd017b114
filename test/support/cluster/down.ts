/**
 * Takes the cluster away, whatever state it is in: after a run, after Ctrl-C, and before the next run when one was killed.
 * Everything is found by names and records of the cluster's own.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../../src/clock.ts';
import { localEnvironment } from '../../../src/config.ts';
import { sweepLeftovers } from '../../../src/local/processes.ts';
import { endCgroup, removeCgroup } from './cgroups.ts';
import { may } from './command.ts';
import { type ClusterLayout, clusterLayout } from './layout.ts';
import { removeNetwork } from './network.ts';

/** Settings of the kernel that kubelet changes for the whole machine. */
const TUNED = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];
const settingsFile = ({ stateDir }: ClusterLayout) => join(stateDir, 'kernel-settings.json');

export function rememberKernelSettings(layout: ClusterLayout): void {
  const values = TUNED.map((name) => [name, readFileSync(join('/proc/sys', name), 'utf8').trim()]);
  writeFileSync(settingsFile(layout), JSON.stringify(Object.fromEntries(values)));
}

function restoreKernelSettings(layout: ClusterLayout): void {
  if (!existsSync(settingsFile(layout))) return;
  const values: Record<string, string> = JSON.parse(readFileSync(settingsFile(layout), 'utf8'));
  for (const [name, value] of Object.entries(values)) writeFileSync(join('/proc/sys', name), value);
}

/** Deepest first, until none is left: kubelet's and containerd's mounts lie upon each other. */
async function unmountBelow(dirs: string[]): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .flatMap((line) => line.split(' ')[4] ?? [])
      .map((path) => path.replaceAll('\\040', ' '))
      .filter((path) => dirs.some((dir) => path.startsWith(`${dir}/`)))
      .sort((a, b) => b.length - a.length);
    if (mounts.length === 0) return;
    for (const path of mounts) if (!(await may('umount', [path]))) await may('umount', ['--lazy', path]);
  }
}

/** kubelet links each container's log here, wherever the log itself is. */
function removeLogLinks(layout: ClusterLayout): void {
  const dir = '/var/log/containers';
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir)) {
    const link = join(dir, name);
    try {
      if (readlinkSync(link).startsWith(layout.stateDir)) rmSync(link);
    } catch {
      // What is no link is none of ours.
    }
  }
}

/** A shim's socket is in a place that all containerds of a machine share; its bundle says which one it is. */
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

/** Safe to repeat. Throws when the cluster belongs to a run that is still at work. */
export async function takeDown(layout: ClusterLayout): Promise<void> {
  await sweepLeftovers(layout.stateDir);
  for (const { id } of layout.nodes) await endCgroup(id);
  await unmountBelow([layout.stateDir, layout.runDir]);
  await removeNetwork(layout);
  for (const { id } of layout.nodes) removeCgroup(id);
  removeLogLinks(layout);
  removeShimSockets(layout);
  restoreKernelSettings(layout);
  for (const dir of [layout.runDir, layout.stateDir]) rmSync(dir, { recursive: true, force: true });
}

/** The run that was interrupted may need a moment to end. */
async function takeDownPatiently(layout: ClusterLayout): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      return await takeDown(layout);
    } catch (error) {
      if (round === 20) throw error;
      await sleep(500);
    }
  }
}

if (import.meta.main) await takeDownPatiently(clusterLayout(localEnvironment().cacheDir));
