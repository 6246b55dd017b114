/**
 * Runs a Docker engine of our own, for one run, on a machine where none answers. It has process and mount namespaces of its own: when its
 * first process ends, the kernel ends every process in it, containers too, and removes its mounts. It leaves the machine's network alone;
 * its containers share that network.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { signal } from '../../../../tools/process/identity.ts';
import { type Child, lastLogLines, spawnChild, sweepLeftovers } from '../../../../tools/process/processes.ts';
import { until } from '../../wait.ts';
import { endCgroup, removeCgroup } from '../cluster/cgroups.ts';
import { isReachable } from './api.ts';
import { type EngineLayout, engineLayout } from './layout.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 20_000;
/**
 * Paths that every engine of a machine shares: the sockets of containerd's shims, settings and the engine's key. Ours sees empty ones,
 * which vanish with it. So it uses no other containerd and follows no other settings.
 */
const SHARED = ['/run/containerd', '/etc/docker'];

/** The settings in which engines of our own differ. */
export interface EngineSettings {
  layout: EngineLayout;
  /** Further arguments of dockerd. */
  args: readonly string[];
  /** A command that runs the engine's command in a network namespace; the machine's network by default. */
  within?: readonly string[];
  /** Further paths that the engine sees as empty directories. */
  hidden?: readonly string[];
}

/** Without a network of its own, an engine changes nothing of the machine's. */
const WITHOUT_NETWORK = [
  ...['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'],
  '--userland-proxy=false',
];
/** The file that records the directories made for that. */
const madeFile = ({ runDir }: EngineLayout) => join(runDir, 'made.json');

const arguments_ = ({ dataRoot, runDir, socket, cgroup }: EngineLayout): string[] => [
  ...['--data-root', dataRoot, '--exec-root', join(runDir, 'exec'), '--pidfile', join(runDir, 'docker.pid')],
  ...['--host', `unix://${socket}`, '--group', 'root'],
  ...['--exec-opt', 'native.cgroupdriver=cgroupfs', '--cgroup-parent', `/${cgroup}`],
  '--shutdown-timeout=5',
];

function start({ layout, args, within = [], hidden = [] }: EngineSettings): Promise<Child> {
  const { runDir, dataRoot, logFile } = layout;
  const all = [...SHARED, ...hidden];
  const hide = `set -e; for dir in ${all.join(' ')}; do mount -t tmpfs tmpfs "$dir"; done; exec "$@"`;
  for (const dir of [runDir, dataRoot]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  const made = all.filter((dir) => !existsSync(dir));
  writeFileSync(madeFile(layout), JSON.stringify(made));
  for (const dir of made) mkdirSync(dir, { recursive: true });
  const apart = ['unshare', '--pid', '--fork', '--kill-child', '--mount', '--mount-proc'];
  return spawnChild({
    name: 'dockerd',
    // The engine ends with us, also when we are killed.
    command: 'setpriv',
    args: ['--pdeathsig=KILL', ...within, ...apart, 'sh', '-c', hide, 'sh', 'dockerd', ...arguments_(layout), ...args],
    env: environment() as Record<string, string>,
    logFile,
    stateDir: runDir,
  });
}

/** Removes the leftovers of a killed run. The caller holds the lock. */
async function clear(layout: EngineLayout): Promise<void> {
  const { runDir, cgroup } = layout;
  await sweepLeftovers(runDir, { evenInUse: true });
  await endCgroup(cgroup);
  removeCgroup(cgroup);
  if (existsSync(madeFile(layout))) {
    for (const dir of JSON.parse(readFileSync(madeFile(layout), 'utf8')) as string[]) removeEmpty(dir);
  }
  rmSync(runDir, { recursive: true, force: true });
}

function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // Another process has begun to use it.
  }
}

async function ready(child: Child, { socket, logFile }: EngineLayout): Promise<void> {
  let gone = false;
  void child.exited.then(() => {
    gone = true;
  });
  const check = async () => {
    if (gone) throw new Error(`dockerd ended: ${(await lastLogLines(logFile)).slice(-3).join(' ')}`);
    return isReachable(socket);
  };
  await until('dockerd answers', check, START_TIMEOUT_MS);
}

async function stop(child: Child): Promise<void> {
  // The process that waits for it forwards no signal; the group's signal reaches dockerd.
  signal(-child.pid, 'SIGTERM');
  await child.stop(STOP_GRACE_MS);
}

/** Runs an engine for `use`. The caller holds the lock. */
export async function runEngine<T>(settings: EngineSettings, use: (socket: string) => Promise<T>): Promise<T> {
  const { layout } = settings;
  await clear(layout);
  const child = await start(settings);
  try {
    await ready(child, layout);
    return await use(layout.socket);
  } finally {
    await stop(child);
    await clear(layout);
  }
}

/** Starts an engine for `use` and ends it afterwards. Rejects with a sentence when another run has this cache's engine. */
export async function withOwnEngine<T>(cacheDir: string, use: (socket: string) => Promise<T>): Promise<T> {
  const layout = engineLayout(cacheDir);
  const waiting = new AbortController();
  const rejectTaken = (holder: number) =>
    waiting.abort(new Error(`the process ${holder} has the engine of this cache`));
  const work = () => runEngine({ layout, args: WITHOUT_NETWORK }, use);
  return withFileLock(layout.lockFile, work, { onWait: rejectTaken, signal: waiting.signal });
}
