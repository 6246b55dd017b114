/** Opens the source of a rendition: the first step. */
import { parseProfile } from '../../../resources/stream/profile.ts';
import { parseCardProfile } from '../../../resources/upload/card.ts';
import { parseLookProfile } from '../../../resources/upload/look.ts';
import { parseSoundProfile } from '../../../resources/upload/loudness.ts';
import { parseSlateProfile } from '../../../resources/upload/slate.ts';
import { PREVIEW_PROFILE } from '../../../resources/upload/spec.ts';
import { PrepareError } from '../failure/failure.ts';
import type { Source } from '../inspect/source.ts';
import { SourceFile } from '../inspect/source-file.ts';
import { matchFramerate, type PlanInput } from '../transcode/plan.ts';
import type { JobContext, Target } from './context.ts';

/** The plan decides a preview's size, and a sound has none, so the quality here has no meaning. */
const ANY: Opened['shape'] = { quality: '720p', framerate: 30 };

/** A source, and what is to become of it. */
export interface Opened {
  file: SourceFile;
  target: Target;
  shape: Pick<PlanInput, 'quality' | 'framerate' | 'overlays'>;
}

/** Throws PrepareError where the profile does not exist. Nothing is read yet. */
export function openTarget(
  target: Target,
  path: string,
  { tools, signal, limits }: Pick<JobContext, 'tools' | 'signal' | 'limits'>,
  isOutline = false,
): Opened {
  const { type, profile, tracks: chosen } = target;
  const drawn = parseCardProfile(profile) ?? parseSlateProfile(profile);
  const plain = drawn ?? parseLookProfile(profile)?.profile ?? profile;
  const shape = profile === PREVIEW_PROFILE || parseSoundProfile(profile) ? ANY : parseProfile(plain);
  if (!shape) throw new PrepareError('prepare_failed', `The profile ${profile} does not exist.`);
  const findFramerate = (source: Source) => matchFramerate(source, shape.framerate);
  const file = new SourceFile(path, { type, chosen, tools, signal, limits, findFramerate, isOutline });
  return { file, target, shape };
}
