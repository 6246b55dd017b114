/**
 * Tests a release: its files are the same when they are made again, say what is in them, and are all that an installation needs. The
 * programs of the image run in a root directory of its files; the stream is on the real cluster.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environment } from '../../src/core/settings/environment.ts';
import { localEnvironment } from '../../tools/process/environment.ts';
import { PROJECT_ROOT } from '../../tools/process/root.ts';
import { run } from '../../tools/process/run.ts';
import { runOrThrow } from '../kit/real/cluster/command.ts';
import { exportFfmpeg } from '../kit/real/cluster/images.ts';
import { clusterLayout } from '../kit/real/cluster/layout.ts';
import { createStream, openScene, PATIENCE_MS, type Scene, waitUntilReady } from '../kit/real/cluster/scene.ts';
import { ensureSpdxValidator } from '../kit/real/release/validator.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const KEY = 'stream-of-a-release';
const IMAGES = ['loopstream', 'loopstream-prepare'] as const;
type ImageName = (typeof IMAGES)[number];
/** They have 174 and 233 MiB, of which fonts have 35. */
const MAX_MIB: Record<ImageName, number> = { loopstream: 200, 'loopstream-prepare': 260 };
const PROGRAMS: Record<ImageName, string[]> = {
  loopstream: ['app/dist/confine', 'app/dist/kubectl/kubectl-loop', 'usr/local/bin/ffmpeg-send', 'usr/local/bin/node'],
  'loopstream-prepare': [
    'app/dist/confine',
    'usr/local/bin/draw-text',
    'usr/local/bin/ffmpeg',
    'usr/local/bin/ffprobe',
    'usr/local/bin/node',
  ],
};
const RELEASE_MS = 20 * 60_000;

const work = tempDir();
let release = '';
let root = '';
let scene: Scene | undefined;

const findFile = (end: string, dir = release): string => {
  const names = readdirSync(dir).filter((name) => name.endsWith(end));
  expect(names, end).toHaveLength(1);
  return join(dir, names[0] ?? '');
};
const readText = (end: string): string => readFileSync(findFile(end), 'utf8');
/** The file of an image: `loopstream-0.1.0…` is one, `loopstream-prepare-0.1.0…` the other. */
const findOf = (name: ImageName, end: string, dir = release): string => {
  const names = readdirSync(dir).filter((file) => file.endsWith(end) && /^(.*?)-\d/.exec(file)?.[1] === name);
  expect(names, `${name} ${end}`).toHaveLength(1);
  return join(dir, names[0] ?? '');
};
const readJson = async (name: ImageName, file: string, dir = release) =>
  JSON.parse(await runOrThrow('tar', ['-xOf', findOf(name, '.oci.tar', dir), file]));
const readDigest = async (name: ImageName, dir = release): Promise<string> =>
  (await readJson(name, 'index.json', dir)).manifests[0].digest;
/** Annotations and layers, so that a difference says where it is. */
const readManifest = async (name: ImageName, dir: string) =>
  readJson(name, `blobs/${(await readDigest(name, dir)).replace(':', '/')}`, dir);
const rootOf = (name: ImageName): string => join(root, name);

async function makeRelease(dir: string): Promise<string> {
  const script = join(PROJECT_ROOT, 'scripts/release.ts');
  return runOrThrow(process.execPath, [script, '--out', dir, '--ffmpeg', join(work, 'ffmpeg')], {
    timeoutMs: RELEASE_MS,
    env: environment(),
  });
}

/** Unpacks the layers as a container runtime does. */
async function unpackImage(name: ImageName): Promise<void> {
  const layout = join(work, 'layout');
  for (const dir of [layout, rootOf(name)]) mkdirSync(dir, { recursive: true });
  await runOrThrow('tar', ['-xf', findOf(name, '.oci.tar'), '-C', layout]);
  const [{ Layers }] = JSON.parse(readFileSync(join(layout, 'manifest.json'), 'utf8')) as [{ Layers: string[] }];
  for (const layer of Layers) await runOrThrow('tar', ['-xpzf', join(layout, layer), '-C', rootOf(name)]);
  rmSync(layout, { recursive: true });
}

const inImage = (name: ImageName, ...words: string[]): Promise<string> =>
  runOrThrow('chroot', ['--userspec=10001:10001', rootOf(name), ...words]);
const inPrepare = (...words: string[]) => inImage('loopstream-prepare', ...words);

/** Lists the names of `--enable-<kind>=` in scripts/build-ffmpeg. */
function listEnabled(kind: string): string[] {
  const text = readFileSync(join(PROJECT_ROOT, 'scripts/build-ffmpeg'), 'utf8');
  const filters = [...text.matchAll(/^FILTERS\+?=,?(.*)$/gm)].map(([, names]) => names).join(',');
  const [, names = ''] = new RegExp(`--enable-${kind}="?(\\S+?)"?(\\s|$)`, 'm').exec(text) ?? [];
  return names.replace('$FILTERS', filters).split(',');
}

beforeAll(async () => {
  [release, root] = [join(work, 'release'), join(work, 'root')];
  scene = await openScene(async ({ layout, nodes }) => {
    await exportFfmpeg(clusterLayout(localEnvironment().cacheDir).imagesDir, join(work, 'ffmpeg'));
    await makeRelease(release);
    for (const name of IMAGES) await unpackImage(name);
    for (const [name, node] of IMAGES.flatMap((name) => nodes.map((node) => [name, node] as const))) {
      const ctr = [
        '--address',
        join(node.layout.runDir, 'containerd.sock'),
        '--namespace',
        'k8s.io',
        'images',
        'import',
      ];
      const how = ['--digests', '--base-name', `docker.io/library/${name}`, findOf(name, '.oci.tar')];
      await runOrThrow('ctr', [...ctr, ...how], { timeoutMs: 300_000 });
    }
    expect(layout.nodes).toHaveLength(nodes.length);
    // The chart names the images. Nothing else of this checkout is used from here on.
    return { chart: findFile('.tgz'), image: () => ({}) };
  });
});

afterAll(() => scene?.close());

describe('the files of a release', () => {
  test('have the sums that it says, and are the same when they are made again', async () => {
    await runOrThrow('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release });
    const sums = readText('SHA256SUMS');
    expect(sums.trim().split('\n')).toHaveLength(readdirSync(release).length - 1);
    const again = join(work, 'again');
    await makeRelease(again);
    for (const name of IMAGES) expect(await readManifest(name, again)).toEqual(await readManifest(name, release));
    expect(readFileSync(join(again, 'SHA256SUMS'), 'utf8')).toBe(sums);
    // Nothing else is left.
    expect(readdirSync(work).sort()).toEqual(['again', 'ffmpeg', 'release', 'root']);
  });

  test.each(IMAGES)('say what is in the image %s, by the rules of SPDX 2.3', async (image) => {
    const file = findOf(image, '.spdx.json');
    const files = rootOf(image);
    const { ok, stdout, stderr } = await run(await ensureSpdxValidator(), ['--infile', file, '--version', 'SPDX-2.3'], {
      env: environment(),
      timeoutMs: 120_000,
    });
    expect(ok, stdout + stderr).toBe(true);
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
      packages: {
        name: string;
        versionInfo: string;
        licenseDeclared: string;
        externalRefs: { referenceLocator: string }[];
      }[];
    };
    const find = (name: string) => packages.find((one) => one.name === name);
    expect(find(image)?.externalRefs[0]?.referenceLocator).toContain(encodeURIComponent(await readDigest(image)));
    // Every library of the image belongs to a package of the list, and each such package is in the image.
    const status = join(files, 'var/lib/dpkg/status.d');
    const installed = readdirSync(status).filter((name) => !name.endsWith('.md5sums'));
    const debian = packages.filter(({ externalRefs }) =>
      /^pkg:deb\/.*arch=(?!source)/.test(externalRefs[0]?.referenceLocator ?? ''),
    );
    expect(
      debian
        .map(({ name }) => name)
        // The packages of static libraries.
        .filter((name) => !name.endsWith('-dev'))
        .sort(),
    ).toEqual(installed.sort());
    const sends = ['ffmpeg-send', 'libsrt-gnutls-dev', 'nettle-dev'];
    for (const name of sends) expect(find(name) !== undefined, name).toBe(image === 'loopstream');
    expect(find('ffmpeg') !== undefined).toBe(image === 'loopstream-prepare');
    const owned = installed
      .map((name) => (name === 'base-files' ? '' : readFileSync(join(status, `${name}.md5sums`), 'utf8')))
      .join('');
    const libraries = readdirSync(join(files, 'usr/lib'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.so\.[\d.]+$/.test(name),
    );
    expect(libraries.length).toBeGreaterThan(10);
    const links = await runOrThrow('find', [join(files, 'usr/lib'), '-type', 'l', '-printf', '%f\n']);
    for (const library of libraries.map((name) => name.split('/').at(-1) ?? ''))
      if (!links.split('\n').includes(library)) expect(owned, library).toContain(`/${library}\n`);
    const program = image === 'loopstream' ? 'ffmpeg-send' : 'ffmpeg';
    const ffmpeg = find(program)?.versionInfo.replace(/^\d+:|-.*/g, '') ?? '';
    expect(await inImage(image, program, '-version')).toContain(`ffmpeg version ${ffmpeg} `);
    expect(await inImage(image, 'node', '--version')).toBe(`v${find(`node-linux-${process.arch}`)?.versionInfo}\n`);
    expect(packages.length).toBeGreaterThan(250);
    for (const { name, licenseDeclared } of packages) expect(licenseDeclared, name).not.toBe('NOASSERTION');
    // Each has its text among the notices.
    const notices = readText('third-party-notices.txt');
    for (const { name, versionInfo } of packages.slice(1)) expect(notices).toContain(`\n${name} ${versionInfo} (`);
  });
});

describe.each(IMAGES)('the image %s', (image) => {
  test('is small, and has no shell, no package manager and nothing that gets rights', async () => {
    const files = rootOf(image);
    const mib = Number((await runOrThrow('du', ['-sb', files])).split('\t')[0]) / 2 ** 20;
    expect(mib).toBeLessThan(MAX_MIB[image]);
    const executable = ['-type', 'f', '-perm', '/111', '!', '-name', '*.so*', '-printf', '%P\n'];
    const programs = (await runOrThrow('find', [files, ...executable])).trim().split('\n');
    // Packages of npm have scripts for a shell's `env`, which is not there.
    const isScript = (name: string) => /^app\/dist\/.*\.m?js$/.test(name);
    expect(programs.filter((name) => !isScript(name)).sort()).toEqual(PROGRAMS[image]);
    expect(await runOrThrow('find', [files, '-perm', '/6000', '-type', 'f'])).toBe('');
  });

  test('starts, and has the authorities of TLS for programs that read files of them', async () => {
    const check = `new (require('node:crypto').X509Certificate)(require('node:fs').readFileSync('/etc/ssl/certs/ca-certificates.crt'));
      console.log(require('node:os').userInfo().username)`;
    expect(await inImage(image, 'node', '-e', check)).toBe('loopstream\n');
    expect(await inImage(image, 'node', '/app/dist/app/main.js', '--help')).toMatch(/operator/);
  });
});

describe('the media programs', () => {
  test('have no network to decode with, no device, and nothing that loads a library', async () => {
    // Two of them join and cut files, which the others read.
    const ofFiles = ['concat', 'file', 'pipe', 'subfile'];
    const list = async (...words: string[]) =>
      (await inPrepare('ffmpeg', ...words)).split('\n').map((line) => line.trim());
    const protocols = (await list('-hide_banner', '-protocols')).filter((line) => /^[a-z]+$/.test(line));
    expect(protocols).toEqual([...ofFiles, 'file', 'pipe']);
    const devices = await list('-hide_banner', '-devices');
    expect(devices.slice(devices.indexOf('--') + 1).filter(Boolean)).toEqual([expect.stringMatching(/^D +lavfi /)]);
    const kinds = ['-filters', '-encoders', '-decoders'];
    const named = (await Promise.all(kinds.map((kind) => list('-v', 'quiet', kind)))).flat();
    expect(named.length).toBeGreaterThan(500);
    expect(named.filter((line) => /\b(\w*_omx|ladspa|frei0r\w*|lv2|a?movie|a?zmq)\b/.test(line))).toEqual([]);
  });

  test('have every filter, encoder and muxer that they are compiled for, and decode what people upload', async () => {
    const list = async (kind: string) =>
      (await inPrepare('ffmpeg', '-hide_banner', `-${kind}s`))
        .split('\n')
        .flatMap((line) => line.trim().split(/\s+/)[1]?.split(',') ?? []);
    for (const kind of ['filter', 'encoder', 'muxer']) {
      // ffmpeg lists the muxer pcm_s16le by its shorter name.
      const enabled = listEnabled(kind).map((name) => (kind === 'muxer' ? name.replace('pcm_', '') : name));
      expect(enabled.length, kind).toBeGreaterThan(5);
      expect(await list(kind), kind).toEqual(expect.arrayContaining(enabled));
    }
    const decoders = [
      'h264',
      'hevc',
      'vp8',
      'vp9',
      'libdav1d',
      'mpeg4',
      'prores',
      'aac',
      'mp3float',
      'opus',
      'vorbis',
      'flac',
      'pcm_s16le',
      'png',
      'mjpeg',
    ];
    expect(await list('decoder')).toEqual(expect.arrayContaining(decoders));
  });

  test('encode, read and send', async () => {
    const source = ['-f', 'lavfi', '-i', 'color=s=320x180:d=1', '-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'];
    const file = '/tmp/release.flv';
    await inPrepare('ffmpeg', '-v', 'error', '-nostdin', ...source, '-t', '1', '-c:v', 'libx264', '-c:a', 'aac', file);
    const streams = await inPrepare('ffprobe', '-v', 'error', '-of', 'json', '-show_streams', file);
    expect(JSON.parse(streams).streams.map(({ codec_name }: { codec_name: string }) => codec_name)).toEqual([
      'h264',
      'aac',
    ]);
    cpSync(join(rootOf('loopstream-prepare'), file), join(rootOf('loopstream'), file));
    const send = ['-v', 'error', '-nostdin', '-i', file, '-c', 'copy', '-f', 'mpegts', '/tmp/release.ts'];
    expect(await inImage('loopstream', 'ffmpeg-send', ...send)).toBe('');
  });
});

describe('an installation from these files alone', () => {
  test('runs the images of the archives, by their digests', async () => {
    const digest = await readDigest('loopstream');
    const pods = JSON.parse((await scene?.release.service('get', 'pods', '-o', 'json')) ?? '');
    const images = pods.items.flatMap(({ spec }: { spec: { containers: { image: string }[] } }) =>
      spec.containers.map(({ image }) => image),
    );
    expect(images.length).toBeGreaterThan(1);
    expect(new Set(images)).toEqual(new Set([`loopstream@${digest}`]));
    const variable = '{.spec.template.spec.containers[0].env[?(@.name=="LOOPSTREAM_PREPARE_IMAGE")].value}';
    const operator = ['get', 'deployment/loopstream-operator', '-o', `jsonpath=${variable}`];
    expect(await scene?.release.service(...operator)).toBe(
      `loopstream-prepare@${await readDigest('loopstream-prepare')}`,
    );
  });

  test('puts a stream on air', async () => {
    if (!scene) throw new Error('no scene');
    const { call, urls, inside } = scene.release;
    const imported = await call<{ objectID: string }>('POST', '/uploads/from-link', { type: 'VIDEO', url: urls.film });
    const id = await createStream(scene, KEY, imported.body.objectID, urls.watched);
    await waitUntilReady(scene, id);
    const started = await call<{ status: string }>('POST', `/streams/${id}/start?wait=60`);
    expect(started.body.status).toBe('live');
    const { outside } = scene;
    await until('media has come for five seconds', () => outside.meter.steadyMs() > 5000, PATIENCE_MS);
    const image = '{.items[*].spec.containers[*].image}';
    const labels = `loopstream.dev/stream=${id}`;
    expect(await inside('get', 'pods', '-l', labels, '-o', `jsonpath=${image}`)).toBe(
      `loopstream@${await readDigest('loopstream')}`,
    );
  });
});
