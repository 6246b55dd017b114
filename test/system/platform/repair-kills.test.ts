/** Tests that a process that is killed amid a repair leaves nothing that makes a second broadcast. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pMap from 'p-map';
import { expect, test } from 'vitest';
import { NEW_REPAIR } from '../../../src/core/platform/youtube/repair.ts';
import { createFastTime } from '../../kit/fake/fast-time.ts';
import { startYoutube } from '../../kit/fake/youtube.ts';
import type { RepairProcessConfig, RepairStore } from '../../kit/make/repair-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const KILLS = 30;
/** Most of the time processes wait for lists that lag. */
const AT_ONCE = 5;
const FACTOR = 30;
const KEY = 'team/main';
const CALLS = {
  insert: 'POST liveBroadcasts',
  bind: 'POST liveBroadcasts/bind',
  start: 'POST liveBroadcasts/transition',
} as const;

/** When the process dies: after the call has taken effect, before its answer is sent, with it, or some milliseconds later. */
const MOMENTS = ['before the answer', 'with the answer', 'after the answer'] as const;

const PROGRAM = join(import.meta.dirname, '../../kit/make/repair-process.ts');

/** Ends a broadcast, kills the process that repairs it once, at this step, and lets the next one finish. */
async function dieOnce(folder: string, step: keyof typeof CALLS, n: number): Promise<void> {
  const time = { originMs: Date.now(), startMs: Date.parse('2026-07-15T12:00:00Z'), factor: FACTOR };
  const { nowMs } = createFastTime(time);
  let child: ChildProcess | undefined;
  let deaths = 0;
  const kill = () => {
    deaths++;
    child?.kill('SIGKILL');
  };
  const moment = MOMENTS[n % MOMENTS.length];
  const youtube = await startYoutube({
    nowMs,
    // Each list lags by another time, and a minute at most.
    lagMs: () => Math.random() * 60_000,
    autostarts: () => step !== 'start',
    beforeAnswer: (call) => {
      if (call !== CALLS[step] || deaths > 0) return undefined;
      if (moment === 'before the answer') {
        kill();
        return new Promise<void>(() => undefined);
      }
      if (moment === 'with the answer') setImmediate(kill);
      else setTimeout(kill, Math.random() * 20);
      return undefined;
    },
  });
  const { world } = youtube;
  const { streamId, streamKey, refreshToken } = world.addChannel('channel');
  const { id } = world.addBroadcast('channel');
  world.publish(streamId, true);
  world.setLive(id, streamId);
  world.complete(id);

  const file = join(folder, `${step}-${n}.json`);
  const store = join(folder, `${step}-${n}.store.json`);
  const config: RepairProcessConfig = {
    store,
    time,
    options: {
      apiKey: 'key',
      clientId: 'client',
      clientSecret: 'secret',
      apiUrl: youtube.apiUrl,
      tokenUrl: youtube.tokenUrl,
    },
    target: {
      key: KEY,
      uid: 'uid',
      platform: { kind: 'youtube', policy: 'Repair', videoId: id, secretName: 'account' },
    },
    sinceMs: time.startMs,
    secrets: { rtmpKey: streamKey, refreshToken },
  };
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(store, JSON.stringify({ state: NEW_REPAIR, version: 0, shared: {} } satisfies RepairStore));

  const run = () => {
    child = spawn(process.execPath, [PROGRAM, file], { stdio: ['ignore', 'ignore', 'inherit'] });
    return once(child, 'exit');
  };
  const listNew = () => world.list().filter((one) => one.id !== id);
  try {
    let exit = run();
    await until(`a death at ${step}`, () => deaths > 0, 120_000);
    await exit;
    exit = run();
    await until('a finished repair', () => {
      const { state } = JSON.parse(readFileSync(store, 'utf8')) as RepairStore;
      return state.phase === 'idle' && listNew().some(({ lifeCycleStatus }) => lifeCycleStatus === 'live');
    });
    // Lists show the last moment of a minute now.
    await sleep(90_000 / FACTOR);
    expect(listNew(), `${step} ${n}, died ${moment}`).toHaveLength(1);
    child?.kill('SIGKILL');
    await exit;
  } finally {
    child?.kill('SIGKILL');
    await youtube.stop();
  }
}

test.each(Object.keys(CALLS) as (keyof typeof CALLS)[])(
  'thirty processes that are killed after %s leave one broadcast each',
  { timeout: 900_000 },
  async (step) => {
    const folder = await tempDir();
    const all = Array.from({ length: KILLS }, (_, n) => n);
    await pMap(all, (n) => dieOnce(folder, step, n), { concurrency: AT_ONCE });
  },
);
