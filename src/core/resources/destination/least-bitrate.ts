/**
 * Lists the least bitrate of pictures that a platform takes for healthy. A still or slides would go out far below it. Pure: no I/O, no clock.
 */
import { parseProfile, type Quality } from '../stream/profile.ts';

/**
 * kbit/s for up to 30 and for 60 frames per second: the lower ends of the ranges that YouTube has published for H.264
 * (support.google.com/youtube/answer/2853702). That it counts filler is believed, not documented.
 */
const YOUTUBE_KBPS: Record<Quality, readonly [number, number]> = {
  '720p': [1500, 2250],
  '1080p': [3000, 4500],
  '1440p': [6000, 9000],
  '2160p': [13_000, 20_000],
};

/** Ends of host names → kbit/s. Other servers ask for none. */
const PLATFORMS: readonly [host: string, kbps: typeof YOUTUBE_KBPS][] = [['youtube.com', YOUTUBE_KBPS]];

/** The most that a destination may ask for, in kbit/s. */
export const MOST_LEAST_KBPS = 50_000;

/** Returns the least bitrate of the pictures that are sent to this host, in kbit/s; 0 for none. `given` is what the destination asks for. */
export function findLeastKbps(host: string, profile: string, given?: number): number {
  if (given !== undefined) return given;
  const name = host.toLowerCase();
  const kbps = PLATFORMS.find(([end]) => name === end || name.endsWith(`.${end}`))?.[1];
  const format = parseProfile(profile);
  return kbps && format ? kbps[format.quality][format.framerate > 30 ? 1 : 0] : 0;
}
