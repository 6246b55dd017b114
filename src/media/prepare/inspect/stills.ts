/**
 * A still picture as a source: it becomes a clip of STILL_SECONDS, so that music can play over it. Also what any picture needs
 * before it is scaled: to be upright, and to stand on black where it is transparent. Pure: no I/O, no clock.
 */
import type { Scan, Source, VideoStream } from './source.ts';

export const STILL_SECONDS = 10;
/** ffmpeg gives 0.04 s to a picture without a time, an AVIF a second; one that says that it lasts longer does so. */
const MAX_UNTIMED_SECONDS = 1;

/** The scan of a still picture lasts as long as its clip; any other stays as it is. */
export function holdStill({ audio }: Source, scan: Scan): Scan {
  const { video } = scan;
  if (!video || audio || video.packets - video.hidden !== 1) return scan;
  if (video.endSeconds - video.startSeconds > MAX_UNTIMED_SECONDS) return scan;
  const endSeconds = video.startSeconds + STILL_SECONDS;
  return { ...scan, video: { ...video, endSeconds, regular: false, isStill: true } };
}

/** Exif 2.32, Orientation: how what is stored becomes upright. */
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

/** Filters before all others. */
export const pictureFilters = (video: VideoStream): string[] => [
  ...(UPRIGHT[video.orientation ?? 1] ?? []),
  // Black shows through as far as it is transparent.
  ...(hasAlpha(video) ? ['format=gbrap', 'premultiply=inplace=1'] : []),
];
