/**
 * Where an engine of our own is and what it is called: all of it follows from the cache that it keeps its images in, so that
 * whatever a run leaves behind is found by the next one. Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';

export interface EngineLayout {
  /** Images, kept from run to run. */
  dataRoot: string;
  /** Of one run: sockets, whose paths have to be short, records and the log. */
  runDir: string;
  socket: string;
  logFile: string;
  /** The containers' own are below it. */
  cgroup: string;
  lockFile: string;
}

/** What engines have of ours in the cache. */
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
