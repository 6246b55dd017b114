/**
 * Makes a release of the commit that is checked out: the two images as archives, the chart with their digests, the list of what is in
 * each (SPDX), the notices of all licences, and the sums of these files. The same commit and the same packages of Debian make the
 * same bytes (docs/release.md).
 *
 *     release.ts [--out DIR] [--ffmpeg DIR]
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from '../src/core/settings/environment.ts';
import { createProgress, type Progress } from '../tools/local/progress.ts';
import { PROJECT_ROOT } from '../tools/process/root.ts';
import { type ImageDigests, packageChart } from './release/chart.ts';
import { runOrFail } from './release/command.ts';
import { readComponents, writeAllNotices } from './release/components.ts';
import { writeImage } from './release/image.ts';
import { whyNoRelease } from './release/machine.ts';
import { buildSbom, type Component } from './release/sbom.ts';
import { readStage } from './release/stage.ts';

const NAME = 'loopstream';
/** Name of an image → the stage of the Dockerfile that it is, whose system has the same name. */
const IMAGES = { loopstream: 'loopstream', 'loopstream-prepare': 'prepare' } as const;
/** ffmpeg alone takes five minutes of two processors. */
const BUILD_TIMEOUT_MS = 60 * 60_000;
/** Node's name of a processor → that of Go and of images. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

interface Commit {
  revision: string;
  /** Of the commit, in seconds since 1970, unless SOURCE_DATE_EPOCH is another time. */
  epoch: number;
}

/** In a container, the checkout belongs to somebody else, which git would mind. */
const git = async (...args: string[]): Promise<string> =>
  (await runOrFail('git', ['-c', `safe.directory=${PROJECT_ROOT}`, ...args], { cwd: PROJECT_ROOT })).trim();

async function readCommit(): Promise<Commit> {
  const [head, time, changes] = await Promise.all([
    git('rev-parse', 'HEAD'),
    git('log', '-1', '--format=%ct'),
    git('status', '--porcelain'),
  ]);
  const { SOURCE_DATE_EPOCH } = environment();
  return { revision: changes === '' ? head : `${head}-changed`, epoch: Number(SOURCE_DATE_EPOCH || time) };
}

/** Copies the project as git knows it, so that no earlier build is in it, and builds what the image and its notices need. */
async function buildProject(project: string, signal: AbortSignal): Promise<void> {
  const files = await git('ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const names = [...new Set(files.split('\0'))].filter((name) => name !== '' && existsSync(join(PROJECT_ROOT, name)));
  for (const name of names) cpSync(join(PROJECT_ROOT, name), join(project, name), { preserveTimestamps: true });
  // Links to the installed files are made in a moment. They are on the same file system.
  await runOrFail('cp', ['--archive', '--link', join(PROJECT_ROOT, 'node_modules'), join(project, 'node_modules')], {
    signal,
  });
  // In another environment, the page would be one for developers, which names the folder that it was built in.
  const env = { ...environment(), NODE_ENV: 'production', LOOPSTREAM_LAUNCHER: 'required' };
  // The packages are those that `make release` has installed.
  const how = ['--silent', '--old-file', 'node_modules/.installed', 'build'];
  await runOrFail('make', how, { cwd: project, env, timeoutMs: BUILD_TIMEOUT_MS, signal });
}

interface Roots {
  /** The root directories of the Dockerfile's stages with these names. */
  system: string;
  build: string;
}

/** Builds what the Dockerfile's stages build, with the same scripts, below `work`. */
async function buildRoots(work: string, ffmpeg: string, progress: Progress, signal: AbortSignal): Promise<Roots> {
  const roots = { system: join(work, 'system'), build: join(work, 'build') };
  const project = join(roots.build, 'src');
  const bin = join(roots.build, 'usr/local/bin');
  for (const dir of [roots.system, project, bin]) mkdirSync(dir, { recursive: true });
  const script = async (name: string, ...args: string[]) => {
    // The files of an interrupted script go with the rest.
    const env = { ...environment(), TMPDIR: work };
    await runOrFail(join(PROJECT_ROOT, 'scripts', name), args, { env, timeoutMs: BUILD_TIMEOUT_MS, signal });
  };
  // The scripts write these files last.
  if (!existsSync(join(ffmpeg, 'COPYING.ffmpeg')))
    await progress.step('compiling ffmpeg, five minutes or more', () => script('build-ffmpeg', ffmpeg));
  if (!existsSync(join(ffmpeg, 'draw-text')))
    await progress.step('compiling draw-text', () => script('build-draw-text', ffmpeg));
  if (!existsSync(join(ffmpeg, 'ffmpeg-send')))
    await progress.step('compiling ffmpeg-send', () => script('build-sender', ffmpeg));
  await progress.step('building the roles and the dashboard', () => buildProject(project, signal));
  copyFileSync(join(project, 'node_modules/.bin/node'), join(bin, 'node'));
  await progress.step('unpacking the packages of Debian', async () => {
    for (const stage of Object.values(IMAGES)) await script('build-system', stage, join(roots.system, stage), ffmpeg);
  });
  return roots;
}

interface Release {
  /** The directory of the files. */
  dir: string;
  roots: Roots;
  workDir: string;
  architecture: string;
  version: string;
  commit: Commit;
  signal: AbortSignal;
}

interface WrittenImage {
  digest: string;
  components: Component[];
  /** A line for people. */
  summary: string;
}

/** Writes the archive of an image, and the list of what is in it. */
async function writeOneImage(name: keyof typeof IMAGES, release: Release): Promise<WrittenImage> {
  const { dir, roots, workDir, architecture, version, signal } = release;
  const { revision, epoch } = release.commit;
  const project = join(roots.build, 'src');
  const { digest, bytes } = await writeImage({
    stage: readStage(readFileSync(join(project, 'Dockerfile'), 'utf8'), IMAGES[name]),
    roots: { ...roots },
    workDir,
    file: join(dir, `${name}-${version}-linux-${architecture}.oci.tar`),
    name: `${name}:${version}`,
    architecture,
    epoch,
    annotations: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
    signal,
  });
  const components = await readComponents({ system: join(roots.system, IMAGES[name]), project, architecture });
  const sbom = buildSbom({ name, version, digest, architecture, epoch, components });
  writeFileSync(join(dir, `${name}-${version}.spdx.json`), `${JSON.stringify(sbom, undefined, 2)}\n`);
  const size = `${Math.round(bytes / 2 ** 20)} MiB unpacked, ${components.length} packages in it`;
  return { digest, components, summary: `${name} ${digest}, ${size}` };
}

/** Returns what to tell of the images. */
async function writeFiles(dir: string, roots: Roots, workDir: string, signal: AbortSignal): Promise<string> {
  const project = join(roots.build, 'src');
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
  const commit = await readCommit();
  const release = { dir, roots, workDir, architecture, version, commit, signal };
  const main = await writeOneImage('loopstream', release);
  const prepare = await writeOneImage('loopstream-prepare', release);
  const digests: ImageDigests = { loopstream: main.digest, 'loopstream-prepare': prepare.digest };
  const chart = { chart: join(project, 'charts/loopstream'), file: join(dir, `${NAME}-${version}.tgz`) };
  await packageChart({ ...chart, workDir, digests, epoch: commit.epoch, signal });
  writeFileSync(join(dir, 'third-party-notices.txt'), writeAllNotices([...main.components, ...prepare.components]));
  const sums = readdirSync(dir)
    .sort()
    .map((name) => `${hashFile(join(dir, name))}  ${name}\n`);
  writeFileSync(join(dir, 'SHA256SUMS'), sums.join(''));
  return `${main.summary}
${prepare.summary}
The images are for linux/${architecture}: ffmpeg is compiled for the machine's own processor. For another one, run make release on such a machine.`;
}

const hashFile = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

async function makeRelease(out: string, ffmpeg: string, signal: AbortSignal): Promise<void> {
  const progress = createProgress(process.stdout);
  mkdirSync(dirname(out), { recursive: true });
  const work = mkdtempSync(`${out}.partial-`);
  try {
    const [layers, files] = [join(work, 'layers'), join(work, 'files')];
    for (const dir of [layers, files]) mkdirSync(dir);
    const roots = await buildRoots(work, ffmpeg, progress, signal);
    const told = await progress.step('writing the images, the chart and the lists', () =>
      writeFiles(files, roots, layers, signal),
    );
    rmSync(out, { recursive: true, force: true });
    renameSync(files, out);
    progress.say(`${out}:\n${told}`);
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

const { values } = parseArgs({
  options: { out: { type: 'string', default: 'dist/release' }, ffmpeg: { type: 'string', default: 'dist/ffmpeg' } },
});
const why = await whyNoRelease();
if (why !== undefined) {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
try {
  await makeRelease(resolve(values.out), resolve(values.ffmpeg), stop.signal);
} catch (error) {
  if (!stop.signal.aborted) process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}
