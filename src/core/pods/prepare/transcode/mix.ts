/** Mixes sound of many channels, or of channels without places, down to stereo, so that every channel is heard. Pure: no I/O, no clock. */
import type { AudioStream } from '../inspect/source.ts';

/** ffmpeg knows a usual order of places for so many channels, and can mix them down. */
const MAX_PLACED_CHANNELS = 8;
/** Channel counts of which ffmpeg takes one for the subwoofer's without a layout; a mix leaves that out. */
const SUBWOOFER_COUNTS = new Set([3, 6, 7, 8]);

/** Returns the filters before all others that need two channels; none where ffmpeg mixes by itself. */
export function mixFilters(audio: Pick<AudioStream, 'channels' | 'layout'> | undefined): string[] {
  const { channels = 2, layout = '' } = audio ?? {};
  if (layout.startsWith('ambisonic')) return [mixAmbisonic(channels)];
  if (channels > MAX_PLACED_CHANNELS) return [mixAll(channels, layout)];
  const isUnplaced = layout === '' || layout === 'unknown' || /^\d+ channels$/.test(layout);
  return isUnplaced && SUBWOOFER_COUNTS.has(channels)
    ? ['aresample=lfe_mix_level=0.7', 'aformat=channel_layouts=stereo']
    : [];
}

/** ACN order, whose second channel is left minus right. */
const mixAmbisonic = (channels: number): string =>
  channels < 2 ? 'pan=stereo|c0=c0|c1=c0' : 'pan=stereo|c0=0.5*c0+0.5*c1|c1=0.5*c0-0.5*c1';

/** Places of the left and right side, e.g. `FL` and `TBR`, where a layout names them: `12 channels (FL+FR+…)`. */
const PLACES = /\(([A-Z0-9+]+)\)$/;

/** Independent sources add up by their power, so this is as loud as they are, and mostly not louder. */
function mixAll(channels: number, layout: string): string {
  const places = PLACES.exec(layout)?.[1]?.split('+') ?? [];
  const gain = (1 / Math.sqrt(channels)).toFixed(4);
  const side = (other: string) =>
    Array.from({ length: channels }, (_, channel) => channel)
      .filter((channel) => !places[channel]?.endsWith(other))
      .map((channel) => `${gain}*c${channel}`)
      .join('+');
  return `pan=stereo|c0=${side('R')}|c1=${side('L')}`;
}
