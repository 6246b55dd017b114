/** Describes playlists in words. Pure: no I/O, no clock. */
import type { Playlist, PlaylistSummary, Upload } from '../../../service/client/index.ts';
import { formatLength } from '../../lib/format.ts';
import { quote } from '../../lib/isolate.ts';
import type { DifferenceLine } from './difference.ts';

export const KIND_WORDS: Record<PlaylistSummary['kind'], string> = { video: 'Video', audio: 'Audio' };
export const MODE_WORDS: Record<PlaylistSummary['mode'], string> = { sequential: 'In order', shuffle: 'Shuffled' };

export const clips = (count: number): string => `${count} ${count === 1 ? 'clip' : 'clips'}`;

export type UploadsById = ReadonlyMap<string, Upload>;

/** The name of a clip; for a deleted one, the end of its id. */
export const clipName = (objectID: string, uploads: UploadsById): string =>
  uploads.get(objectID)?.name ?? `Deleted clip …${objectID.slice(-6)}`;

/** `3 clips · 1:02:03 in all`; says of how many the length is not known. */
export function formatTotal(objectIDs: readonly string[], uploads: UploadsById): string {
  const lengths = objectIDs.map((id) => uploads.get(id)?.durationSeconds ?? undefined);
  const known = lengths.filter((length) => length !== undefined);
  const total = known.reduce((sum, length) => sum + length, 0);
  const unknown = lengths.length - known.length;
  return [
    clips(objectIDs.length),
    known.length > 0 && `${formatLength(total)} in all`,
    unknown > 0 && `length of ${unknown} not known yet`,
  ]
    .filter(Boolean)
    .join(' · ');
}

export function lineText({ what, objectID, place, to }: DifferenceLine, uploads: UploadsById): string {
  const name = quote(clipName(objectID, uploads));
  if (what === 'moved') return `${name} moved from place ${place} to ${to}`;
  return what === 'added' ? `${name} added at place ${place}` : `${name} removed from place ${place}`;
}

/** How far the clips of one artist are kept apart. */
export const apartText = ({ sameArtist }: Playlist['notWithin']): string =>
  sameArtist === 0 ? 'Artists in any order' : `${clips(sameArtist)} between two of one artist`;

/** How far the version that streams play is prepared. */
export function publicationText({
  publication,
  version,
  streamID,
}: Pick<Playlist, 'publication' | 'version' | 'streamID'>): string {
  const { version: played, state, itemsReady, itemsFailed, itemsTotal } = publication;
  const which = played === null || played === version ? 'This version' : `Version ${played}`;
  if (itemsTotal === 0) return `${which} has no clips, so nothing can be played. Add some, then publish it.`;
  if (state === 'failed')
    return `${itemsFailed} of ${clips(itemsTotal)} cannot be played. Check them under Uploads, or remove them and publish again.`;
  if (state === 'preparing')
    return `${which} is being prepared: ${itemsReady} of ${clips(itemsTotal)} ready.${streamID === '' ? ' No stream plays it yet.' : ' Until then, streams keep playing what they play.'}`;
  if (streamID === '') return `${which} is ready, and no stream plays it yet.`;
  return `Streams play ${which.toLowerCase()}.`;
}
