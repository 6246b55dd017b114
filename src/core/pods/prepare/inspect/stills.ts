/**
 * Turns a still picture into a clip of STILL_SECONDS, so that music can play over it. Also prepares any picture for
 * scaling: it must be upright, and stand on black where it is transparent. Pure: no I/O, no clock.
 */
import type { Scan, Source, VideoStream } from './source.ts';

export const STILL_SECONDS = 10;
/** ffmpeg gives 0.04 s to a picture without a time, an AVIF a second. A picture with a longer duration keeps it. */
const MAX_UNTIMED_SECONDS = 1;

/** Extends the scan of a still picture to the length of its clip; other scans stay as they are. */
export function holdStill({ audio }: Source, scan: Scan): Scan {
  const { video } = scan;
  if (!video || audio || video.packets - video.hidden !== 1) return scan;
  if (video.endSeconds - video.startSeconds > MAX_UNTIMED_SECONDS) return scan;
  const endSeconds = video.startSeconds + STILL_SECONDS;
  return { ...scan, video: { ...video, endSeconds, regular: false, isStill: true } };
}

/** Exif 2.32, Orientation: the filters that turn stored pictures upright. */
const UPRIGHT: Record<number, readonly string[]> = {
  2: ['hflip'],
  3: ['hflip', 'vflip'],
  4: ['vflip'],
  5: ['transpose=cclock_flip'],
  6: ['transpose=clock'],
  7: ['transpose=clock_flip'],
  8: ['transpose=cclock'],
};

export const hasAlpha = ({ codec, pixelFormat }: VideoStream): boolean =>
  /^(?:rgba|bgra|argb|abgr|gbrap|ya8|ya16|yuva|ayuv|pal8|vuya)/.test(pixelFormat) && codec !== 'mjpeg';

/** A smaller difference of scales is rounding. */
const NOTICED_STRETCH = 0.01;
/** A larger one shows nothing. */
const MAX_STRETCH = 100;

/** Some versions of ffmpeg find the shape of pixels in the matrix, and it is left alone then. */
function stretchFilters({ stretch = 1, sampleAspect }: VideoStream): string[] {
  const isNoticed = Math.abs(stretch - 1) > NOTICED_STRETCH && stretch < MAX_STRETCH && stretch > 1 / MAX_STRETCH;
  return isNoticed && sampleAspect[0] === sampleAspect[1] ? [`setsar=r=${stretch.toFixed(4)}:max=1000`] : [];
}

/** Returns the filters that make pictures upright. */
export const uprightFilters = (video: VideoStream): string[] => [
  ...stretchFilters(video),
  ...(UPRIGHT[video.orientation ?? 1] ?? []),
];

/** Returns the filters that make pictures upright and opaque. */
export const pictureFilters = (video: VideoStream): string[] => [
  ...uprightFilters(video),
  // Black shows through transparent pixels.
  ...(hasAlpha(video) ? ['format=gbrap', 'premultiply=inplace=1'] : []),
];
