/**
 * Makes images without a registry: the project's own Dockerfile, and two small ones of one program each. It keeps layers from run to run,
 * so that only changes cost time.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { run } from '../../../../tools/process/run.ts';
import { ROOT } from '../../system/system.ts';
import { BUILDER_IMAGE, ensureBases } from './bases.ts';
import { type Buildah, buildahIn, buildImage } from './buildah.ts';
import { runOrThrow } from './command.ts';
import { DNS_IMAGE, PAUSE_IMAGE } from './config.ts';
import type { ClusterLayout } from './layout.ts';
import { ensureClusterPrograms } from './programs.ts';

/** Every node has the chart's images under these names: an upgrade goes from one to the other. */
export const IMAGE_REPOSITORY = 'loopstream';
export const IMAGE_TAGS = ['1', '2'];
const MAX_LAYERS = 60;
export const PROJECT_IMAGE = 'localhost/loopstream:latest';
export const PREPARE_IMAGE = 'localhost/loopstream-prepare:latest';
const FFMPEG_IMAGE = 'localhost/loopstream-ffmpeg:latest';

type Progress = (step: string) => void;

/** Writes an image of the last `ensureImageStore` to an archive of Docker's, under a name. */
export async function exportImage(imagesDir: string, image: string, file: string, name: string): Promise<void> {
  const { buildah, policy } = buildahIn(imagesDir);
  rmSync(file, { force: true });
  await buildah(['push', '--quiet', '--signature-policy', policy, image, `docker-archive:${file}:${name}`]);
}

/** Makes images of a single static program; their names contain the program's hash. */
async function ensureSmall(tool: Buildah, dir: string, program: string, file: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, 16);
  const name = `localhost/loopstream-${file}:${hash}`;
  if (await tool.has(name)) return name;
  const folder = join(dir, file);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await runOrThrow('cp', [program, join(folder, file)]);
  await buildImage(tool, folder, name, { entrypoint: [`/${file}`] });
  rmSync(folder, { recursive: true });
  return name;
}

/**
 * The build gets the machine's settings for packages: behind a proxy with an authority of its own, npm in the container would trust no
 * certificate. It gets the installed packages too, since unpacking them took two thirds of a build; npm verifies and keeps them. Its
 * changes to them stay in the build (`O`).
 */
async function buildMounts(dir: string): Promise<string[]> {
  const ask = async (key: string) => (await run('npm', ['config', 'get', key], { env: environment() })).stdout.trim();
  const [registry, cafile] = [await ask('registry'), await ask('cafile')];
  const npmrc = join(dir, 'npmrc');
  const bundle = '/etc/ssl/certs/ca-certificates.crt';
  const authorities = cafile && cafile !== 'null' && existsSync(cafile) ? cafile : bundle;
  writeFileSync(npmrc, `registry=${registry}\ncafile=${bundle}\n`);
  const mounts = [`${npmrc}:/root/.npmrc:ro`, `${join(ROOT, 'node_modules')}:/src/node_modules:O`];
  if (existsSync(authorities)) mounts.push(`${authorities}:${bundle}:ro`);
  return mounts.flatMap((mount) => ['--volume', mount]);
}

/** Whether the Dockerfile cannot see a file: by its path, or as one of a folder (`docs/*`) that is no exception (`!docs/…`). */
function readIgnored(): (path: string) => boolean {
  const lines = new Set(readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n'));
  return (path) => !lines.has(`!${path}`) && (lines.has(path) || lines.has(`${dirname(path)}/*`));
}

/** Copies the project with one time on all its files: buildah reuses a layer only with equal times, and a fresh clone's times differ. */
function buildContext(dir: string): string {
  const context = join(dir, 'context');
  rmSync(context, { recursive: true, force: true });
  const isIgnored = readIgnored();
  cpSync(ROOT, context, { recursive: true, filter: (path) => !isIgnored(relative(ROOT, path)) });
  for (const path of ['', ...readdirSync(context, { recursive: true, encoding: 'utf8' })])
    lutimesSync(join(context, path), 0, 0);
  return context;
}

async function buildProject({ buildah }: Buildah, dir: string, onProgress: Progress): Promise<void> {
  onProgress('building the images from the Dockerfile');
  const how = ['--layers', '--isolation', 'chroot', '--network', 'host', '--quiet', ...(await buildMounts(dir))];
  // Each change leaves unused layers behind; now and then all but the images themselves are removed.
  const layers = (await buildah(['images', '--all', '--quiet'])).trim().split('\n').length;
  if (layers > MAX_LAYERS) await buildah(['rmi', '--prune', '--force']);
  const from = ['--build-arg', `BUILDER=${BUILDER_IMAGE}`];
  const context = buildContext(dir);
  // ffmpeg takes a quarter of an hour to build. With a name, it is not removed with the unused layers.
  await buildah(['bud', ...how, ...from, '--target', 'ffmpeg', '--tag', FFMPEG_IMAGE, context]);
  await buildah(['bud', ...how, ...from, '--target', 'prepare', '--tag', PREPARE_IMAGE, context]);
  await buildah(['bud', ...how, ...from, '--tag', PROJECT_IMAGE, context]);
}

/** Makes the base images, which takes a minute the first time and needs the network, so that it runs beside builds. */
export async function ensureImageBases({ imagesDir, lockFile }: ClusterLayout, onProgress: Progress): Promise<void> {
  mkdirSync(imagesDir, { recursive: true });
  const tool = buildahIn(imagesDir);
  if (!(await tool.has(BUILDER_IMAGE))) await withFileLock(lockFile, () => ensureBases(tool, imagesDir, onProgress));
}

interface ImageStore {
  store: string;
  /** Unpacked sizes of the chart's images. */
  imageBytes: number;
  prepareImageBytes: number;
}

/** Hashes all sources of the images, whatever times their files have. */
function sourceHash(programs: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([BUILDER_IMAGE, PAUSE_IMAGE, DNS_IMAGE, IMAGE_TAGS]));
  for (const file of programs) hash.update(readFileSync(file));
  const isIgnored = readIgnored();
  const add = (path: string) => {
    if (isIgnored(path)) return;
    const file = join(ROOT, path);
    const stats = lstatSync(file);
    hash.update(JSON.stringify([path, stats.mode, stats.size]));
    if (stats.isDirectory()) for (const name of readdirSync(file).sort()) add(join(path, name));
    else hash.update(stats.isSymbolicLink() ? readlinkSync(file) : readFileSync(file));
  };
  for (const name of readdirSync(ROOT).sort()) add(name);
  return hash.digest('hex');
}

/**
 * Makes a directory with the images as containerd keeps them, to be given to nodes (`giveImages`). `fill` gets an empty directory for
 * containerd's root, and the archives to import with their names. An unchanged source reuses the last directory: the builder takes long to
 * find that out.
 */
export async function ensureImageStore(
  imagesDir: string,
  fill: (root: string, archives: { file: string; names: string[] }[]) => Promise<void>,
  onProgress: Progress = () => {},
): Promise<ImageStore> {
  mkdirSync(imagesDir, { recursive: true });
  const programs = await ensureClusterPrograms(onProgress);
  const from = sourceHash([programs.pause, programs.kubernetes.coreDns]);
  const newest = join(imagesDir, 'newest.json');
  if (existsSync(newest)) {
    const last: ImageStore & { from: string } = JSON.parse(readFileSync(newest, 'utf8'));
    if (last.from === from && existsSync(last.store)) return last;
  }
  rmSync(newest, { force: true });
  const made = await makeImageStore(imagesDir, programs, fill, onProgress);
  writeFileSync(newest, JSON.stringify({ ...made, from }));
  return made;
}

async function makeImageStore(
  imagesDir: string,
  programs: { pause: string; kubernetes: { coreDns: string } },
  fill: (root: string, archives: { file: string; names: string[] }[]) => Promise<void>,
  onProgress: Progress,
): Promise<ImageStore> {
  const tool = buildahIn(imagesDir);
  await ensureBases(tool, imagesDir, onProgress);
  await buildProject(tool, imagesDir, onProgress);
  const tagged = (repository: string) => IMAGE_TAGS.map((tag) => `docker.io/library/${repository}:${tag}`);
  const images = [
    { from: await ensureSmall(tool, imagesDir, programs.pause, 'pause'), names: [PAUSE_IMAGE] },
    { from: await ensureSmall(tool, imagesDir, programs.kubernetes.coreDns, 'coredns'), names: [DNS_IMAGE] },
    { from: PROJECT_IMAGE, names: tagged(IMAGE_REPOSITORY) },
    { from: PREPARE_IMAGE, names: tagged(`${IMAGE_REPOSITORY}-prepare`) },
  ];
  const listed = JSON.parse(await tool.buildah(['images', '--json', '--no-trunc'])) as {
    id: string;
    names: string[] | null;
    size: string;
  }[];
  const findId = (name: string) => listed.find(({ names }) => names?.includes(name))?.id ?? name;
  const ids = images.map(({ from, names }) => [findId(from), names]);
  const hash = createHash('sha256').update(JSON.stringify(ids)).digest('hex').slice(0, 16);
  const store = join(imagesDir, 'store', hash);
  if (!existsSync(store)) {
    onProgress('giving the images to containerd');
    rmSync(join(imagesDir, 'store'), { recursive: true, force: true });
    const root = join(imagesDir, 'store', 'partial');
    mkdirSync(root, { recursive: true });
    const archives: { file: string; names: string[] }[] = [];
    for (const [index, { from, names }] of images.entries()) {
      const file = join(imagesDir, `${index}.tar`);
      rmSync(file, { force: true });
      // Compression is useless: the archive is read once, on the same disk.
      await tool.buildah([
        'push',
        '--quiet',
        '--signature-policy',
        tool.policy,
        from,
        `docker-archive:${file}:${names[0]}`,
      ]);
      archives.push({ file, names });
    }
    await fill(root, archives);
    for (const { file } of archives) rmSync(file);
    renameSync(root, store);
  }
  const imageBytes = await measureImage(tool, PROJECT_IMAGE);
  return { store, imageBytes, prepareImageBytes: await measureImage(tool, PREPARE_IMAGE) };
}

const measureImage = (tool: Buildah, name: string): Promise<number> =>
  withFiles(tool, name, async (root) => Number((await runOrThrow('du', ['-sb', root])).split('\t')[0]));

/** Runs `work` with a directory that has the image's files. */
async function withFiles<T>({ buildah }: Buildah, name: string, work: (root: string) => Promise<T>): Promise<T> {
  const container = (await buildah(['from', '--pull-never', name])).trim();
  try {
    return await work((await buildah(['mount', container])).trim());
  } finally {
    await buildah(['rm', container]);
  }
}

/** Copies the media programs that the last `ensureImageStore` has compiled, as build-ffmpeg and build-sender leave them. */
export const exportFfmpeg = (imagesDir: string, dir: string): Promise<void> =>
  copyFromImage(imagesDir, FFMPEG_IMAGE, 'out', dir);

/** Copies a directory of an image of the last `ensureImageStore`. */
export const copyFromImage = (imagesDir: string, image: string, path: string, dir: string): Promise<void> =>
  withFiles(buildahIn(imagesDir), image, async (root) => {
    cpSync(join(root, path), dir, { recursive: true, verbatimSymlinks: true });
  });
