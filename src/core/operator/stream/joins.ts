/** Finds what joins a program that is on air: items that were left out, and sounds, looks and cards that were made. Pure: no I/O, no clock. */
import { isSameJson } from '../../lib/json-equal.ts';
import type { Program } from '../../protocol/program.ts';
import { isLeftOut } from '../../resources/stream/item-place.ts';
import type { Track } from '../../resources/stream/playing.ts';
import { mapTrackItems } from '../../resources/stream/track-items.ts';
import { isLookKey } from '../../resources/upload/look.ts';

type Item = Track['items'][number];

/**
 * Returns what `next` adds to `current`; undefined when they differ in anything else. `aside`: items get a sound, a look or a card, perhaps
 * beside items that join. One is made after the other, and nothing says which is the last.
 */
export function findJoins(next: Program, current: Program): 'items' | 'aside' | undefined {
  const video = withoutJoined(next.video, current.video);
  const audio = next.audio && withoutJoined(next.audio, current.audio);
  if (!isSameJson({ ...next, version: current.version, video, audio }, current)) return undefined;
  const songs = current.audio?.items;
  const isAside =
    next.video.items.some(
      (item, i) => gainsSound(item, current.video.items[i]) || gainsLook(item, current.video.items[i]),
    ) || next.audio?.items.some((song, i) => gainsSound(song, songs?.[i]) || gainsCard(song, songs?.[i]));
  return isAside ? 'aside' : 'items';
}

const gainsSound = ({ sound }: Item, before: Item | undefined): boolean =>
  sound !== undefined && before?.sound === undefined;

/** Whether the pictures of an item that plays are now those of a look. */
const gainsLook = ({ rendition }: Item, before: Item | undefined): boolean =>
  before !== undefined && !isLeftOut(before) && rendition !== before.rendition && isLookKey(rendition);

/** Whether a song gets a card, or another one. One that it loses is gone at once. */
const gainsCard = ({ card }: Item, before: Item | undefined): boolean => card !== undefined && card !== before?.card;

/** Returns the track as it was before: what `before` leaves out is left out. */
const withoutJoined = (track: Track, before: Track | undefined): Track =>
  mapTrackItems(track, (item, i, rule) =>
    withoutNews(item, (rule === undefined ? before : before?.rules?.[rule])?.items[i]),
  );

function withoutNews(item: Item, before: Item | undefined): Item {
  if (!before || item.id !== before.id) return item;
  const { sound, card, ...plain } = item;
  if (isLeftOut(before)) return { ...plain, rendition: '' };
  const shown = gainsCard(item, before) ? before.card : card;
  return {
    ...plain,
    rendition: gainsLook(item, before) ? before.rendition : item.rendition,
    ...(sound !== undefined && before.sound !== undefined && { sound }),
    ...(shown !== undefined && { card: shown }),
  };
}
