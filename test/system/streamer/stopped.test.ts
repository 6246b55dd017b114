import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { expectNoSeam, openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, readPackets } from '../../kit/make/streamer.ts';
import { MAIN } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';

/** The pause is longer than a destination may stall (5 s), and shorter than a receiver's patience. */
const STOPPED_MS = 8000;

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(async () => {
  await studio?.cleanUp();
  await studio?.close();
});

test('a streamer that was stopped for seconds goes on in the same publish: the receiver waits, its timestamps have no hole', async () => {
  const files = await studio.onAir(buildProgram(studio.items), { main: [studio.rtmp.url, 'unstopped'] });
  // The test needs its files only: a process of its own can be stopped without stopping the test.
  await files.stop();
  // The key is another one, since the receiver names recordings after the second in which they begin.
  await files.destination('main', studio.rtmp.url, 'stopped');
  const port = await reserveFreePort();
  const env = { ...process.env, ...files.environment, LOOPSTREAM_PORT: String(port) };
  const child = spawn(process.execPath, [MAIN, 'streamer'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = once(child, 'exit');
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  studio.cleanups.push(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const stats = async () => (await fetch(`http://127.0.0.1:${port}/stats`)).json() as Promise<ShownStats>;
  await until('live', async () => (await stats().catch(() => undefined))?.live, 30_000);
  const { framesSent } = await stats();

  child.kill('SIGSTOP');
  const stopped = performance.now();
  await until('it was stopped long enough', () => performance.now() - stopped > STOPPED_MS);
  child.kill('SIGCONT');
  const last = await until('three seconds more', async () => {
    const now = await stats();
    return now.framesSent > framesSent + 90 + 60 && now;
  });
  expect(last).toMatchObject({ reconnects: 0, live: true });
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/loopstream_streamer_timeline_resets_total 1/);
  child.kill('SIGTERM');
  await gone;
  // A probe or an alert also found it on air in the moment after it woke.
  expect(log.match(/the destination accepts the stream/g)).toHaveLength(1);

  const recordings = await studio.rtmp.recordings('stopped');
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings.at(-1) as string);
  expectNoSeam(packets);
});
