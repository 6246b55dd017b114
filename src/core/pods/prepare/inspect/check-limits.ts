/**
 * Holds media to its limits (protocol/media-limits.ts): by its header before it is read, and by its packets while it is. Each
 * refusal names the measured value, the limit, and the way on. Pure: no I/O, no clock.
 */

import type { MediaLimits } from '../../../protocol/media-limits.ts';
import { PrepareError } from '../failure/failure.ts';
import type { MediaType, Source } from './source.ts';

/** This much output is allowed for any number of bytes: a still picture that is shown for ten minutes. */
const FREE_SECONDS = 600;
/** A picture may be a strip, but no decoder takes a longer side. */
const MAX_SIDE = 16_384;

const written = (value: number): string => {
  const [whole = '', decimals] = String(Math.round(value * 10) / 10).split('.');
  // linear-time: a number has at most 22 digits.
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
};

/** Returns the longest duration of a source of this size. */
export const longestFor = ({ durationSeconds, secondsPerKilobyte }: MediaLimits, sizeBytes: number): number =>
  Math.min(durationSeconds, FREE_SECONDS + (sizeBytes / 1000) * secondsPerKilobyte);

/** Throws PrepareError media_too_long. */
export function checkSeconds(seconds: number, sizeBytes: number, limits: MediaLimits): void {
  const { durationSeconds } = limits;
  if (seconds > durationSeconds)
    throw new PrepareError(
      'media_too_long',
      `It lasts ${written(seconds)} s or more, and the limit is ${written(durationSeconds)} s.`,
    );
  if (seconds > longestFor(limits, sizeBytes))
    throw new PrepareError(
      'media_too_long',
      `It claims to last ${written(seconds)} s or more, but has only ${written(sizeBytes)} bytes. That many may last ` +
        `${written(longestFor(limits, sizeBytes))} s. Export it again at a constant frame rate.`,
    );
}

const complex = (measured: string, limit: string, advice: string) =>
  new PrepareError('media_too_complex', `It has ${measured}, and the limit is ${limit}. ${advice}`);

/** Boxes in one box of an MP4. Programs write a box for each track and each table, which are a few dozen. */
const MAX_BOXES = 1000;

/** Checks the number of boxes in one box while they are read. Throws PrepareError media_too_complex. */
export function checkBoxes(boxes: number): void {
  if (boxes <= MAX_BOXES) return;
  throw complex(
    `more than ${written(MAX_BOXES)} boxes in one box of its header`,
    written(MAX_BOXES),
    'Export it again, or run "ffmpeg -i FILE -c copy NEW.mp4", and import the new file.',
  );
}

/** Tracks that are not used may have as many packets as three that are. */
export function checkPackets(packets: number, { frames }: MediaLimits): void {
  if (packets <= 4 * frames) return;
  throw complex(`${written(packets)} packets or more`, written(4 * frames), 'Export it without data tracks.');
}

const checkFrames = (frames: number, limits: MediaLimits): void => {
  if (frames <= limits.frames) return;
  throw complex(
    `a track with ${written(frames)} frames or more`,
    written(limits.frames),
    'Export it at a lower frame rate, or cut it into parts.',
  );
};

/** Throws PrepareError media_too_many_pixels. */
export function checkPicture(width: number, height: number, { pixels }: MediaLimits): void {
  if (width * height <= pixels && Math.max(width, height) <= MAX_SIDE) return;
  throw new PrepareError(
    'media_too_many_pixels',
    `It has ${width} × ${height} pixels, and the limit is ${written(pixels)} in total and ${written(MAX_SIDE)} per side. ` +
      'Export it in 3840 × 2160 or less, the largest size of a stream.',
  );
}

function checkSound({ sampleRate, channels }: NonNullable<Source['audio']>, limits: MediaLimits): void {
  const advice = 'Export its audio as stereo at 48 kHz.';
  if (sampleRate > limits.sampleRate)
    throw complex(`${written(sampleRate)} audio samples per second`, written(limits.sampleRate), advice);
  if (channels > limits.channels) throw complex(`${channels} audio channels`, String(limits.channels), advice);
}

/** Containers whose headers state duration and frames as facts. Elsewhere (MP3, MPEG-TS, WAV) they are estimates. */
const STATES_FACTS = /\b(mov|matroska)\b/;

/**
 * Checks the claims of the header, before the packets are read. Throws PrepareError media_too_long,
 * media_too_many_pixels or media_too_complex.
 */
export function checkHeader(source: Source, type: MediaType, limits: MediaLimits): void {
  const { video, audio, sizeBytes, tracks } = source;
  if (tracks > limits.tracks)
    throw complex(`${tracks} tracks`, String(limits.tracks), 'Export it with one video track and one audio track.');
  if (video && type === 'video') checkPicture(video.width, video.height, limits);
  if (audio) checkSound(audio, limits);
  if (!STATES_FACTS.test(source.format)) return;
  checkFrames(video?.frames ?? 0, limits);
  for (const stream of [video, audio]) {
    const end = stream?.declaredEndSeconds;
    if (end !== undefined) checkSeconds(end - source.startSeconds, sizeBytes, limits);
  }
}

/** The counts of a track so far. */
export interface TrackCounts {
  readonly packets: number;
  readonly seconds: number;
  readonly gapSeconds: number;
}

/** Checks one track, with pictures of so many pixels, while its packets are counted. Throws PrepareError media_too_long or media_too_complex. */
export function checkTrack(
  seen: TrackCounts,
  { pixels, sizeBytes }: { pixels: number; sizeBytes: number },
  limits: MediaLimits,
): void {
  checkFrames(seen.packets, limits);
  checkSeconds(seen.seconds, sizeBytes, limits);
  if (seen.gapSeconds > limits.gapSeconds)
    throw new PrepareError(
      'media_too_long',
      `A gap between two of its frames lasts ${written(seen.gapSeconds)} s, and the limit is ${written(limits.gapSeconds)} s. ` +
        'Export it again at a constant frame rate.',
    );
  const gigapixels = (seen.packets * pixels) / 1e9;
  if (gigapixels > limits.gigapixels)
    throw complex(
      `${written(gigapixels)} gigapixels or more in all frames`,
      written(limits.gigapixels),
      'Export it in 1920 × 1080, or cut it into parts.',
    );
}
