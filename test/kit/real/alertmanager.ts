/** Runs a real Alertmanager with a configuration of the caller. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../../../src/core/settings/environment.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { until } from '../wait.ts';

export interface Alertmanager {
  /** host:port */
  address: string;
  stop(): Promise<void>;
}

/** `config` is a file as Alertmanager reads it. */
export async function startAlertmanager(config: string): Promise<Alertmanager> {
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-alertmanager-'));
  const file = join(dir, 'alertmanager.yml');
  await writeFile(file, config);
  const address = `127.0.0.1:${await reserveFreePort()}`;
  const child = spawn(
    'prometheus-alertmanager',
    [`--config.file=${file}`, `--storage.path=${join(dir, 'data')}`, `--web.listen-address=${address}`].concat(
      // It is alone.
      '--cluster.listen-address=',
    ),
    { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk) => (log += chunk));
  await until(
    'Alertmanager is ready',
    () => {
      if (child.exitCode !== null) throw new Error(log);
      return fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    60_000,
  );
  return {
    address,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
