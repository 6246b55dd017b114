/**
 * Tests `make run ARGS="--kind"` on a real cluster of kind: the demo is on air from there, `--keep` keeps the cluster for the next start, and
 * otherwise nothing is left.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { environment } from '../../src/core/settings/environment.ts';
import { createCommands } from '../../tools/local/kind/commands.ts';
import { ensureImages } from '../../tools/local/kind/image.ts';
import { localEnvironment } from '../../tools/process/environment.ts';
import { withFileLock } from '../../tools/process/filelock.ts';
import { run } from '../../tools/process/run.ts';
import { readTrackPackets } from '../kit/make/media.ts';
import { importImages } from '../kit/real/cluster/cluster.ts';
import { runOrThrow } from '../kit/real/cluster/command.ts';
import { takeDown } from '../kit/real/cluster/down.ts';
import { ensureImageStore, exportImage, PREPARE_IMAGE, PROJECT_IMAGE } from '../kit/real/cluster/images.ts';
import { clusterLayout } from '../kit/real/cluster/layout.ts';
import { whatIsMissing, whyNoEngine } from '../kit/real/engine/programs.ts';
import { ensureKind } from '../kit/real/go-programs.ts';
import { ensureHelms } from '../kit/real/helm/program.ts';
import { WITHIN, withKindEngine } from '../kit/real/kind/engine.ts';
import { ensureNodeArchive, NODE_IMAGE } from '../kit/real/kind/node-image.ts';
import { ensureApp, LOCAL_MAIN } from '../kit/system/app.ts';
import { startSystem } from '../kit/system/system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const IMAGE = 'loopstream:under-test';
/** Archive → the image in it, under the name that the engine gets. */
const ARCHIVES = {
  'image.tar': [PROJECT_IMAGE, IMAGE],
  'prepare-image.tar': [PREPARE_IMAGE, 'loopstream-prepare:under-test'],
} as const;
const FRAMES_OF_THREE_SECONDS = 90;

const why = (await whyNoEngine()) ?? (await whatIsMissing());
const { cacheDir } = localEnvironment();
const say = (step: string) => void process.stdout.write(`  … ${step}\n`);

const dir = tempDir();
let env: Record<string, string>;
const over = Promise.withResolvers<void>();
let engine: Promise<void> | undefined;

const docker = (...words: string[]) => runOrThrow('docker', words, { env, timeoutMs: 120_000 });

/** Names everything that the engine has. */
async function inventory() {
  const list = async (...words: string[]) => (await docker(...words)).trim().split('\n').sort();
  return {
    containers: await list('ps', '--all', '--format', '{{.Names}}'),
    networks: await list('network', 'ls', '--format', '{{.Name}}'),
    volumes: await list('volume', 'ls', '--format', '{{.Name}}'),
    images: await list('images', '--format', '{{.Repository}}:{{.Tag}}'),
  };
}

/** A directory with links to the programs, as somebody has them who has installed them. */
async function linkPrograms(): Promise<string> {
  const path = join(dir, 'bin');
  mkdirSync(path);
  const [{ kind }, { helm4 }] = await Promise.all([ensureKind(say), ensureHelms(say)]);
  // Debian's client goes with Debian's engine.
  for (const [name, program] of Object.entries({ kind, helm: helm4, docker: '/usr/bin/docker' }))
    symlinkSync(program, join(path, name));
  return path;
}

async function exportImages(): Promise<void> {
  const layout = clusterLayout(cacheDir);
  await withFileLock(layout.lockFile, async () => {
    try {
      await ensureImageStore(layout.imagesDir, (root, archives) => importImages(layout, root, archives), say);
      for (const [file, [image, name]] of Object.entries(ARCHIVES))
        await exportImage(layout.imagesDir, image, join(dir, file), name);
    } finally {
      await takeDown(layout);
    }
  });
}

beforeAll(async () => {
  if (why !== undefined) return;
  const [path] = await Promise.all([linkPrograms(), ensureApp(), ensureNodeArchive(cacheDir, say), exportImages()]);
  const socket = Promise.withResolvers<string>();
  engine = withKindEngine(cacheDir, (address) => {
    socket.resolve(address);
    return over.promise;
  });
  engine.catch(socket.reject);
  env = {
    ...(environment() as Record<string, string>),
    PATH: `${path}:${process.env.PATH}`,
    DOCKER_HOST: `unix://${await socket.promise}`,
  };
  for (const file of Object.keys(ARCHIVES)) await docker('load', '--quiet', '--input', join(dir, file));
});

afterAll(async () => {
  over.resolve();
  await engine;
});

describe('a start on kind', { skip: why !== undefined }, () => {
  test('puts the demo on air, keeps the cluster where it is told to, and leaves nothing otherwise', async () => {
    const before = await inventory();
    const stateDir = join(dir, 'state');
    mkdirSync(stateDir);
    const start = async (...args: string[]) => {
      const system = await startSystem(
        ['--kind', '--image', IMAGE, '--node-image', NODE_IMAGE, '--record', ...args],
        stateDir,
        env,
        WITHIN,
      );
      // A failed test leaves no cluster behind: it goes with its engine.
      onTestFinished(() => system.kill());
      return system;
    };
    const first = await start('--keep');
    await receive(stateDir, 1);
    const me = await callInside(`${first.facts.apiUrl}/me`, first.facts.apiKey);
    expect(JSON.parse(me)).toMatchObject({ email: first.facts.email });
    const nodes = await runOrThrow(
      WITHIN[0],
      [WITHIN[1], 'kubectl', 'get', 'loopstreams', '--all-namespaces', '-o', 'name'],
      {
        env: { ...env, KUBECONFIG: first.facts.kubeconfig },
      },
    );
    expect(nodes).toContain(first.facts.demoStreamId);
    expect(await first.interrupt()).toBe(0);
    expect(first.output()).toContain('kind delete cluster --name loopstream');
    expect((await inventory()).containers).toEqual(['loopstream-control-plane']);

    const second = await start();
    expect(second.facts).toMatchObject({ demoStreamId: first.facts.demoStreamId, apiKey: first.facts.apiKey });
    await receive(stateDir, 2);
    expect(await second.interrupt()).toBe(0);
    expect(await inventory()).toEqual(before);
    expect(await readdir(join(stateDir, 'pids'))).toEqual([]);
  });

  test('leaves nothing when it is interrupted while kind makes the cluster', async () => {
    const before = await inventory();
    const stateDir = join(dir, 'interrupted');
    const args = ['--kind', '--image', IMAGE, '--node-image', NODE_IMAGE, '--state-dir', stateDir, '--keep'];
    const [command, ...words] = [...WITHIN, process.execPath, LOCAL_MAIN, ...args];
    const output = join(dir, 'interrupted.log');
    const log = openSync(output, 'a');
    const child = spawn(command, words, { env, stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    await until('the node runs', async () => (await docker('ps', '--format', '{{.Names}}')).includes('loopstream'));
    // As a terminal does, which interrupts the whole process group.
    process.kill(-(child.pid ?? 0), 'SIGINT');
    const exit = await exited;
    expect(exit, await readFile(output, 'utf8')).toEqual([0, null]);
    expect(await inventory()).toEqual(before);
    expect(await readdir(join(stateDir, 'pids'))).toEqual([]);
  });

  test('builds its images from a Dockerfile, and names them by their content', async () => {
    const context = join(dir, 'context');
    mkdirSync(context);
    const stages = ['prepare', 'loopstream'].map((name) => `FROM scratch AS ${name}\nCOPY Dockerfile /${name}\n`);
    writeFileSync(join(context, 'Dockerfile'), stages.join(''));
    const commands = createCommands({ all: env });
    const build = () => ensureImages(commands, { image: undefined, context, signal: new AbortController().signal });
    const tags = await build();
    const made = { loopstream: tags.image, 'loopstream-prepare': tags.prepareImage };
    const names = Object.entries(made).flatMap(([name, tag]) => [`${name}:${tag}`, `${name}:local`]);
    onTestFinished(async () => void (await docker('rmi', ...names)));
    for (const [name, tag] of Object.entries(made))
      expect(await docker('image', 'inspect', '--format', '{{.Id}}', `${name}:${tag}`)).toContain(tag);
    expect(await build()).toEqual(tags);
  });

  test.each([
    [
      'without an engine',
      { DOCKER_HOST: 'unix:///run/loopstream-nobody.sock' },
      /Docker engine, and none answers: .*https:/,
    ],
    [
      'without programs',
      { PATH: '/nowhere' },
      /the Docker client, and `docker` does not run here\. Install it: https:/,
    ],
  ])('%s says in one sentence what is missing, and starts nothing', async (_, lacking, sentence) => {
    const stateDir = join(dir, 'unused');
    const { stderr, exitStatus } = await startRefused(['--kind', '--state-dir', stateDir], { ...env, ...lacking });
    expect(stderr).toMatch(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(exitStatus).toBe(2);
    expect(await readdir(stateDir).catch(() => [])).toEqual([]);
  });
});

async function startRefused(args: string[], variables: Record<string, string>) {
  const script = '"$@"; echo "status $?"';
  const { stdout, stderr } = await run('/bin/sh', ['-c', script, 'sh', process.execPath, LOCAL_MAIN, ...args], {
    env: variables,
  });
  return { stderr, exitStatus: Number(/status (\d+)/.exec(stdout)?.[1]) };
}

/** Waits until the receiver of the machine has recorded three seconds of the `count`th publish. */
async function receive(stateDir: string, count: number): Promise<void> {
  const recordings = join(stateDir, 'recordings');
  await until(`the receiver has pictures of publish ${count}`, async () => {
    const files = (await readdir(recordings, { recursive: true }).catch(() => []))
      .filter((name) => name.endsWith('.flv'))
      .sort();
    if (files.length < count) return false;
    const { dts } = await readTrackPackets(join(recordings, files.at(-1) ?? ''), 'v');
    return dts.length > FRAMES_OF_THREE_SECONDS;
  });
}

/** The key is on standard input, since others on the machine can read arguments. */
const callInside = (url: string, key: string): Promise<string> =>
  runOrThrow(WITHIN[0], [WITHIN[1], 'curl', '--silent', '--show-error', '--fail', '--header', '@-', url], {
    input: `X-API-Key: ${key}`,
  });
