/** Tests time on air, counted by the streamer and by an independent receiver: a destination that goes away, a process that is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { unreceivedBytes } from '../../../src/core/pods/streamer/output/unreceived-bytes.ts';
import type { Run } from '../../../src/core/protocol/report.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { startTap } from '../../kit/fake/tap.ts';
import { processWith } from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { startRtmpServer } from '../../kit/real/rtmp.ts';
import { MAIN } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';

/** A broken connection loses the media since the last report; a report comes twice a second. */
const SHORT_OF_RECORDED_SECONDS = 1;

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(async () => {
  await studio?.cleanUp();
  await studio?.close();
});

/** Starts a streamer as a process of its own, sending to a receiver through a tap. */
async function begin(name: string) {
  const receiver = await startRtmpServer({ record: join(studio.root, name) });
  const tap = await startTap(receiver.port);
  studio.cleanups.push(async () => {
    tap.close();
    await receiver.close();
  });
  const files = await studio.onAir(buildProgram(studio.items), { main: [receiver.url, 'before'] });
  await files.stop();
  await files.destination('main', tap.url, name);
  const port = await reserveFreePort();
  const [message, history] = [join(studio.root, `${name}-message`), join(studio.root, `${name}-sessions.json`)];
  const child = spawn(process.execPath, [MAIN, 'streamer'], {
    env: {
      ...process.env,
      ...files.environment,
      LOOPSTREAM_PORT: String(port),
      LOOPSTREAM_RESULT_FILE: message,
      LOOPSTREAM_SESSIONS_FILE: history,
    },
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  studio.cleanups.push(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const stats = async () => (await fetch(`http://127.0.0.1:${port}/stats`)).json() as Promise<ShownStats>;
  const live = (is: boolean) =>
    until(`live: ${is}`, async () => (await stats().catch(() => undefined))?.live === is, 30_000);
  const onAir = async () => (await stats()).runs.at(-1)?.onAirSeconds ?? 0;
  const readRuns = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as { runs: Run[] };
  return {
    files,
    tap,
    live,
    onAir,
    seen: () => tap.publishes.reduce((sum, { onAirMs }) => sum + onAirMs, 0) / 1000,
    /** The container's message, and the file for the next process. */
    lastWords: async () => ({ message: await readRuns(message), history: await readRuns(history) }),
    end: async (signal: 'SIGKILL' | 'SIGTERM') => {
      child.kill(signal);
      await gone;
    },
  };
}

test('the seconds of a session are those that a receiver sees, never more and less than one fewer, also of a process that is killed', async () => {
  const { files, tap, live, onAir, seen, end, lastWords } = await begin('counted');
  await live(true);
  await until('three seconds', async () => (await onAir()) >= 3);
  // The destination has no listener for a while.
  await files.destination('main', `rtmp://127.0.0.1:${await reserveFreePort()}/live`, 'counted');
  await live(false);
  const away = await onAir();
  const since = performance.now();
  await until('it was away for long enough', () => performance.now() - since > 3000);
  expect(await onAir()).toBe(away);
  await files.destination('main', tap.url, 'counted');
  await live(true);
  await until('three seconds more', async () => (await onAir()) >= away + 3);
  await end('SIGKILL');

  expect(tap.publishes).toHaveLength(2);
  const { message, history } = await lastWords();
  expect(message.runs).toHaveLength(1);
  const counted = message.runs[0]?.onAirSeconds ?? 0;
  expect(counted).toBeLessThanOrEqual(seen());
  expect(seen() - counted).toBeLessThan(SHORT_OF_RECORDED_SECONDS);
  expect(history).toEqual(message);
});

/** Three seconds of these clips. */
const MUCH_BYTES = 150_000;

test('media queued for a receiver that stopped reading, and never acknowledged, is not on air', async () => {
  const { tap, live, onAir, seen, end, lastWords } = await begin('deaf');
  await live(true);
  await until('two seconds', async () => (await onAir()) >= 2);
  tap.hang();
  const pid = await until('what sends', () => processWith(tap.url.replace('/live', '')));
  await until('much waits', async () => (await unreceivedBytes(pid)) > MUCH_BYTES, 120_000);
  const before = await onAir();
  await end('SIGTERM');
  const counted = (await lastWords()).message.runs[0]?.onAirSeconds ?? 0;
  // Media that the receiver's kernel acknowledged, but its program never read, looks delivered from here. Both times are
  // whole seconds, so three seconds of media make a difference of two at least.
  expect(before - counted).toBeGreaterThanOrEqual(2);
  expect(counted).toBeGreaterThanOrEqual(seen() - SHORT_OF_RECORDED_SECONDS);
});
