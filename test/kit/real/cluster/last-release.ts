/**
 * Makes the last release that knew only v1alpha1, for tests that upgrade from it: its chart, and its roles on the images of this checkout.
 * It had one image, with all programs.
 */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { environment } from '../../../../src/settings/environment.ts';
import { PROJECT_ROOT } from '../../../../tools/process/root.ts';
import { buildahIn, buildImage } from './buildah.ts';
import type { Cluster } from './cluster.ts';
import { runOrThrow } from './command.ts';
import { copyFromImage, IMAGE_REPOSITORY, PREPARE_IMAGE, PROJECT_IMAGE } from './images.ts';

/** The commit. Its roles call the programs of the image by the same names. */
const LAST_RELEASE = '3de8b068';
/** The tag that its image has on each node. */
export const LAST_TAG = 'last';

/** In a container, the checkout belongs to somebody else, which git would mind. */
const git = (...args: string[]) =>
  runOrThrow('git', ['-c', `safe.directory=${PROJECT_ROOT}`, ...args], { cwd: PROJECT_ROOT, env: environment() });

/** Resolves to false in a checkout without the history, such as a shallow clone; says so. */
export async function knowsLastRelease(): Promise<boolean> {
  try {
    await git('cat-file', '-e', `${LAST_RELEASE}^{commit}`);
    return true;
  } catch {
    process.stdout.write(
      `skipped: the upgrade from the last release, since this checkout lacks commit ${LAST_RELEASE}\n`,
    );
    return false;
  }
}

/** Resolves to the directory of its chart, when each node has its image. `dir` holds its files, and is the caller's to remove. */
export async function provideLastRelease({ layout, nodes }: Cluster, dir: string): Promise<string> {
  const [source, image] = [join(dir, 'source'), join(dir, 'image')];
  for (const folder of [source, image]) mkdirSync(folder, { recursive: true });
  const archive = join(dir, 'source.tar');
  await git('archive', '--output', archive, LAST_RELEASE);
  await runOrThrow('tar', ['-xf', archive, '-C', source]);
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(source, 'node_modules'));
  await runOrThrow(process.execPath, ['scripts/build-app.ts'], { cwd: source, env: environment(), timeoutMs: 300_000 });
  await cp(join(source, 'dist/app'), join(image, 'app/dist/app'), { recursive: true });

  await copyFromImage(layout.imagesDir, PREPARE_IMAGE, 'usr', join(image, 'usr'));
  const tool = buildahIn(layout.imagesDir);
  const name = `docker.io/library/${IMAGE_REPOSITORY}:${LAST_TAG}`;
  await buildImage(tool, image, name, { on: PROJECT_IMAGE });
  const file = join(dir, 'image.tar');
  rmSync(file, { force: true });
  await tool.buildah(['push', '--quiet', '--signature-policy', tool.policy, name, `docker-archive:${file}:${name}`]);
  await tool.buildah(['rmi', name]);
  for (const node of nodes) {
    const ctr = ['--address', join(node.layout.runDir, 'containerd.sock'), '--namespace', 'k8s.io'];
    await runOrThrow('ctr', [...ctr, 'images', 'import', file], { timeoutMs: 300_000 });
  }
  return join(source, 'charts/loopstream');
}
