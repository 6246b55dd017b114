import { mkdir, readdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readDestinationFiles, watchFiles } from '../../../../../src/core/pods/streamer/mounted-files.ts';
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
const paths = () => ({
  programFile: join(dir, OF_PROGRAM),
  destinationsFile: join(dir, FILE),
  destinationsDir: join(dir, 'destinations'),
  allowPrivateDestinations: false,
});
/** One destination in the layout of the stream's Secret. */
const inFile = (name: string, rtmpKey: string): Files => ({
  [FILE]: JSON.stringify({ [name]: { rtmpUrl: 'rtmp://live.example/app', rtmpKey } }),
});
/** The same in the layout of a first pod. */
const inDir = (name: string, rtmpKey: string): Files => ({
  [`destinations/${name}/rtmpUrl`]: 'rtmp://live.example/app\n',
  [`destinations/${name}/rtmpKey`]: rtmpKey,
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
    const found = await readDestinationFiles(paths());
    expect(found?.get('tv')).toEqual({ ...tv, rtmpUrl: 'rtmps://tv.example/app' });
    expect(found?.get('backup')).toEqual({ ...secrets(''), rtmpUrl: 'srt://b.example:9000' });
    expect(await readDestinationFiles({ destinationsFile: paths().destinationsFile })).toEqual(found);
  });

  test('from the directory of a first pod, while there is no such file', async () => {
    const login = { 'destinations/tv/rtmpUser': 'ada', 'destinations/tv/rtmpPassword': 'pass\n' };
    await write(dir, { ...inDir('tv', 'k\n'), ...login, ...inDir('backup.example', '') });
    expect(await readDestinationFiles(paths())).toEqual(
      new Map([
        ['tv', { ...secrets('k'), rtmpUser: 'ada', rtmpPassword: 'pass' }],
        ['backup.example', secrets('')],
      ]),
    );
  });

  test('from the file alone as soon as it exists', async () => {
    await write(dir, { ...inDir('tv', 'old'), ...inDir('gone', 'old') });
    await write(dir, inFile('tv', 'new'));
    expect(await readDestinationFiles(paths())).toEqual(new Map([['tv', secrets('new')]]));
    await write(dir, { [FILE]: '{}' });
    expect(await readDestinationFiles(paths())).toEqual(new Map());
  });

  test('without those that have no URL, in either layout', async () => {
    await write(dir, { ...inDir('tv', 'k'), 'destinations/empty/rtmpUrl': ' \n', 'destinations/none/rtmpKey': 'k' });
    expect([...((await readDestinationFiles(paths())) ?? [])]).toEqual([['tv', secrets('k')]]);
    const others = { empty: { rtmpUrl: ' ', rtmpKey: 'k' }, none: {}, nothing: null, number: { rtmpUrl: 1 } };
    await write(dir, { [FILE]: JSON.stringify({ ...others, tv: secrets('k') }) });
    expect([...((await readDestinationFiles(paths())) ?? [])]).toEqual([['tv', secrets('k')]]);
  });
});

describe('destinations cannot be read', () => {
  test.each([
    ['nothing', ''],
    ['half of it', inFile('tv', 'k')[FILE]?.slice(0, -1) ?? ''],
    ['a text', '"tv"'],
    ['null', 'null'],
  ])('from a file with %s, whatever is in the directory', async (_what, content) => {
    await write(dir, { ...inDir('tv', 'old'), [FILE]: content });
    expect(await readDestinationFiles(paths())).toBeUndefined();
  });

  test('from a directory with a member that cannot be read', async () => {
    await write(dir, { ...inDir('tv', 'k'), 'destinations/tv/rtmpUser/nested': '' });
    expect(await readDestinationFiles(paths())).toBeUndefined();
  });

  test('from a file that exists and cannot be opened, whatever is in the directory', async () => {
    await write(dir, inDir('tv', 'old'));
    await mkdir(join(dir, FILE));
    expect(await readDestinationFiles(paths())).toBeUndefined();
  });

  test('without the file and the directory', async () => {
    expect(await readDestinationFiles(paths())).toBeUndefined();
    expect(await readDestinationFiles({ destinationsFile: paths().destinationsFile })).toBeUndefined();
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

  test.each([
    ['file', inFile],
    ['directory', inDir],
  ])('sees each swap of a volume with the %s of destinations, and nothing between them', async (_what, put) => {
    const volume = new Volume();
    await volume.put({ ...base, ...put('tv', 'one') });
    const { destinations, programs, poll } = await startWatching(program);
    await poll();
    await poll();
    expect(destinations).toEqual([{ tv: secrets('one') }]);
    await volume.put({ ...base, ...put('tv', 'two') });
    await poll();
    await poll();
    await volume.put({ ...base, ...put('tv', 'three') });
    await poll();
    expect(destinations.slice(1)).toEqual([{ tv: secrets('two') }, { tv: secrets('three') }]);
    expect(programs).toEqual([]);
  });

  test('sees the file that appears in a volume with the directory alone, and later ones', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inDir('tv', 'one') });
    const { destinations, poll } = await startWatching(program);
    await poll();
    await volume.put({ ...base, ...inDir('tv', 'one'), ...inFile('backup', 'two') });
    await poll();
    await volume.put({ ...base, ...inDir('tv', 'one'), ...inFile('backup', 'three') });
    await poll();
    await poll();
    expect(destinations).toEqual([{ tv: secrets('one') }, { backup: secrets('two') }, { backup: secrets('three') }]);
  });

  test('sees the file that appears a moment after a poll has seen the new volume', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inDir('tv', 'one') });
    const { destinations, poll } = await startWatching(program);
    await poll();
    await volume.put({ ...base, ...inDir('tv', 'one'), ...inFile('tv', 'two') }, poll);
    await poll();
    expect(destinations.at(-1)).toEqual({ tv: secrets('two') });
  });

  test.each([
    ['is gone', {}],
    ['has no URL', { 'destinations/tv/rtmpKey': 'two' }],
    ['has a URL of another kind', { 'destinations/tv/rtmpUrl': 'file:///etc/passwd' }],
    ['has a private address', { 'destinations/tv/rtmpUrl': 'rtmp://10.0.0.1/app', 'destinations/tv/rtmpKey': 'k' }],
  ])('keeps a destination whose Secret %s, and sees the others', async (_what, broken: Files) => {
    const volume = new Volume();
    await volume.put({ ...base, ...inDir('tv', 'one'), ...inDir('backup', 'one') });
    const { destinations, poll } = await startWatching(program);
    await poll();
    await volume.put({ ...base, ...broken, ...inDir('backup', 'two') });
    await poll();
    expect(destinations.at(-1)).toEqual({ tv: secrets('one'), backup: secrets('two') });
    await volume.put({ ...base, ...inDir('tv', 'three'), ...inDir('backup', 'two') });
    await poll();
    expect(destinations.at(-1)).toEqual({ tv: secrets('three'), backup: secrets('two') });
  });

  test('sees the file that appears after the Secrets of the directory are gone', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inDir('tv', 'one') });
    const { destinations, poll } = await startWatching(program);
    await poll();
    await volume.put(base);
    await poll();
    expect(destinations).toEqual([{ tv: secrets('one') }]);
    await volume.put({ ...base, ...inFile('tv', 'two') });
    await poll();
    expect(destinations.at(-1)).toEqual({ tv: secrets('two') });
  });

  test('keeps the destinations while the file is broken, and takes it when it is not', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inDir('tv', 'one') });
    const { destinations, poll } = await startWatching(program);
    await poll();
    await volume.put({ ...base, ...inDir('tv', 'old'), [FILE]: '{' });
    await poll();
    await poll();
    expect(destinations).toEqual([{ tv: secrets('one') }]);
    await volume.put({ ...base, ...inDir('tv', 'old'), ...inFile('tv', 'two') });
    await poll();
    expect(destinations.slice(1)).toEqual([{ tv: secrets('two') }]);
  });

  test('sees a program that differs, once', async () => {
    const volume = new Volume();
    await volume.put({ ...base, ...inDir('tv', 'one') });
    const { programs, poll } = await startWatching(program);
    await poll();
    const next = { ...program, version: 2 };
    await volume.put({ [OF_PROGRAM]: JSON.stringify(next), ...inDir('tv', 'one') });
    await poll();
    await poll();
    expect(programs).toEqual([next]);
  });
});
