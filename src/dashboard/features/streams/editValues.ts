/** Converts a stream to a form's values, and a form's values to changes. Pure: no I/O, no clock. */
import type { PlaylistSummary, StreamUpdate, Upload } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { formatLength } from '../../lib/format.ts';
import type { CheckboxItem } from '../../ui/checkboxItem.ts';
import { hasOverlays, NO_OVERLAYS, type StreamOverlays } from '../overlays/layers.ts';
import { type ChoiceValues, findChangedChoices, pickChoices } from './choiceValues.ts';
import { readLoudnessChoice, toLoudnessChoice } from './loudness.ts';

export interface EditValues extends ChoiceValues {
  name: string;
  kind: 'video' | 'playlists';
  videoUploadObjectID: string;
  playlistIDs: string[];
  /** Played over its pictures in place of their own sound. */
  audioPlaylistIDs: string[];
  /** As toLoudnessChoice() has it. */
  loudness: string;
  /** Without a layer there are none. */
  overlays: StreamOverlays;
  /** Empty for the built-in one. */
  slateUploadObjectID: string;
  /** objectID of the picture behind the words of each card; empty for the cover of the song, null for no cards. */
  cards: string | null;
  destinationIDs: string[];
  /** Those that are switched off, and stay so unless they are ticked. */
  offIDs: string[];
}

export const toEditValues = (stream: Stream): EditValues => ({
  name: stream.name,
  ...pickChoices(stream),
  kind: stream.videoUploadObjectID === null && stream.playlistIDs.length > 0 ? 'playlists' : 'video',
  videoUploadObjectID: stream.videoUploadObjectID ?? '',
  playlistIDs: stream.playlistIDs,
  audioPlaylistIDs: stream.audioPlaylistIDs,
  loudness: toLoudnessChoice(stream.loudness),
  overlays: stream.overlays ?? NO_OVERLAYS,
  slateUploadObjectID: stream.slateUploadObjectID ?? '',
  cards: stream.cards ? (stream.cards.imageUploadObjectID ?? '') : null,
  destinationIDs: stream.destinationIDs,
  offIDs: stream.destinations.flatMap(({ destinationID, enabled }) => (enabled ? [] : [destinationID])),
});

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const same = (a: readonly string[], b: readonly string[]): boolean => a.join(' ') === b.join(' ');

/** Without songs there are no cards. */
const findCards = ({ audioPlaylistIDs, cards }: EditValues): string | null =>
  audioPlaylistIDs.length > 0 ? cards : null;

function pickDestinations({ destinationIDs, offIDs }: EditValues): StreamUpdate {
  const off = offIDs.filter((id) => !destinationIDs.includes(id));
  if (off.length === 0) return { destinationIDs };
  const list = (ids: readonly string[], enabled: boolean) => ids.map((destinationID) => ({ destinationID, enabled }));
  return { destinations: [...list(destinationIDs, true), ...list(off, false)] };
}

/** The fields that are not as they were. A video takes the place of playlists, and the other way round. */
export function findChanges(before: EditValues, after: EditValues): StreamUpdate {
  const name = after.name.trim();
  const switched = before.kind !== after.kind;
  const { kind, videoUploadObjectID, playlistIDs } = after;
  const cards = findCards(after);
  const video = kind === 'video' && (switched || videoUploadObjectID !== before.videoUploadObjectID);
  const lists = kind === 'playlists' && (switched || !same(playlistIDs, before.playlistIDs));
  return {
    ...(name !== before.name && { name }),
    ...findChangedChoices(before, after),
    ...(!same(after.destinationIDs, before.destinationIDs) && pickDestinations(after)),
    ...(!same(after.audioPlaylistIDs, before.audioPlaylistIDs) && { audioPlaylistIDs: after.audioPlaylistIDs }),
    ...(after.loudness !== before.loudness && { loudness: readLoudnessChoice(after.loudness) }),
    ...(!sameJson(after.overlays, before.overlays) && {
      overlays: hasOverlays(after.overlays) ? after.overlays : null,
    }),
    ...(after.slateUploadObjectID !== before.slateUploadObjectID && {
      slateUploadObjectID: after.slateUploadObjectID || null,
    }),
    ...(cards !== findCards(before) && { cards: cards === null ? null : { imageUploadObjectID: cards || null } }),
    ...(video && { videoUploadObjectID }),
    ...(lists && { playlistIDs }),
  };
}

/** Videos that can be looped; a chosen one stays on the list, also when it failed. */
export const listMediaItems = (uploads: readonly Upload[] | undefined, chosen: string): CheckboxItem[] =>
  (uploads ?? [])
    .filter(({ type, state, objectID }) => objectID === chosen || (type === 'VIDEO' && state !== 'failed'))
    .map(({ objectID, name, type, state, durationSeconds, posterUrl }) => ({
      value: objectID,
      label: name,
      hint: durationSeconds !== null ? formatLength(durationSeconds) : state,
      picture: { url: posterUrl, kind: type },
    }));

/** Playlists of a kind; those that are chosen stay on the list. */
export const listPlaylistItems = (
  playlists: readonly PlaylistSummary[] | undefined,
  chosen: readonly string[],
  wanted: PlaylistSummary['kind'] = 'video',
): CheckboxItem[] =>
  (playlists ?? [])
    .filter(({ id, kind }) => kind === wanted || chosen.includes(id))
    .map(({ id, name, kind, mode, posterUrl }) => ({
      value: id,
      label: name,
      hint: mode === 'shuffle' ? 'Shuffled' : 'In order',
      picture: { url: posterUrl, kind: kind === 'audio' ? 'AUDIO' : 'VIDEO' },
    }));
