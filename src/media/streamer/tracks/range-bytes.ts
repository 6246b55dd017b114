/** Chooses how many bytes of an item are read at once. Pure: no I/O, no clock. */
import { bitrateKbps, parseProfile } from '../../../resources/stream/profile.ts';

/** A second of 4 Mbit/s. A block of memory has this size, and a track holds three of them. */
export const RANGE_BYTES = 512 * 1024;
/** Half a second of the largest profile. A track of it holds 6 MiB then. */
const MAX_RANGE_BYTES = 4 * RANGE_BYTES;

/** Returns a second of media in this profile, within limits: each read takes four turns of another thread. */
export function chooseRangeBytes(profile: string): number {
  const parsed = parseProfile(profile);
  const second = parsed ? (bitrateKbps(parsed.quality, parsed.framerate) * 1000) / 8 : 0;
  let bytes = RANGE_BYTES;
  while (bytes < Math.min(second, MAX_RANGE_BYTES)) bytes *= 2;
  return bytes;
}
