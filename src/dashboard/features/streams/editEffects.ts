/** Says what an edit of a stream costs, and when viewers see it, as docs/edits.md has it. Pure: no I/O, no clock. */
import type { StreamUpdate } from '../../../service/client/index.ts';

const PICTURE = 'The media is prepared for the new picture first. It begins after the clip that plays then.';
const MEDIA = 'The new media plays after the clip that plays now, once it is prepared.';
const QUIET = 'Viewers notice nothing of the rest: it takes effect at once, and restarts nothing.';

/** Fields with the same sentence are one effect. Viewers see nothing of the others. */
const EFFECTS: Partial<Record<keyof StreamUpdate, string>> = {
  quality: PICTURE,
  framerate: PICTURE,
  videoUploadObjectID: MEDIA,
  playlistIDs: MEDIA,
  audioPlaylistIDs: 'The new sound begins after the song or clip that plays now.',
  loudness: 'An item has the new loudness where it next begins, once its sound is made.',
  overlays: 'An item has the new overlays where it next begins, once its pictures are made.',
  cards: 'A song has its new picture as soon as that is made.',
  destinationIDs: 'Destinations change at once. Those that stay notice nothing.',
};

const ORDER = [...new Set([...Object.values(EFFECTS), QUIET])];
const ALONE = 'Takes effect at once, and restarts nothing.';
const OFF_AIR = 'The media must be prepared again for this, which takes a while.';

/** The effects of an edit, each once. */
export function listEditEffects(changes: StreamUpdate, isOnAir: boolean): string[] {
  if (!isOnAir) return changes.quality || changes.framerate ? [OFF_AIR] : [];
  const fields = Object.keys(changes) as (keyof StreamUpdate)[];
  const found = new Set(fields.map((field) => EFFECTS[field] ?? QUIET));
  if (found.size === 1 && found.has(QUIET)) return [ALONE];
  return ORDER.filter((effect) => found.has(effect));
}
