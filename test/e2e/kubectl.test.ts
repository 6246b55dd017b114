/** Tests that the resources are the truth: without an API server and PostgreSQL, kubectl alone puts a stream on air. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTrackPackets } from '../kit/make/media.ts';
import { ROOT, type System, startSystem } from '../kit/system/system.ts';
import { until } from '../kit/wait.ts';

const run = promisify(execFile);
let dir: string;
let system: System;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'loopstream-kubectl-'));
  system = await startSystem(['--operator-only', '--record']);
});

afterAll(async () => {
  await system?.close();
  await rm(dir, { recursive: true, force: true });
});

const kubectl = async (...args: string[]): Promise<string> => {
  const { stdout } = await run(join(system.stateDir, 'bin/kubectl'), ['-n', 'loopstream', ...args], {
    env: { PATH: process.env.PATH, HOME: dir, KUBECONFIG: system.facts.kubeconfig },
  });
  return stdout;
};

test('kubectl apply -f manifests/samples puts a stream on air, and get and describe show its events', async () => {
  const samples = join(dir, 'samples');
  await cp(join(ROOT, 'manifests/samples'), samples, { recursive: true });
  // The samples name the default ports; this system chose free ones.
  const { rtmpUrl, playUrl } = system.facts;
  for (const name of await readdir(samples)) {
    const text = await readFile(join(samples, name), 'utf8');
    const media = new URL(playUrl).host;
    await writeFile(
      join(samples, name),
      text.replaceAll('127.0.0.1:8082', media).replaceAll('rtmp://127.0.0.1:1935/live', rtmpUrl),
    );
  }
  await kubectl('apply', '-f', samples);
  await kubectl('wait', '--for=condition=Live', 'loopstream/sample', '--timeout=120s');

  const table = await kubectl('get', 'loopstreams');
  expect(table.split('\n')[0]).toMatch(/NAME\s+STATE\s+READY\s+DESTINATION\s+UPTIME\s+RESTARTS/);
  expect(table).toMatch(/sample\s+live\s+true/);
  const story = await kubectl('describe', 'loopstream', 'sample');
  expect(story).toMatch(/Events:[\s\S]*Live/);

  await until(
    'the receiver recorded six seconds',
    async () => {
      const files = await readdir(join(system.stateDir, 'recordings/live/sample')).catch(() => []);
      const [file] = files;
      if (!file) return false;
      const { dts } = await readTrackPackets(join(system.stateDir, 'recordings/live/sample', file), 'v').catch(() => ({
        dts: [],
      }));
      return (dts.at(-1) ?? 0) > 6;
    },
    60_000,
  );
  await kubectl('delete', 'loopstream', 'sample', '--timeout=60s');
  expect((await kubectl('get', 'pods', '-o', 'name')).includes('sample-onair')).toBe(false);
});
