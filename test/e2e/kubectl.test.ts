/** Tests that the resources are the truth: without an API server and PostgreSQL, kubectl alone puts a stream on air, and its plugin explains it. */
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildKubectl } from '../../scripts/build-kubectl.ts';
import type { PlannedItem } from '../../src/core/programme/plan.ts';
import { API_VERSION } from '../../src/core/resources/common/names.ts';
import { kubectl } from '../kit/kubectl.ts';
import { readTrackPackets } from '../kit/make/media.ts';
import { run } from '../kit/run.ts';
import { ROOT, type System, startSystem } from '../kit/system/system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const dir = tempDir();
let system: System;

beforeAll(async () => {
  [system] = await Promise.all([startSystem(['--operator-only', '--record']), buildKubectl(join(dir, 'plugin'))]);
});

afterAll(() => system?.close());

const environment = () => ({
  PATH: [join(dir, 'plugin'), process.env.PATH].join(delimiter),
  HOME: dir,
  KUBECONFIG: system.facts.kubeconfig,
});

/** Runs the plugin through kubectl. */
const loop = async (...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> => {
  const words = ['loop', ...args, '-n', 'loopstream'];
  const running = run(join(system.stateDir, 'bin/kubectl'), words, { env: environment() });
  return running.then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ status: code, stdout, stderr }),
  );
};

/** Writes the samples with the ports of this system, and returns their folder. */
async function writeSamples(): Promise<string> {
  const samples = join(dir, 'samples');
  await cp(join(ROOT, 'manifests/samples'), samples, { recursive: true });
  // The samples name the default ports; this system chose free ones.
  const { rtmpUrl, playUrl } = system.facts;
  const media = new URL(playUrl).host;
  for (const name of await readdir(samples)) {
    const text = await readFile(join(samples, name), 'utf8');
    await writeFile(
      join(samples, name),
      text.replaceAll('127.0.0.1:8082', media).replaceAll('rtmp://127.0.0.1:1935/live', rtmpUrl),
    );
  }
  return samples;
}

test('kubectl apply -f manifests/samples puts a stream on air, and get and describe show its events', async () => {
  const samples = await writeSamples();
  await kubectl(system, 'apply', '-f', samples);
  await kubectl(system, 'wait', '--for=condition=Live', 'loopstream/sample', '--timeout=120s');

  const table = await kubectl(system, 'get', 'loopstreams');
  expect(table.split('\n')[0]).toMatch(/NAME\s+STATE\s+READY\s+DESTINATION\s+VIEWERS\s+UPTIME\s+RESTARTS/);
  expect(table).toMatch(/sample\s+live\s+True/);
  const story = await kubectl(system, 'describe', 'loopstream', 'sample');
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
  await kubectl(system, 'delete', 'loopstream', 'sample', '--timeout=60s');
  expect((await kubectl(system, 'get', 'pods', '-o', 'name')).includes('sample-onair')).toBe(false);
});

test('kubectl loop skips, tests, reads logs and finds a refused destination on a stream that is really on air', async () => {
  await kubectl(system, 'apply', '-f', await writeSamples());
  expect(await loop('start', 'sample', '--wait', '--timeout', '2m')).toMatchObject({
    status: 0,
    stdout: 'Stream "sample" is live.\n',
  });
  expect((await loop('status')).stdout).toMatch(/\nsample +Sample stream +live +\d+m?s +Local receiver +0 +-\n/);
  expect(await loop('skip', 'sample')).toMatchObject({ status: 0 });
  const onAir = await loop('test', 'sample');
  expect(onAir).toMatchObject({ status: 1, stdout: expect.stringContaining('(on_air, ') });
  expect((await loop('logs', 'sample')).stdout).toContain('"msg":"a skip was requested"');
  expect((await loop('logs', '--prepare', 'sample', '--tail', '1')).stdout.trim().split('\n')).toHaveLength(1);

  // Nothing listens there, and the key must not be shown by anything.
  const key = 'c4n4ry-k3y';
  const secret = ['--from-literal=rtmpUrl=rtmp://127.0.0.1:9/live', `--from-literal=rtmpKey=${key}`];
  await kubectl(system, 'create', 'secret', 'generic', 'nobody', ...secret);
  const destination = {
    apiVersion: API_VERSION,
    kind: 'Destination',
    metadata: { name: 'nobody' },
    spec: { secretName: 'nobody' },
  };
  await writeFile(join(dir, 'nobody.json'), JSON.stringify(destination));
  await kubectl(system, 'apply', '-f', join(dir, 'nobody.json'));
  await until('the destination is ready', async () =>
    (await kubectl(system, 'get', 'dest', 'nobody')).includes('True'),
  );
  const refused = await loop('test', 'nobody');
  expect(refused).toMatchObject({ status: 1, stdout: expect.stringContaining('(connection_refused, ') });
  await kubectl(
    system,
    'patch',
    'loop',
    'sample',
    '--type=merge',
    '-p',
    '{"spec":{"destinationNames":["sample","nobody"]}}',
  );
  const story = await until(
    'the story names the destination',
    async () => {
      const { stdout } = await loop('diagnose', 'sample');
      // At first the pod has not read the Secret of the destination yet.
      return stdout.includes('Compare host and port in the URL of the destination') && stdout;
    },
    60_000,
  );
  expect(story).toContain('Destination "nobody" does not accept the stream.');

  const file = join(dir, 'bundle.tar.gz');
  expect(await loop('support-bundle', '-o', file)).toMatchObject({ status: 0 });
  const { stdout: bundle } = await run('tar', ['-xzOf', file]);
  expect(bundle).toContain('"msg":"a skip was requested"');
  expect(bundle).toContain('The destination refuses connections.');
  for (const text of [story, refused.stdout, bundle]) expect(text).not.toContain(key);
  expect(await loop('stop', 'sample', '--wait')).toMatchObject({ status: 0, stdout: 'Stream "sample" is stopped.\n' });
});

test('kubectl loop timeline prints what the stream really plays, and kubectl patch shows the slate in its place, in one publish', async () => {
  await kubectl(system, 'apply', '-f', await writeSamples());
  expect(await loop('timeline', 'sample')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('only a stream on air plays something'),
  });
  expect(await loop('start', 'sample', '--wait', '--timeout', '2m')).toMatchObject({ status: 0 });
  const read = async (): Promise<PlannedItem[]> => {
    const { status, stdout } = await loop('timeline', 'sample', '-o', 'json');
    expect(status).toBe(0);
    return JSON.parse(stdout) as PlannedItem[];
  };
  const items = await until(
    'it is exact',
    async () => {
      const found = await read();
      return found[0]?.exact === true && found;
    },
    60_000,
  );
  const path = 'jsonpath={.status.renditions[?(@.profile=="720p30")].durationSeconds}';
  const seconds = Number(await kubectl(system, 'get', 'upload', 'sample', '-o', path));
  expect(seconds).toBeGreaterThan(0);
  for (const [i, item] of items.entries()) {
    expect(item).toMatchObject({ id: 'sample', exact: true });
    expect(Math.abs(item.durationSeconds - seconds)).toBeLessThan(0.01);
    if (i > 0) expect(item.startAt).toBe(items[i - 1]?.endAt);
  }
  // The first one is on air, and the last one begins within a day, and ends behind it.
  const first = Date.parse(items[0]?.startAt ?? '');
  expect(first).toBeLessThan(Date.now());
  expect(Math.abs(items.length - (86_400 + (Date.now() - first) / 1000) / seconds)).toBeLessThan(3);

  const span = ['--from', items[1]?.startAt ?? '', '--to', items[3]?.startAt ?? ''];
  const table = (await loop('timeline', 'sample', ...span)).stdout.trim().split('\n');
  expect(table[0]).toMatch(/^START +SECONDS +UPLOAD +RULE +NAME/);
  expect(table.slice(1).map((line) => line.split(/ +/)[0])).toEqual([items[1]?.startAt, items[2]?.startAt]);
  const csv = (await loop('timeline', 'sample', ...span, '-o', 'csv')).stdout.trim().split('\r\n');
  expect(csv.slice(1).map((line) => line.split(',')[0])).toEqual([items[1]?.startAt, items[2]?.startAt]);

  const explain = async (...words: string[]) =>
    (await loop('explain', 'sample', '--upload', 'sample', ...words)).stdout;
  expect(await explain('--at', items[1]?.startAt ?? '')).toMatch(/^"[^"]+" plays from .+\n\ncode: +played\n/);
  expect(JSON.parse(await explain('-o', 'json'))).toMatchObject({
    code: 'played',
    turn: { id: 'sample' },
    exact: true,
  });
  expect((await loop('explain', 'sample', '--rule', 'news')).stdout).toContain('has no rule "news"');
  expect(await loop('explain', 'sample')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--rule or --upload'),
  });

  const countPublishes = async () => (await readdir(join(system.stateDir, 'recordings/live/sample'))).length;
  const before = await countPublishes();
  const patch = (quarantine: unknown) =>
    kubectl(system, 'patch', 'upload', 'sample', '--type=merge', '-p', JSON.stringify({ spec: { quarantine } }));
  await patch({ reason: 'A claim is being checked.', cut: true });
  await kubectl(
    system,
    'wait',
    '--for=jsonpath={.status.conditions[?(@.type=="Degraded")].reason}=NothingPlayable',
    'loop/sample',
    '--timeout=60s',
  );
  expect(await kubectl(system, 'get', 'upload', 'sample', '-o', 'wide')).toContain('A claim is being checked.');
  expect((await loop('diagnose', 'sample')).stdout).toContain('is in quarantine: A claim is being checked.');
  expect(await loop('timeline', 'sample')).toMatchObject({ stdout: '' });
  expect(await explain()).toContain('code:    upload_quarantined');
  await patch(null);
  await kubectl(system, 'wait', '--for=condition=Degraded=False', 'loop/sample', '--timeout=60s');
  await until('it plays again', async () => (await read())[0]?.exact === true, 60_000);
  expect(await countPublishes()).toBe(before);
  expect(await loop('stop', 'sample', '--wait')).toMatchObject({ status: 0 });
});
