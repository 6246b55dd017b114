/** Makes a stream like another one. Pure: no I/O, no clock. */
import type { StreamCreate } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { pickChoices } from './choiceValues.ts';

const MOST_LETTERS = 200;
const COPY_OF = 'Copy of ';

/** The name to propose. A copy of a copy has one "copy" in its name. */
export const nameCopy = (name: string): string =>
  name.startsWith(COPY_OF) ? name : `${COPY_OF}${name}`.slice(0, MOST_LETTERS).toWellFormed().trim();

/**
 * Returns the request for the copy: the same media, picture, loudness, overlays, slate and cards. It has no schedule, so that it stays off air, and
 * destinations of its own, since two streams cannot publish to one key.
 */
export const toCopy = (stream: Stream, name: string, destinationIDs: string[]): StreamCreate => {
  const { videoUploadObjectID, playlistIDs, audioPlaylistIDs, loudness, overlays, slateUploadObjectID, cards } = stream;
  return {
    name: name.trim(),
    ...pickChoices(stream),
    destinationIDs,
    ...(videoUploadObjectID !== null ? { videoUploadObjectID } : { playlistIDs }),
    ...(audioPlaylistIDs.length > 0 && { audioPlaylistIDs }),
    ...(loudness && { loudness }),
    ...(overlays && { overlays }),
    ...(slateUploadObjectID !== null && { slateUploadObjectID }),
    ...(cards && { cards }),
  };
};
