/** Tests the parts of a release: what the Dockerfile says, archives with the same bytes, the chart's digest, the list of parts. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { writeArchive } from '../../../scripts/release/archive.ts';
import { pinAnnotations, pinImages } from '../../../scripts/release/chart.ts';
import { parseImagePackages } from '../../../scripts/release/components.ts';
import { type ImageOptions, writeImage } from '../../../scripts/release/image.ts';
import { whyNoRelease } from '../../../scripts/release/machine.ts';
import { buildSbom, debianPurl, npmPurl } from '../../../scripts/release/sbom.ts';
import { readStage } from '../../../scripts/release/stage.ts';
import { PROJECT_ROOT } from '../../../tools/process/root.ts';
import { readSystem } from '../../../tools/process/system.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const EPOCH = 1_700_000_000;
const DIGEST = `sha256:${'a'.repeat(64)}`;
const DIGESTS = { loopstream: DIGEST, 'loopstream-prepare': `sha256:${'b'.repeat(64)}` };
const DOCKERFILE = readFileSync(join(PROJECT_ROOT, 'Dockerfile'), 'utf8');

/** Files as a build leaves them: in any order, at any time, by any umask. */
function makeFiles(names: string[], { mode, time }: { mode: number; time: number }): string {
  const dir = tempDir();
  mkdirSync(join(dir, 'a/b'), { recursive: true });
  for (const name of names) {
    writeFileSync(join(dir, name), `the content of ${name}`);
    chmodSync(join(dir, name), mode);
    utimesSync(join(dir, name), time, time);
  }
  return dir;
}

test('the image starts as the Dockerfile says, and holds what it copies', () => {
  const { copies, config } = readStage(DOCKERFILE, 'loopstream');
  expect(copies.map(({ stage, target }) => [stage, target])).toEqual([
    ['system', '/'],
    ['build', '/usr/local/bin/node'],
    ['build', '/app/'],
    ['build', '/app/dist'],
  ]);
  expect(config).toEqual({
    User: '10001:10001',
    Env: [
      'PATH=/usr/local/bin',
      'NODE_ENV=production',
      'LOOPSTREAM_DASHBOARD_DIR=/app/dist/dashboard',
      'LOOPSTREAM_SENDER=ffmpeg-send',
      'MALLOC_ARENA_MAX=1',
    ],
    Entrypoint: ['node', '/app/dist/app/main.js'],
    Cmd: ['--help'],
  });
});

test('the image of Jobs has the roles, their launcher and their notices, and no sender', () => {
  const { copies, config } = readStage(DOCKERFILE, 'prepare');
  expect(copies.map(({ source, target }) => [source, target])).toEqual([
    ['/prepare', '/'],
    ['/usr/local/bin/node', '/usr/local/bin/node'],
    ['/src/package.json', '/app/'],
    ['/src/dist/confine', '/app/dist/'],
    ['/src/dist/THIRD_PARTY_NOTICES.txt', '/app/dist/'],
    ['/src/dist/app', '/app/dist/app'],
  ]);
  const { config: main } = readStage(DOCKERFILE, 'loopstream');
  expect(config).toEqual({ ...main, Env: ['PATH=/usr/local/bin', 'NODE_ENV=production'] });
});

test.each([
  ['another base', 'FROM debian AS it\nUSER 1', /no line "FROM scratch AS it"/],
  ['a command', 'FROM scratch AS it\nRUN true', /does not know this line.*RUN true/],
  ['files of the context', 'FROM scratch AS it\nCOPY a /b', /does not know this line/],
  ['a command that a shell reads', 'FROM scratch AS it\nCMD node', /Write it as a list/],
])('a Dockerfile whose image a release could not repeat is refused: %s', (_, text, says) => {
  expect(() => readStage(text, 'it')).toThrow(says);
});

test('an archive has the same bytes whatever times, umask and order its files were made with', async () => {
  const names = ['z', 'a/b/c', 'a/d'];
  const one = makeFiles(names, { mode: 0o644, time: 1 });
  const other = makeFiles(names.toReversed(), { mode: 0o600, time: 2_000_000 });
  const out = tempDir();
  const pack = (dir: string, file: string) => writeArchive({ dir, file: join(out, file), epoch: EPOCH, gzip: true });
  const [first, second] = [await pack(one, '1.tgz'), await pack(other, '2.tgz')];
  expect(second).toEqual(first);
  expect(readFileSync(join(out, '1.tgz')).equals(readFileSync(join(out, '2.tgz')))).toBe(true);
  chmodSync(join(one, 'z'), 0o755);
  expect((await pack(one, '3.tgz')).digest).not.toBe(first.digest);
});

test('an archive of what is not there fails, and says so', async () => {
  const dir = tempDir();
  const broken = writeArchive({ dir, file: join(dir, 'x.tar'), epoch: EPOCH, gzip: false, names: ['gone'] });
  await expect(broken).rejects.toThrow(/tar failed: .*gone/);
});

test('an image is the same whenever it is written, and its digests are those of its files', async () => {
  const write = async (time: number) => {
    const root = makeFiles(['a/b/program', 'a/text'], { mode: 0o755, time });
    const workDir = tempDir();
    const options: ImageOptions = {
      stage: readStage(
        'FROM scratch AS it\nCOPY --from=it /a /in/\nCOPY --from=it /a/text /in/b/\nUSER 7\nCMD ["x"]',
        'it',
      ),
      roots: { it: root },
      workDir,
      file: join(workDir, 'image.tar'),
      name: 'it:1',
      architecture: 'amd64',
      epoch: EPOCH,
      annotations: { v: '1' },
    };
    return { image: await writeImage(options), file: options.file, bytes: readFileSync(options.file) };
  };
  const [first, second] = [await write(1), await write(9)];
  expect(second.image).toEqual(first.image);
  expect(second.bytes.equals(first.bytes)).toBe(true);

  const read = (name: string) => execFileSync('tar', ['-xOf', first.file, name]);
  const json = (name: string) => JSON.parse(read(name).toString());
  const blob = (digest: string) => `blobs/${digest.replace(':', '/')}`;
  const [entry] = json('index.json').manifests;
  expect(entry.digest).toBe(first.image.digest);
  const manifest = json(blob(entry.digest));
  const config = json(blob(manifest.config.digest));
  expect(config).toMatchObject({ created: '2023-11-14T22:13:20Z', os: 'linux', config: { User: '7', Cmd: ['x'] } });
  expect(config.rootfs.diff_ids).toHaveLength(2);
  const contents = manifest.layers.map(({ digest }: { digest: string }) =>
    execFileSync('tar', ['-tz'], { input: read(blob(digest)) })
      .toString()
      .trim()
      .split('\n'),
  );
  expect(contents).toEqual([
    ['./', './in/', './in/b/', './in/b/program', './in/text'],
    ['./', './in/', './in/b/', './in/b/text'],
  ]);
  expect(json('manifest.json')).toEqual([
    {
      Config: blob(manifest.config.digest),
      RepoTags: ['it:1'],
      Layers: manifest.layers.map(({ digest }: { digest: string }) => blob(digest)),
    },
  ]);
});

test('the packaged values name both images by their digests, and a chart without a place for one is refused', () => {
  const values = readFileSync(join(PROJECT_ROOT, 'charts/loopstream/values.yaml'), 'utf8');
  const { image, prepareImage, ...others } = parse(pinImages(values, DIGESTS));
  const { image: before, prepareImage: prepareBefore, ...othersBefore } = parse(values);
  expect(image).toEqual({ ...before, digest: DIGESTS.loopstream });
  expect(prepareImage).toEqual({ ...prepareBefore, digest: DIGESTS['loopstream-prepare'] });
  expect(others).toEqual(othersBefore);
  for (const wrong of ['other:\n  digest: ""\n', 'image:\n  digest: ""\n'])
    expect(() => pinImages(wrong, DIGESTS)).toThrow(/no empty image\.digest and prepareImage\.digest/);
});

test('the annotations of the images get the digests, and a chart without one is refused', () => {
  const chart = readFileSync(join(PROJECT_ROOT, 'charts/loopstream/Chart.yaml'), 'utf8');
  const { annotations } = parse(pinAnnotations(chart, DIGESTS));
  expect(parse(annotations['artifacthub.io/images'])).toMatchObject(
    Object.entries(DIGESTS).map(([name, digest]) => ({
      name,
      image: expect.stringMatching(new RegExp(`^${name}:\\S+@${digest}$`)),
    })),
  );
  expect(() => pinAnnotations('name: loops\n', DIGESTS)).toThrow(/does not name the image loopstream /);
});

test('every package of the list has a licence, and the list is in order', () => {
  const packages = parseImagePackages(readFileSync(join(PROJECT_ROOT, 'scripts/image-packages'), 'utf8'));
  expect(packages.get('libc6')).toBe('LGPL-2.1-or-later AND GPL-2.0-or-later');
  for (const [name, licence] of packages) expect(licence, name).toMatch(/^\w/);
  expect([...packages.keys()]).toEqual([...packages.keys()].sort());
});

test('a part whose licence has no name in SPDX comes with its text', () => {
  const part = { version: '1', text: 'Do as you like.', purl: npmPurl('@a/b', '1') };
  const { packages, hasExtractedLicensingInfos } = buildSbom({
    name: 'loops',
    version: '1.2.3',
    digest: DIGEST,
    architecture: 'amd64',
    epoch: EPOCH,
    components: [
      { ...part, name: 'free', licence: '(MIT OR Apache-2.0)' },
      { ...part, name: '@a/odd', licence: 'SEE LICENSE IN README.md' },
    ],
  });
  const [, free, odd] = packages;
  expect(free?.licenseDeclared).toBe('(MIT OR Apache-2.0)');
  expect(odd?.licenseDeclared).toBe('LicenseRef-2-a-odd');
  expect(hasExtractedLicensingInfos).toEqual([
    { licenseId: 'LicenseRef-2-a-odd', name: '@a/odd: SEE LICENSE IN README.md', extractedText: 'Do as you like.' },
  ]);
});

test('package URLs keep what their parts must not hold', () => {
  expect(npmPurl('@scope/name', '1.0.0+b')).toBe('pkg:npm/%40scope/name@1.0.0%2Bb');
  expect(debianPurl('libstdc++6', '2:1+b', 'amd64')).toBe(
    'pkg:deb/debian/libstdc%2B%2B6@2%3A1%2Bb?arch=amd64&distro=debian-12',
  );
});

test('a machine that cannot make a release says why and what to do, in one sentence', async () => {
  const file = join(tempDir(), 'os-release');
  writeFileSync(file, 'PRETTY_NAME="Ubuntu 24.04"\nVERSION_CODENAME=noble\n');
  expect(await whyNoRelease(file)).toMatch(
    /^A release is made on Debian bookworm, and this is Ubuntu 24\.04\. .*make release$/,
  );
  writeFileSync(file, 'VERSION_CODENAME=bookworm\n');
  expect(await whyNoRelease(file)).toBeUndefined();
  expect(readSystem('').name).toBe('an unknown system');
});
