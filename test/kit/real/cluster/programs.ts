/** Checks whether this machine can run real nodes, and names the programs they need. */
import { ensureBinaries } from '../../../../tools/control-plane/binaries.ts';
import { NODE_PROGRAM_KEYS, PROGRAM_KEYS } from '../../../../tools/control-plane/programs.ts';
import type { NeededProgram } from '../../../../tools/process/preflight.ts';
import { ensureEnforcer, ensureGoPrograms } from '../go-programs.ts';
import { binariesOptions } from '../kubernetes.ts';
import { isWritable, tryRun } from './command.ts';

/** Returns the reason why this machine cannot run the cluster, as a sentence; undefined when it can. */
export async function whyNot(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'a real node needs Linux';
  if (process.getuid?.() !== 0) return 'a real node needs root (containers, network namespaces)';
  const probe = 'loopstream-probe';
  if (!(await tryRun('sh', ['-c', 'command -v apt-get ip nsenter'])))
    return 'a real node is put together with apt-get, ip and nsenter, and not all of them are here';
  const namespaces = await tryRun('ip', ['netns', 'add', probe]);
  await tryRun('ip', ['netns', 'delete', probe]);
  if (!namespaces) return 'this machine lets nobody make network namespaces';
  if (!isWritable('/sys/fs/cgroup')) return 'this machine lets nobody make cgroups';
  const mounts = await tryRun('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return mounts ? undefined : 'this machine lets nobody mount file systems';
}

/** Programs that the machine must have. */
export const MACHINE_PROGRAMS: readonly NeededProgram[] = [
  { command: 'containerd', aptPackage: 'containerd' },
  { command: 'runc', aptPackage: 'runc' },
  { file: '/usr/lib/cni/ptp', aptPackage: 'containernetworking-plugins' },
  { command: 'iptables', aptPackage: 'iptables' },
  { command: 'ipset', aptPackage: 'ipset' },
  { command: 'conntrack', aptPackage: 'conntrack' },
  { command: 'mmdebstrap', aptPackage: 'mmdebstrap' },
  { command: 'buildah', aptPackage: 'buildah' },
];

/** Builds the Go programs of the control plane and the nodes in one go; returns absolute paths. */
export async function ensureClusterPrograms(onProgress?: (step: string) => void) {
  const kubernetes = await ensureBinaries({ ...binariesOptions(), onProgress }, [
    ...PROGRAM_KEYS,
    ...NODE_PROGRAM_KEYS,
  ]);
  return { ...(await ensureGoPrograms(onProgress)), ...(await ensureEnforcer(onProgress)), kubernetes };
}

if (import.meta.main) process.stdout.write((await whyNot()) ?? '');
