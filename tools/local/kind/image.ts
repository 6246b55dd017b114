/** Builds the image of all roles with the Docker engine, or takes one that the engine has. */
import { ConfigError } from '../../../src/settings/settings.ts';
import type { Commands } from './commands.ts';

export const REPOSITORY = 'loopstream';
/** The first build compiles ffmpeg. */
const BUILD_TIMEOUT_MS = 60 * 60_000;

export interface ImageOptions {
  /** An image of the engine; built from the Dockerfile where there is none. */
  image: string | undefined;
  /** The directory with the Dockerfile. */
  context: string;
  signal: AbortSignal;
}

/** Returns the image's tag of `loopstream`, which names its content: a release changes its pods when it changes. */
export async function ensureImage({ docker }: Commands, { image, context, signal }: ImageOptions): Promise<string> {
  const name = image ?? `${REPOSITORY}:local`;
  if (image === undefined)
    await docker(['build', '--quiet', '--tag', name, context], { timeoutMs: BUILD_TIMEOUT_MS, signal });
  const id = await docker(['image', 'inspect', '--format', '{{.Id}}', name], { signal }).catch(() => {
    throw new ConfigError(`The Docker engine has no image ${name}. Pull it, or leave out --image to build one.`);
  });
  const tag = id.trim().replace('sha256:', '').slice(0, 12);
  await docker(['tag', name, `${REPOSITORY}:${tag}`], { signal });
  return tag;
}
