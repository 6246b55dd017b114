/** Builds the two images with the Docker engine, or takes those that the engine has. */
import { ConfigError } from '../../../src/core/settings/settings.ts';
import type { Commands } from './commands.ts';

/** The repositories of the images, and the target of the Dockerfile for each. */
export const REPOSITORIES = { image: 'loopstream', prepareImage: 'loopstream-prepare' } as const;
const TARGETS = { image: 'loopstream', prepareImage: 'prepare' } as const;
/** The first build compiles ffmpeg. */
const BUILD_TIMEOUT_MS = 60 * 60_000;

/** The images as the chart's values call them. */
export type ImageName = keyof typeof REPOSITORIES;
export type ImageTags = Readonly<Record<ImageName, string>>;

export interface ImageOptions {
  /** An image of the engine, beside one with `-prepare` behind its repository; built from the Dockerfile where there is none. */
  image: string | undefined;
  /** The directory with the Dockerfile. */
  context: string;
  signal: AbortSignal;
}

/** Returns the tags of both, which name their content: a release changes its pods when it changes. */
export async function ensureImages(commands: Commands, options: ImageOptions): Promise<ImageTags> {
  // One after the other: they share the stages that take long.
  const prepareImage = await ensureImage(commands, 'prepareImage', options);
  return { prepareImage, image: await ensureImage(commands, 'image', options) };
}

const addPrepare = (image: string): string => image.replace(/(:[^:/]+)?$/, '-prepare$1');

async function ensureImage(
  { docker }: Commands,
  which: ImageName,
  { image, context, signal }: ImageOptions,
): Promise<string> {
  const given = image !== undefined && which === 'prepareImage' ? addPrepare(image) : image;
  const name = given ?? `${REPOSITORIES[which]}:local`;
  const build = ['build', '--quiet', '--target', TARGETS[which], '--tag', name, context];
  if (image === undefined) await docker(build, { timeoutMs: BUILD_TIMEOUT_MS, signal });
  const id = await docker(['image', 'inspect', '--format', '{{.Id}}', name], { signal }).catch(() => {
    throw new ConfigError(`The Docker engine has no image ${name}. Pull it, or leave out --image to build one.`);
  });
  const tag = id.trim().replace('sha256:', '').slice(0, 12);
  await docker(['tag', name, `${REPOSITORIES[which]}:${tag}`], { signal });
  return tag;
}
