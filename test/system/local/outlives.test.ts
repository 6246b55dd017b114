/** Tests that `make run` outlives its parts: each killed part comes back, and a stream that does not depend on it has no gap. */
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { anvilProgram } from '../../../tools/local/chain.ts';
import { putOnAir } from '../../../tools/local/demo.ts';
import { identify, isAlive } from '../../../tools/process/identity.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { type RtmpRecorder, startRtmpRecorder } from '../../kit/fake/rtmp-recorder.ts';
import { ensureApp } from '../../kit/system/app.ts';
import { ROOT, type System, startSystem, streamLikeDemo } from '../../kit/system/system.ts';
import { readSetting } from '../../kit/system/traces.ts';
import { until } from '../../kit/wait.ts';

const CHAIN = anvilProgram() === undefined ? [] : ['anvil'];
const DEMO_CLIP = join(ROOT, 'tools/local/demo/bigbuckbunny.mp4');
const KUBERNETES = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const PARTS = [...KUBERNETES, 'postgres', 'operator', 'platform', 'api', 'billing', 'receiver', ...CHAIN];
const ROLES = ['operator', 'platform', 'api', 'billing'];
/** One picture of 30 a second takes less, with room for a busy machine. */
const MAX_STEP_MS = 100;
const MAX_SILENCE_MS = 3_000;

let system: System;
let recorder: RtmpRecorder;
let elsewhere = '';

beforeAll(async () => {
  await ensureApp();
  [recorder, system] = await Promise.all([startRtmpRecorder(), startSystem(CHAIN.length > 0 ? ['--crypto'] : [])]);
  const { client } = system;
  const rtmpUrl = `rtmp://127.0.0.1:${recorder.port}/live`;
  const destination = await client.destinations.create({ name: 'Elsewhere', rtmpUrl, rtmpKey: 'elsewhere' });
  const { id } = await streamLikeDemo(system, 'Elsewhere');
  await client.streams.update(id, { destinationID: destination.id });
  expect((await client.streams.start(id, { wait: 60 })).status).toBe('live');
  elsewhere = id;
});

afterAll(async () => {
  await system?.close();
  await recorder?.close();
});

const pidsDir = () => join(system.stateDir, 'pids');
const records = () =>
  readdirSync(pidsDir()).flatMap((file) => {
    try {
      return [JSON.parse(readFileSync(join(pidsDir(), file), 'utf8')) as { name: string; pid: number }];
    } catch {
      // The file was removed in the meantime.
      return [];
    }
  });
const findPid = (name: string): number | undefined => records().find((record) => record.name === name)?.pid;
const count = (line: string): number => system.output().split(line).length - 1;

/** Returns the first word of the command line of each process of this machine. */
const listCommands = () =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', 1)[0]] : [];
    } catch {
      // It has ended in the meantime.
      return [];
    }
  });

async function kill(name: string): Promise<void> {
  const pid = await until(`${name} runs`, () => findPid(name));
  const identity = identify(pid);
  process.kill(pid, 'SIGKILL');
  await until(`${name} has ended`, () => identity === undefined || !isAlive(identity));
}

async function serves(): Promise<boolean> {
  const ready = ROLES.map(async (role) => {
    const response = await fetch(`http://127.0.0.1:${readSetting(system, role, 'LOOPSTREAM_OPS_PORT')}/readyz`);
    return response.ok;
  });
  try {
    if (!(await Promise.all(ready)).every(Boolean)) return false;
    return (await system.client.streams.get(elsewhere)).status === 'live';
  } catch {
    return false;
  }
}

/** Checks the timestamps since the picture `from`. */
function expectNoGap(from: number): void {
  expect(recorder.publishes).toHaveLength(1);
  const pictures = recorder.video.slice(from);
  const steps = (read: (picture: RtmpRecorder['video'][number]) => number) =>
    pictures.slice(1).map((picture, i) => read(picture) - read(pictures[i] ?? picture));
  expect(Math.max(...steps(({ timestampMs }) => timestampMs))).toBeLessThanOrEqual(MAX_STEP_MS);
  expect(Math.min(...steps(({ timestampMs }) => timestampMs))).toBeGreaterThan(0);
  expect(Math.max(...steps(({ arrivedMs }) => arrivedMs))).toBeLessThan(MAX_SILENCE_MS);
}

/** Leaves the demo as a run does that ends before the demo's media has arrived. */
async function leaveDemoUnimported(): Promise<void> {
  const { client, facts } = system;
  const url = `http://127.0.0.1:${await reserveFreePort()}/media/bigbuckbunny.mp4`;
  const upload = await client.uploads.fromLink({ type: 'VIDEO', url, name: 'Big Buck Bunny' });
  await client.streams.update(facts.demoStreamId ?? '', { videoUploadObjectID: upload.objectID });
  expect((await client.uploads.get(upload.objectID)).state).toBe('importing');
}

describe('make run', () => {
  test.each(PARTS)(
    'starts %s again when it is killed; all serve again, and a stream elsewhere has no gap',
    async (name) => {
      const from = recorder.video.length;
      const [ended, back] = [`${name} ended (signal SIGKILL); starting it again`, `${name} is back`];
      await kill(name);
      await until(`it says that ${name} is back`, () => count(back) === 1, 90_000);
      expect(count(ended)).toBe(1);
      await until('all serve again', serves, 60_000);
      const at = recorder.video.length;
      await until('pictures go on', () => recorder.video.length > at + 30, 10_000);
      expectNoGap(from);
      // None of the others ended because of it.
      for (const other of PARTS) expect(count(`${other} ended`)).toBeLessThanOrEqual(1);
      expect(count(' ended (')).toBe(PARTS.indexOf(name) + 1);
    },
  );

  test('all of them killed at once start again, and a stream elsewhere has no gap', async () => {
    const from = recorder.video.length;
    const backs = () => PARTS.map((name) => count(`${name} is back`));
    const before = backs();
    for (const name of PARTS) process.kill(findPid(name) ?? 0, 'SIGKILL');
    await until('all are back', () => backs().every((times, i) => times > (before[i] ?? 0)), 90_000);
    await until('all serve again', serves, 60_000);
    const at = recorder.video.length;
    await until('pictures go on', () => recorder.video.length > at + 30, 10_000);
    expectNoGap(from);
  });

  test('the operator, the API and billing do their work as before', async () => {
    const { client } = system;
    expect((await client.streams.stop(elsewhere, { wait: 60 })).status).toBe('stopped');
    expect((await client.streams.start(elsewhere, { wait: 60 })).status).toBe('live');
    // Its destination has ended twice by now. So the third connection has to last before it counts, at most for five minutes.
    await until(
      'the demo is live',
      async () => (await client.streams.get(system.facts.demoStreamId ?? '')).status === 'live',
      110_000,
    );
  }, 400_000);

  test('while it waits for a stream to go on air it says why, in the words of the API', async () => {
    const { facts, client } = system;
    let publishes = 0;
    const busy = await startRtmpRecorder({ isInUse: () => ++publishes < 5 });
    onTestFinished(() => busy.close());
    const { promise: link, resolve: serve } = Promise.withResolvers<void>();
    const files = createServer((_request, response) => {
      void link.then(() => createReadStream(DEMO_CLIP).pipe(response));
    }).listen(0, '127.0.0.1');
    await once(files, 'listening');
    onTestFinished(() => void files.close());
    const details: string[] = [];
    const request = {
      apiUrl: facts.apiUrl,
      apiKey: facts.apiKey,
      name: 'Busy',
      rtmpKey: 'taken',
      mediaUrl: `http://127.0.0.1:${(files.address() as AddressInfo).port}/busy.mp4`,
      rtmpUrl: `rtmp://127.0.0.1:${busy.port}/live`,
    };
    const detail = (text: string) => {
      if (details.at(-1) !== text) details.push(text);
      if (text.includes('is still being imported')) serve();
    };
    const id = await putOnAir(request, { detail, signal: AbortSignal.timeout(90_000) });
    const said = details.join('\n');
    expect(details).toEqual([...new Set(details)]);
    expect(said).toMatch(/^Upload "(?!upl-).+" is still being imported\.$/m);
    expect(said).toContain('The destination says that the key is in use: something else is publishing with it.');
    expect(publishes).toBe(5);
    await client.streams.delete(id);
  });

  test('Ctrl-C while a part is started again ends every process', async () => {
    await leaveDemoUnimported();
    const before = records().map(({ pid }) => identify(pid));
    await kill('kube-apiserver');
    expect(await system.interrupt()).toBe(0);
    expect(before.filter((identity) => identity && isAlive(identity))).toEqual([]);
    expect(records()).toEqual([]);
  });

  test('the next run moves the demo to its own ports, and fetches missing files from there', async () => {
    const { facts } = system;
    system = await startSystem([], system.stateDir);
    expect(system.facts.demoStreamId).toBe(facts.demoStreamId);
    expect([system.facts.rtmpUrl, system.facts.playUrl]).not.toEqual([facts.rtmpUrl, facts.playUrl]);
    const demo = await system.client.streams.get(system.facts.demoStreamId ?? '');
    expect(demo.status).toBe('live');
    expect((await system.client.destinations.get(demo.destinationID)).rtmpUrl).toBe(system.facts.rtmpUrl);
    // It goes on air before the whole file is there.
    await expect
      .poll(async () => (await system.client.uploads.get(demo.videoUploadObjectID ?? '')).state)
      .toBe('ready');
    const response = await fetch(`${system.facts.playUrl}/demo.flv`);
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString('latin1', 0, 3)).toBe('FLV');
  });

  test('each stream sends by the program that the run names', async () => {
    await system.interrupt();
    const sender = join(system.stateDir, 'sender');
    const ffmpeg = (process.env.PATH ?? '').split(':').map((dir) => join(dir, 'ffmpeg'));
    symlinkSync(ffmpeg.find((file) => existsSync(file)) ?? '', sender);
    system = await startSystem([], system.stateDir, { LOOPSTREAM_SENDER: sender });
    expect((await system.client.streams.get(system.facts.demoStreamId ?? '')).status).toBe('live');
    expect(listCommands()).toContain(sender);
  });

  test('a part that ends five times in a minute ends it all, with its last words', async () => {
    const before = records().map(({ pid }) => identify(pid));
    for (let times = 1; times <= 5; times++) {
      await kill('kube-scheduler');
      if (times < 5) await until('it is started again', () => count('kube-scheduler is back') === times, 30_000);
    }
    expect(await system.exited).toBe(1);
    const [, said = ''] = system.output().split('kube-scheduler ended (signal SIGKILL), 5 times in a minute');
    expect(said).toContain('The end of its log:');
    expect(before.filter((identity) => identity && isAlive(identity))).toEqual([]);
    expect(records()).toEqual([]);
  });
});
