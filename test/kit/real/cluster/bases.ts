/** Makes the base image of the project's Dockerfile without a registry: a Debian with Node and npm. */
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { DEBIAN_RECIPE, makeDebian } from '../debian.ts';
import { type Buildah, buildImage } from './buildah.ts';
import { runOrThrow } from './command.ts';

/** The libraries come with what ffmpeg is compiled with, in any case. */
const PACKAGES = ['ca-certificates', 'libx264-164', 'libdav1d6', 'libzimg2'];
/** Paths that no program reads. The notices of static libraries are read from usr/share/doc. */
const NEEDLESS = ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/man', 'usr/share/locale', 'var/log'];
const NPM = 'npm@11.19.1';
const NPM_TIMEOUT_MS = 3 * 60_000;

const hash = (...what: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);

/** The names contain a hash of the contents. */
const BASE_IMAGE = `localhost/loopstream-base:${hash(DEBIAN_RECIPE, PACKAGES, NEEDLESS)}`;
export const BUILDER_IMAGE = `localhost/loopstream-builder:${hash(BASE_IMAGE, NPM, process.version)}`;

/** Makes the images that are missing. */
export async function ensureBases(tool: Buildah, dir: string, onProgress: (step: string) => void): Promise<void> {
  if (!(await tool.has(BASE_IMAGE))) {
    onProgress('making a Debian (mmdebstrap)');
    await makeImage(tool, join(dir, 'debian'), BASE_IMAGE, 'scratch', debian);
  }
  if (!(await tool.has(BUILDER_IMAGE))) await makeImage(tool, join(dir, 'builder'), BUILDER_IMAGE, BASE_IMAGE, node);
}

async function makeImage(
  tool: Buildah,
  root: string,
  name: string,
  on: string,
  fill: (root: string) => Promise<void>,
): Promise<void> {
  rmSync(root, { recursive: true, force: true });
  await fill(root);
  await buildImage(tool, root, name, { on });
  rmSync(root, { recursive: true, force: true });
}

async function debian(root: string): Promise<void> {
  await makeDebian(root, PACKAGES);
  for (const path of NEEDLESS) {
    rmSync(join(root, path), { recursive: true, force: true });
    mkdirSync(join(root, path), { recursive: true });
  }
}

/** The paths are those of the official Node image: the Node that runs this, and its npm, which the package of Node lacks. */
async function node(root: string): Promise<void> {
  const bin = join(root, 'usr/local/bin');
  const lib = join(root, 'usr/local/lib');
  for (const path of [bin, lib]) mkdirSync(path, { recursive: true });
  const how = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--loglevel=error', '--prefix', lib];
  await runOrThrow('npm', [...how, NPM], { env: environment(), cwd: lib, timeoutMs: NPM_TIMEOUT_MS });
  copyFileSync(process.execPath, join(bin, 'node'));
  chmodSync(join(bin, 'node'), 0o755);
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name));
}
