/** Tests `make run ARGS="--detach --media my.mp4 --to rtmp://host/app/key"`, and `make stop` and `make reset` after it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocalFacts } from '../../tools/local/state.ts';
import { makeClip, readTrackPackets } from '../kit/make/media.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { run } from '../kit/run.ts';
import { LOCAL_MAIN } from '../kit/system/app.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const FREE_PORTS = ['--port', '--rtmp-port', '--media-port', '--kube-port', '--mail-port'].flatMap((name) => [
  name,
  '0',
]);
const dir = tempDir();
let stateDir: string;
let receiver: RtmpServer;

const local = (...args: string[]) => run(process.execPath, [LOCAL_MAIN, '--state-dir', stateDir, ...args]);

beforeAll(async () => {
  stateDir = join(dir, 'state');
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  await makeClip(join(dir, 'my own clip.mp4'), { seconds: 3, size: '480x270', fps: 25 });
});

afterAll(async () => {
  await local('reset').catch(() => undefined);
  await receiver?.close();
});

test('the command returns when a person’s own file is on air at their own destination, stops on request, and forgets on request', async () => {
  const own = ['--media', join(dir, 'my own clip.mp4'), '--to', `${receiver.url}/own-key`];
  const { stdout } = await local('--detach', ...own, ...FREE_PORTS);
  expect(stdout).toMatch(/On air: str-/);
  const facts = JSON.parse(await readFile(join(stateDir, 'local.json'), 'utf8')) as LocalFacts;
  expect(facts.demoStreamId).toMatch(/^str-/);
  await expect(local('--detach', ...FREE_PORTS)).rejects.toThrow(/running already|make stop/);

  expect((await run('ps', ['-eo', 'args'])).stdout).not.toContain('own-key');

  const recording = await until('the destination records', async () => (await receiver.recordings('own-key'))[0]);
  await until('more than two loops have arrived', async () => {
    const { dts } = await readTrackPackets(recording, 'v').catch(() => ({ dts: [] }));
    return (dts.at(-1) ?? 0) > 7;
  });
  expect((await local('stop')).stdout).toContain('is stopped');
  expect(existsSync(join(stateDir, 'local.json'))).toBe(false);
  expect((await local('stop')).stdout).toContain('was not running');
  expect((await readTrackPackets(recording, 'v')).notIncreasing).toBe(0);
  await local('reset');
  expect(existsSync(stateDir)).toBe(false);
});
