import { mkdir, readdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readDestinationsFile, watchFiles } from '../../../../../src/core/pods/streamer/mounted-files.ts';
import type { Program } from '../../../../../src/core/protocol/program.ts';
import { buildProgram } from '../../../../kit/make/streamer.ts';
import { silent } from '../../../../kit/real/kube.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

let dir: string;
beforeEach(() => {
  dir = tempDir();
});

type Files = Record<string, string>;

async function write(root: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

const FILE = 'destinations.json';
const OF_PROGRAM = 'program.json';
const paths = () => ({ programFile: join(dir, OF_PROGRAM), destinationsFile: join(dir, FILE) });
const read = () => readDestinationsFile(paths().destinationsFile);
/** One destination, as the stream's Secret has it. */
const inFile = (name: string, rtmpKey: string): Files => ({
  [FILE]: JSON.stringify({ [name]: { rtmpUrl: 'rtmp://live.example/app', rtmpKey } }),
});
const secrets = (rtmpKey: string) => ({
  rtmpUrl: 'rtmp://live.example/app',
  rtmpKey,
  rtmpUser: '',
  rtmpPassword: '',
});

describe('destinations are read', () => {
  test('from the file of the stream’s Secret', async () => {
    const tv = { rtmpUrl: ' rtmps://tv.example/app\n', rtmpKey: 'k', rtmpUser: 'ada', rtmpPassword: 'pass' };
    await write(dir, { [FILE]: JSON.stringify({ tv, backup: { rtmpUrl: 'srt://b.example:9000' } }) });
    const found = await read();
    expect(found?.get('tv')).toEqual({ ...tv, rtmpUrl: 'rtmps://tv.example/app' });
    expect(found?.get('backup')).toEqual({ ...secrets(''), rtmpUrl: 'srt://b.example:9000' });
  });

  test('without those that have no URL', async () => {
    const others = { empty: { rtmpUrl: ' ', rtmpKey: 'k' }, none: {}, nothing: null, number: { rtmpUrl: 1 } };
    await write(dir, { [FILE]: JSON.stringify({ ...others, tv: secrets('k') }) });
    expect([...((await read()) ?? [])]).toEqual([['tv', secrets('k')]]);
  });
});

describe('destinations cannot be read', () => {
  test.each([
    ['nothing', ''],
    ['half of it', inFile('tv', 'k')[FILE]?.slice(0, -1) ?? ''],
    ['a text', '"tv"'],
    ['null', 'null'],
  ])('from a file with %s', async (_what, content) => {
    await write(dir, { [FILE]: content });
    expect(await read()).toBeUndefined();
  });

  test('from a file that exists and cannot be opened', async () => {
    await mkdir(join(dir, FILE));
    expect(await read()).toBeUndefined();
  });

  test('without the file', async () => {
    expect(await read()).toBeUndefined();
  });
});

/** A volume that is written as kubelet does: all files anew, then the link to them is swapped, then their names are linked. */
class Volume {
  #version = 0;

  /** `beforeLinks` is called when the link is swapped, and names that are new are not there yet. */
  async put(files: Files, beforeLinks = async () => {}): Promise<void> {
    const [before, next] = [`..${this.#version}`, `..${++this.#version}`];
    await mkdir(join(dir, next));
    await write(join(dir, next), files);
    await symlink(next, join(dir, '..data_tmp'));
    await rename(join(dir, '..data_tmp'), join(dir, '..data'));
    await beforeLinks();
    const names = new Set(Object.keys(files).map((path) => path.split('/')[0] ?? ''));
    const linked = (await readdir(dir)).filter((name) => !name.startsWith('..'));
    for (const name of names) if (!linked.includes(name)) await symlink(join('..data', name), join(dir, name));
    for (const name of linked) if (!names.has(name)) await unlink(join(dir, name));
    await rm(join(dir, before), { recursive: true, force: true });
  }
}

/** Watches the volume; each poll comes when the test says so, and is over then. */
async function startWatching(program: Program) {
  const stopping = new AbortController();
  const destinations: object[] = [];
  const programs: Program[] = [];
  let wake = () => {};
  let asleep = Promise.withResolvers<void>();
  const sleep = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      asleep.resolve();
    });
  const events = {
    onProgram: (next: Program) => void programs.push(next),
    onDestinations: (found: ReadonlyMap<string, object>) => void destinations.push(Object.fromEntries(found)),
    onPoll: () => undefined,
  };
  const watching = watchFiles(paths(), program, events, silent, { signal: stopping.signal, sleep });
  await asleep.promise;
  onTestFinished(async () => {
    stopping.abort();
    wake();
    await watching;
  });
  const poll = async () => {
    asleep = Promise.withResolvers();
    wake();
    await asleep.promise;
  };
  return { destinations, programs, poll };
}

describe('a watch', () => {
  const program = buildProgram([{ id: 'a', name: 'A', rendition: 'a.flv' }]);
  const base = { [OF_PROGRAM]: JSON.stringify(program) };

  test('sees each swap of a volume, and nothing between them', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inFile('tv', 'one') });
    const { destinations, programs, poll } = await startWatching(program);
    await poll();
    await poll();
    expect(destinations).toEqual([{ tv: secrets('one') }]);
    await volume.put({ ...base, ...inFile('tv', 'two') });
    await poll();
    await poll();
    await volume.put({ ...base, ...inFile('backup', 'three') });
    await poll();
    expect(destinations.slice(1)).toEqual([{ tv: secrets('two') }, { backup: secrets('three') }]);
    expect(programs).toEqual([]);
  });

  test('sees the file that appears, also a moment after a poll has seen the new volume', async () => {
    const volume = new Volume();
    await volume.put(base);
    const { destinations, poll } = await startWatching(program);
    await poll();
    expect(destinations).toEqual([]);
    await volume.put({ ...base, ...inFile('tv', 'one') }, poll);
    await poll();
    expect(destinations).toEqual([{ tv: secrets('one') }]);
  });

  test('keeps the destinations while the file is broken or gone, and takes it when it is not', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inFile('tv', 'one') });
    const { destinations, poll } = await startWatching(program);
    await poll();
    for (const broken of [{ [FILE]: '{' }, {}]) {
      await volume.put({ ...base, ...broken });
      await poll();
      await poll();
    }
    expect(destinations).toEqual([{ tv: secrets('one') }]);
    await volume.put({ ...base, ...inFile('tv', 'two') });
    await poll();
    expect(destinations.slice(1)).toEqual([{ tv: secrets('two') }]);
  });

  test('sees a program that differs, once', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inFile('tv', 'one') });
    const { programs, poll } = await startWatching(program);
    await poll();
    const next = { ...program, version: 2 };
    await volume.put({ [OF_PROGRAM]: JSON.stringify(next), ...inFile('tv', 'one') });
    await poll();
    await poll();
    expect(programs).toEqual([next]);
  });
});
