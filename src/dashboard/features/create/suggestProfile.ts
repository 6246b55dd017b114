/** Suggests the quality and frame rate of a stream that fit its media. Pure: no I/O, no clock. */
import type { Upload } from '../../../service/client/index.ts';
import type { ChoiceValues } from '../streams/choiceValues.ts';

export type StreamProfile = Pick<ChoiceValues, 'quality' | 'framerate'>;

/** Fits most videos and connections, and is prepared the fastest. */
const USUAL: StreamProfile = { quality: 'q_720p', framerate: 'f_30' };

/** Frame rates by what a source has: a half of 50 is shown evenly, and a double of 12 too. */
const RATES = [
  { framerate: 'f_24', sources: [24, 12] },
  { framerate: 'f_25', sources: [25, 50] },
  { framerate: 'f_60', sources: [60, 120] },
] as const;
/** 23.976 is 24, and 59.94 is 60. */
const TOLERANCE = 0.01;

function findQuality(lines: number): StreamProfile['quality'] {
  if (lines > 1440) return 'q_2160p';
  if (lines > 1080) return 'q_1440p';
  return lines > 720 ? 'q_1080p' : 'q_720p';
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE * b;

/** The media's own size and rate, as soon as they are known. The shorter side of a picture names its quality. */
export function suggestProfile(media: Upload['video'] | undefined): StreamProfile {
  if (!media) return USUAL;
  const { width, height, framerate } = media;
  const fitting = RATES.find(({ sources }) => sources.some((source) => isNear(framerate, source)));
  return { quality: findQuality(Math.min(width, height)), framerate: fitting?.framerate ?? USUAL.framerate };
}
