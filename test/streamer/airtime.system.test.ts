/** Time on air, counted by the streamer and by an independent receiver: a destination that goes away, a process that is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Run } from '../../src/streamer/airtime.ts';
import type { StreamerStats } from '../../src/streamer/stats.ts';
import { openStudio, type Studio } from '../support/onair.ts';
import { freePort, startRtmpServer, until } from '../support/rtmp.ts';
import { programOf } from '../support/streamer.ts';
import { startTap } from '../support/tap.ts';

/** What was taken since the last report is not counted where a connection breaks off; a report comes twice a second. */
const SHORT_OF_RECORDED_SECONDS = 1;

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(async () => {
  await studio?.cleanUp();
  await studio?.close();
});

test('the seconds of a session are those that a receiver sees, never more and less than one fewer, also of a process that is killed', async () => {
  const receiver = await startRtmpServer({ record: join(studio.root, 'counted') });
  const tap = await startTap(receiver.port);
  studio.cleanups.push(async () => {
    tap.close();
    await receiver.close();
  });
  const files = await studio.onAir(programOf(studio.items), { main: [receiver.url, 'before'] });
  await files.stop();
  await files.destination('main', tap.url, 'counted');
  const port = await freePort();
  const message = join(studio.root, 'termination-log');
  const env = { LOOPSTREAM_PORT: String(port), LOOPSTREAM_RESULT_FILE: message };
  const history = { LOOPSTREAM_SESSIONS_FILE: join(studio.root, 'sessions.json') };
  const child = spawn(process.execPath, ['src/main.ts', 'streamer'], {
    env: { ...process.env, ...files.environment, ...env, ...history },
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  studio.cleanups.push(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const stats = async () => (await fetch(`http://127.0.0.1:${port}/stats`)).json() as Promise<StreamerStats>;
  const live = (is: boolean) =>
    until(`live: ${is}`, async () => (await stats().catch(() => undefined))?.live === is, 30_000);
  const onAir = async () => (await stats()).runs.at(-1)?.onAirSeconds ?? 0;

  await live(true);
  await until('three seconds', async () => (await onAir()) >= 3);
  // Nobody listens where it is sent to for a while.
  await files.destination('main', `rtmp://127.0.0.1:${await freePort()}/live`, 'counted');
  await live(false);
  const away = await onAir();
  const since = performance.now();
  await until('it was away for long enough', () => performance.now() - since > 3000);
  expect(await onAir()).toBe(away);
  await files.destination('main', tap.url, 'counted');
  await live(true);
  await until('three seconds more', async () => (await onAir()) >= away + 3);
  child.kill('SIGKILL');
  await gone;

  expect(tap.publishes).toHaveLength(2);
  const seen = tap.publishes.reduce((sum, { onAirMs }) => sum + onAirMs, 0) / 1000;
  const { runs } = JSON.parse(await readFile(message, 'utf8')) as { runs: Run[] };
  expect(runs).toHaveLength(1);
  const counted = runs[0]?.onAirSeconds ?? 0;
  expect(counted).toBeLessThanOrEqual(seen);
  expect(seen - counted).toBeLessThan(SHORT_OF_RECORDED_SECONDS);
  expect(JSON.parse(await readFile(history.LOOPSTREAM_SESSIONS_FILE, 'utf8'))).toEqual({ runs });
});
