/** Restarts processes when they end, as a cluster does; they may be killed at any time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** The pause frees the predecessor's port, and shows others that the process was away. */
const PAUSE_MS = 500;
const GRACE_MS = 8000;

export interface PartSpec {
  command: string;
  /** Evaluated at each start. */
  args: () => readonly string[];
  env: Record<string, string>;
  logFile: string;
}

export interface Part {
  /** Kills it with SIGKILL. Returns false when it is not running. */
  kill(): boolean;
  /** Ends it for good. */
  stop(): Promise<void>;
}

export async function keep(spec: PartSpec): Promise<Part> {
  let stopping = false;
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  const start = async (): Promise<void> => {
    const log = openSync(spec.logFile, 'a', 0o600);
    try {
      // The process has a group of its own: Ctrl-C is for this process, which ends all others in order.
      const options = { env: spec.env, detached: true, stdio: ['ignore', log, log] as ['ignore', number, number] };
      const started = spawn(spec.command, spec.args(), options);
      child = started;
      started.once('exit', () => {
        child = undefined;
        if (!stopping) timer = setTimeout(() => void start(), PAUSE_MS);
      });
      await once(started, 'spawn');
    } finally {
      closeSync(log);
    }
  };
  await start();
  return {
    kill: () => child?.kill('SIGKILL') ?? false,
    async stop() {
      stopping = true;
      clearTimeout(timer);
      const running = child;
      if (!running) return;
      const gone = once(running, 'exit');
      running.kill('SIGTERM');
      const force = setTimeout(() => running.kill('SIGKILL'), GRACE_MS);
      await gone;
      clearTimeout(force);
    },
  };
}
