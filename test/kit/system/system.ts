/** Starts the whole local system for a test, as a person starts it, with a state directory and ports of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '../../../src/service/client/index.ts';
import type { LocalFacts as AllFacts } from '../../../tools/local/state.ts';
import { until } from '../wait.ts';
import { LOCAL_MAIN, ROOT } from './app.ts';

export { ROOT };

/** The facts of a system with an API server, which `--operator-only` leaves out. */
type LocalFacts = AllFacts & { apiUrl: string; apiKey: string; pageUrl: string };

export interface Shared {
  facts: LocalFacts;
  stateDir: string;
}

export interface System extends Shared {
  pid: number;
  output(): string;
  /** Resolves to the exit status. */
  exited: Promise<number | null>;
  /** A client with the account's key. It never retries, so that no failure is hidden. */
  client: Client;
  /** Sends SIGINT, as Ctrl-C does, and resolves to the exit status. */
  interrupt(): Promise<number | null>;
  kill(): Promise<void>;
  /** Stops it and removes its state. */
  close(): Promise<void>;
}

/**
 * Starts the local system and waits until it is ready. `settings`: LOOPSTREAM_* of its roles, and other variables. `within`: a command that
 * becomes the system's command, e.g. in a network namespace.
 */
export async function startSystem(
  args: string[] = [],
  existing?: string,
  settings: Record<string, string> = {},
  within: readonly string[] = [],
): Promise<System> {
  const stateDir = existing ?? (await mkdtemp(join(tmpdir(), 'loopstream-e2e-')));
  const ports = ['--port', '--rtmp-port', '--media-port', '--kube-port', '--mail-port', '--chain-port'].flatMap(
    (name) => [name, '0'],
  );
  // No node shares its processors with tests, which would leave nothing to what requests little.
  const shares = process.env.VITEST && !args.includes('--kind') ? ['--equal-shares'] : [];
  const words = [...within, process.execPath, LOCAL_MAIN, '--state-dir', stateDir, ...ports, ...shares, ...args];
  const child: ChildProcess = spawn(words[0] ?? '', words.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, ...settings },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const factsFile = join(stateDir, 'local.json');
  const facts = await until(
    'the local system is ready',
    () => {
      if (child.exitCode !== null) throw new Error(`the local system ended with ${child.exitCode}:\n${output}`);
      const found = existsSync(factsFile) ? (JSON.parse(readFileSync(factsFile, 'utf8')) as LocalFacts) : undefined;
      return found?.pid === child.pid ? found : undefined;
    },
    560_000,
  );
  const running = () => child.exitCode === null && child.signalCode === null;
  const interrupt = async () => {
    if (running()) child.kill('SIGINT');
    return (await exited)[0];
  };
  return {
    facts,
    stateDir,
    pid: child.pid ?? 0,
    output: () => output,
    exited: exited.then(([status]) => status),
    interrupt,
    kill: async () => {
      if (running()) child.kill('SIGKILL');
      await exited;
    },
    // A system with --operator-only has no API server.
    get client() {
      return createClient({ baseUrl: facts.apiUrl, apiKey: facts.apiKey, maxRetries: 0 });
    },
    close: async () => {
      await interrupt();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

/** Makes a stream that is off air, with the demo's video and destination. */
export async function streamLikeDemo({ client, facts }: Pick<System, 'client' | 'facts'>, name: string) {
  const { destinationID, videoUploadObjectID } = await client.streams.get(facts.demoStreamId ?? '');
  return client.streams.create({
    name,
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID,
    videoUploadObjectID: videoUploadObjectID ?? '',
  });
}
