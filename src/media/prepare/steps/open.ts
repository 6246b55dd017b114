/** Opens the source of a rendition: the first step. */
import { parseProfile } from '../../../resources/stream/profile.ts';
import { PREVIEW_PROFILE } from '../../../resources/upload/spec.ts';
import { PrepareError } from '../failure/failure.ts';
import type { Source } from '../inspect/source.ts';
import { SourceFile } from '../inspect/source-file.ts';
import { matchFramerate, type PlanInput } from '../transcode/plan.ts';
import type { JobContext, Target } from './context.ts';

type Shape = Pick<PlanInput, 'quality' | 'framerate'>;

/** The plan decides a preview's size, so its quality here has no meaning. */
const PREVIEW: Shape = { quality: '720p', framerate: 30 };

/** Throws PrepareError where the profile does not exist. */
export function readProfile({ profile }: Target): Shape {
  const known = profile === PREVIEW_PROFILE ? PREVIEW : parseProfile(profile);
  if (!known) throw new PrepareError('prepare_failed', `The profile ${profile} does not exist.`);
  return known;
}

/** Opens a source that a rendition is made of. Throws as readProfile() does. */
export function openFile(
  target: Target,
  path: string,
  { tools, signal, limits }: Pick<JobContext, 'tools' | 'signal' | 'limits'>,
  isOutline = false,
): SourceFile {
  const { framerate } = readProfile(target);
  const findFramerate = (source: Source) => matchFramerate(source, framerate);
  const { type, tracks: chosen } = target;
  return new SourceFile(path, { type, chosen, tools, signal, limits, findFramerate, isOutline });
}
