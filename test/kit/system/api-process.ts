/** Runs the API server as a process of its own, for tests of its crash and its shutdown. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '../wait.ts';
import { MAIN } from './app.ts';

/** The machine may be busy with other tests. */
const START_MS = 90_000;

export interface ApiProcess {
  pid: number;
  url: string;
  opsUrl: string;
  /** Its log so far. */
  logs(): string;
  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves to its exit status; null when it was killed. */
  ended: Promise<number | null>;
}

/** Resolves when it is ready. A signal ends it. */
export async function startApiProcess(environment: Readonly<Record<string, string>>): Promise<ApiProcess> {
  const child = spawn(process.execPath, [MAIN, 'api'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let logs = '';
  child.stderr.on('data', (chunk) => (logs += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const signal: ApiProcess['signal'] = (name) => void child.kill(name);
  try {
    const listening = () => {
      if (child.exitCode !== null) throw new Error(`the API ended with ${child.exitCode}: ${logs}`);
      return logs.split('\n').find((line) => line.includes('the API listens'));
    };
    const listens = await until('the API listens', listening, START_MS);
    const { url, opsPort } = JSON.parse(listens) as { url: string; opsPort: number };
    const opsUrl = `http://127.0.0.1:${opsPort}`;
    await until('the API is ready', async () => (await fetch(`${opsUrl}/readyz`)).ok, START_MS);
    return { pid: child.pid ?? 0, url, opsUrl, logs: () => logs, signal, ended };
  } catch (error) {
    signal('SIGKILL');
    throw error;
  }
}
