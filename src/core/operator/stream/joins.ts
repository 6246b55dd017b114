/** Finds what joins a program that is on air: items that were left out, and sounds that were made. Pure: no I/O, no clock. */
import { isSameJson } from '../../lib/json-equal.ts';
import type { Program } from '../../protocol/program.ts';
import { isLeftOut } from '../../resources/stream/item-place.ts';
import type { Track } from '../../resources/stream/playing.ts';

type Item = Track['items'][number];

/**
 * Returns what `next` adds to `current`; undefined when they differ in anything else. `sounds`: items get a sound, perhaps beside items that
 * join. One sound is made after the other, and nothing says which is the last.
 */
export function findJoins(next: Program, current: Program): 'items' | 'sounds' | undefined {
  const video = withoutJoined(next.video, current.video);
  const audio = next.audio && withoutJoined(next.audio, current.audio);
  if (!isSameJson({ ...next, version: current.version, video, audio }, current)) return undefined;
  const gainsSound = ({ sound }: Item, i: number) => sound !== undefined && !current.video.items[i]?.sound;
  return next.video.items.some(gainsSound) ? 'sounds' : 'items';
}

/** Returns the track as it was before: what `before` leaves out is left out. */
const withoutJoined = (track: Track, before: Track | undefined): Track => ({
  ...track,
  items: track.items.map((item, i) => withoutNews(item, before?.items[i])),
});

function withoutNews(item: Item, before: Item | undefined): Item {
  if (!before || item.id !== before.id) return item;
  const { sound: _, ...silent } = item;
  if (isLeftOut(before)) return { ...silent, rendition: '' };
  return before.sound === undefined ? silent : item;
}
