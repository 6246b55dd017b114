/**
 * Names and locates an engine of our own. All paths follow from the cache with its images, so that the next run finds the leftovers of a
 * crash. Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';

export interface EngineLayout {
  /** Images, kept from run to run. */
  dataRoot: string;
  /** The state of one run: sockets, whose paths have to be short, records and the log. */
  runDir: string;
  socket: string;
  logFile: string;
  /** The engine's cgroup, with the containers' own below it. */
  cgroup: string;
  lockFile: string;
}

/** The cache's folder for engines. */
export const engineDir = (cacheDir: string): string => join(resolve(cacheDir), 'engine');

export function engineLayout(cacheDir: string): EngineLayout {
  const dir = engineDir(cacheDir);
  const cgroup = `loopstream-engine-${createHash('sha256').update(dir).digest('hex').slice(0, 8)}`;
  const runDir = join('/run', cgroup);
  return {
    dataRoot: join(dir, 'docker'),
    runDir,
    socket: join(runDir, 'docker.sock'),
    logFile: join(runDir, 'dockerd.log'),
    cgroup,
    lockFile: join(dir, 'docker.lock'),
  };
}
