/** Runs a streamer for tests in a process of its own, for which names have the addresses of a file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import type { Studio } from '../../kit/make/onair.ts';
import { buildProgram, writeAtomically, writeDestination } from '../../kit/make/streamer.ts';
import { MAIN } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';

/** A user namespace allows mounts without root. */
const NAMESPACE = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];

/** Runs a streamer in a process whose /etc/hosts is this file: the C library reads it first. */
export async function onAirWithHosts(
  studio: Studio,
  hosts: string,
  destinations: Record<string, [url: string, key: string]>,
) {
  const dir = await mkdtemp(join(studio.root, 'pod-'));
  const names = Object.keys(destinations);
  await writeAtomically(join(dir, 'program'), JSON.stringify(buildProgram(studio.items, { destinations: names })));
  for (const [name, [url, key]] of Object.entries(destinations))
    await writeDestination(join(dir, 'destinations.json'), name, [url, key]);
  const port = await reserveFreePort();
  const script = 'mount --bind "$1" /etc/hosts && exec "$2" "$3" streamer';
  const child = spawn('unshare', [...NAMESPACE, 'sh', '-c', script, 'sh', hosts, process.execPath, MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: environment().PATH,
      LOOPSTREAM_LOG_LEVEL: 'error',
      LOOPSTREAM_PROGRAM_FILE: join(dir, 'program'),
      LOOPSTREAM_DESTINATIONS_FILE: join(dir, 'destinations.json'),
      LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
      LOOPSTREAM_STORAGE_URL: `file://${join(studio.root, 'storage')}`,
      LOOPSTREAM_HOST: '127.0.0.1',
      LOOPSTREAM_PORT: String(port),
    },
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  studio.cleanups.push(stop);
  const base = `http://127.0.0.1:${port}`;
  await until(
    'it serves',
    () =>
      fetch(base).then(
        () => true,
        () => child.exitCode !== null && false,
      ),
    60_000,
  );
  return { base, stats: async () => (await fetch(`${base}/stats`)).json() as Promise<ShownStats>, stop };
}
