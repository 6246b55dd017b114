/**
 * Declares profiles: a quality and a frame rate, written `1080p30`. Streams request one, and renditions are made for
 * one. Pure: no I/O, no clock.
 */

export const QUALITIES = ['720p', '1080p', '1440p', '2160p'] as const;
export const FRAMERATES = [24, 25, 30, 60] as const;
export type Quality = (typeof QUALITIES)[number];
export type Framerate = (typeof FRAMERATES)[number];
export type Profile = `${Quality}${Framerate}`;

/** Width and height in pixels of each quality, 16:9. */
export const DIMENSIONS: Record<Quality, { width: number; height: number }> = {
  '720p': { width: 1280, height: 720 },
  '1080p': { width: 1920, height: 1080 },
  '1440p': { width: 2560, height: 1440 },
  '2160p': { width: 3840, height: 2160 },
};

/**
 * Video bitrate in kbit/s, for up to 30 and for 60 frames per second. 720p, 1440p and 2160p: YouTube's recommendation
 * for H.264 (support.google.com/youtube/answer/2853702). 1080p stays at Twitch's ceiling of 6000 (help.twitch.tv,
 * Broadcasting Guidelines), well inside YouTube's limits, because one rendition serves every destination.
 */
const BITRATES_KBPS: Record<Quality, readonly [number, number]> = {
  '720p': [4000, 6000],
  '1080p': [6000, 6000],
  '1440p': [15_000, 24_000],
  '2160p': [30_000, 35_000],
};

/** Bitrate of sound that is encoded, in every profile. */
export const AUDIO_KBPS = 160;

export const bitrateKbps = (quality: Quality, framerate: Framerate): number =>
  BITRATES_KBPS[quality][framerate > 30 ? 1 : 0];

export const formatProfile = (quality: Quality, framerate: Framerate): Profile => `${quality}${framerate}`;

export const PROFILES: readonly Profile[] = QUALITIES.flatMap((quality) =>
  FRAMERATES.map((framerate) => formatProfile(quality, framerate)),
);

/** Splits `1080p30`; undefined when it is not a profile. */
export function parseProfile(text: string): { quality: Quality; framerate: Framerate } | undefined {
  const match = /^(\d+p)(\d+)$/.exec(text);
  const quality = QUALITIES.find((q) => q === match?.[1]);
  const framerate = FRAMERATES.find((f) => String(f) === match?.[2]);
  return quality && framerate ? { quality, framerate } : undefined;
}
