/** Runs the role `platform` as a process of its own, for tests of its crash, its rights and what it reveals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../src/core/settings/environment.ts';
import { until } from '../wait.ts';
import { ROOT } from './app.ts';

export interface PlatformProcess {
  pid: number;
  opsUrl: string;
  /** Its log so far. */
  logs(): string;
  /** Its entry in the list of processes. */
  commandLine(): string;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** Resolves to its exit status; null when it was killed. */
  ended: Promise<number | null>;
}

/** Resolves when it is ready. A signal ends it. `settings` are variables. */
export async function startPlatformProcess(settings: Record<string, string>): Promise<PlatformProcess> {
  const child = spawn(process.execPath, [join(ROOT, 'src/core/main.ts'), 'platform'], {
    env: { PATH: environment().PATH, LOOPSTREAM_OPS_HOST: '127.0.0.1', LOOPSTREAM_OPS_PORT: '0', ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let logs = '';
  child.stderr.on('data', (chunk) => (logs += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const pid = child.pid ?? 0;
  try {
    const opsPort = await until(
      'the process is ready',
      () => {
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${logs}`);
        return /"opsPort":(\d+)/.exec(logs)?.[1];
      },
      60_000,
    );
    return {
      pid,
      opsUrl: `http://127.0.0.1:${opsPort}`,
      logs: () => logs,
      commandLine: () => readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
      signal: (name) => void child.kill(name),
      ended,
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
