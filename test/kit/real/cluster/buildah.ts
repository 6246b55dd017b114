/** Runs buildah with a storage of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { runOrThrow } from './command.ts';

const TIMEOUT_MS = 4_200_000;

export interface Buildah {
  buildah: (args: string[]) => Promise<string>;
  has: (name: string) => Promise<boolean>;
  /** The policy about signed images, which matters for images from elsewhere only. */
  policy: string;
}

/** The directory holds all its data; a RUN's caches go where temporary files go. */
export function buildahIn(imagesDir: string): Buildah {
  const place = ['--root', join(imagesDir, 'storage'), '--runroot', join(imagesDir, 'run')];
  const policy = join(imagesDir, 'policy.json');
  writeFileSync(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
  const env = { ...environment(), TMPDIR: imagesDir };
  const buildah = (args: string[]) =>
    runOrThrow('buildah', [...place, '--storage-driver', 'overlay', ...args], { timeoutMs: TIMEOUT_MS, env });
  const has = (name: string) =>
    buildah(['inspect', '--type', 'image', '--format', '{{.FromImageID}}', name]).then(
      () => true,
      () => false,
    );
  return { buildah, has, policy };
}

/** Makes an image from a folder, on another image or on none. */
export async function buildImage(
  { buildah }: Buildah,
  folder: string,
  name: string,
  { on = 'scratch', entrypoint = [] }: { on?: string; entrypoint?: string[] } = {},
): Promise<void> {
  const container = (await buildah(['from', '--pull-never', on])).trim();
  await buildah(['add', '--quiet', container, folder, '/']);
  if (entrypoint.length > 0) await buildah(['config', '--entrypoint', JSON.stringify(entrypoint), container]);
  await buildah(['commit', '--quiet', '--rm', container, name]);
}
