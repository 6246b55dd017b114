/** Checks whether this machine can run an engine of our own, and names the programs it needs. */
import { existsSync } from 'node:fs';
import type { NeededProgram } from '../../../../tools/process/preflight.ts';
import { isWritable, tryRun } from '../cluster/command.ts';
import { findEngine } from './find.ts';

const CGROUPS = '/sys/fs/cgroup';
const APART = ['--pid', '--fork', '--kill-child', '--mount', '--mount-proc'];

const hasProgram = (name: string): Promise<boolean> => tryRun('sh', ['-c', 'command -v -- "$1"', 'sh', name]);

/** Returns the reason why not, as a sentence; undefined when it can. */
export async function whyNoEngine(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'an engine of our own needs Linux';
  if (process.getuid?.() !== 0) return 'to start one of our own needs root';
  for (const name of ['unshare', 'setpriv'])
    if (!(await hasProgram(name))) return `to start one of our own needs ${name}`;
  if (!isWritable(CGROUPS)) return 'this machine lets nobody make cgroups';
  if (!(await tryRun('unshare', [...APART, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])))
    return 'this machine lets nobody make namespaces and mounts';
  return undefined;
}

/** Returns the missing programs where nothing more may be installed. */
export async function whatIsMissing(): Promise<string | undefined> {
  return (await hasProgram('dockerd')) ? undefined : 'dockerd is not installed';
}

/**
 * Returns the programs that make the image, and start an engine where none answers. The latter are included only where their installation
 * changes nothing else: under systemd, Debian's package starts an engine for good, with a bridge and packet rules. That is the owner's
 * decision.
 */
export async function enginePrograms(): Promise<readonly NeededProgram[]> {
  const needed: NeededProgram[] = [{ command: 'mmdebstrap', aptPackage: 'mmdebstrap' }];
  const isServiceStarted = existsSync('/run/systemd/system');
  if ('whyNot' in (await findEngine()) && !isServiceStarted)
    needed.push({ command: 'dockerd', aptPackage: 'docker.io' });
  return needed;
}
