/** The way to a stream, step by step. Pure: no I/O, no clock. */
import type { StreamCreate } from '../../../service/client/index.ts';
import { quote } from '../../lib/isolate.ts';
import { hasOverlays } from '../overlays/layers.ts';
import { CHOICE_FIELDS, type ChoiceField, pickChoices } from '../streams/choiceValues.ts';
import { readLoudnessChoice } from '../streams/loudness.ts';
import type { SceneMedia } from '../streams/overlayScene.ts';
import type { DraftFile, NewStream } from './draft.ts';

export const STEPS = ['media', 'destination', 'stream'] as const;
export type CreateStep = (typeof STEPS)[number];

export const STEP_WORDS: Record<CreateStep, string> = {
  media: 'Media',
  destination: 'Destination',
  stream: 'Name and quality',
};

export interface CreateSearch {
  step?: CreateStep | undefined;
  /** Made already, and on its way to air. */
  stream?: string | undefined;
  /** A playlist to begin with. */
  playlist?: string | undefined;
}

const parseId = (id: unknown): string | undefined =>
  typeof id === 'string' && id !== '' ? id.slice(0, 253) : undefined;

/** Anything else in the address is left out: people type there. */
export function parseCreateSearch(search: Record<string, unknown>): CreateSearch {
  const { step } = search;
  const [stream, playlist] = [parseId(search.stream), parseId(search.playlist)];
  return {
    ...(STEPS.includes(step as CreateStep) && { step: step as CreateStep }),
    ...(stream !== undefined && { stream }),
    ...(playlist !== undefined && { playlist }),
  };
}

/** The pictures of a stream, and the sounds that play over them. */
interface FilePlan {
  pictures: DraftFile[];
  sounds: DraftFile[];
}

export const planFiles = (files: readonly DraftFile[]): FilePlan => ({
  pictures: files.filter(({ type }) => type === 'VIDEO'),
  sounds: files.filter(({ type }) => type === 'AUDIO'),
});

/** The use of several files, as a sentence; undefined for one video, which needs no word. */
export function describePlan({ pictures, sounds }: FilePlan): string | undefined {
  const [first] = pictures;
  const sound = sounds.length === 1 ? `${quote(sounds[0]?.name ?? '')} plays` : `${sounds.length} sounds play in turn`;
  if (!first && sounds.length > 0) return `A stream needs a picture too. Add a video or a picture: ${sound} over it.`;
  if (!first) return undefined;
  const picture =
    pictures.length === 1 ? `${quote(first.name)} is shown` : `These ${pictures.length} play in turn, as a playlist`;
  if (sounds.length > 0) return `${picture}, and ${sound} over ${pictures.length === 1 ? 'it' : 'them'}.`;
  return pictures.length === 1 ? undefined : `${picture}, in this order.`;
}

export function hasMedia({ source, files, linkUploadID, uploadID, playlistID }: NewStream): boolean {
  if (source === 'file') return planFiles(files).pictures.length > 0;
  return { link: linkUploadID, upload: uploadID, playlist: playlistID }[source] !== '';
}

/** The furthest step that can be at: nobody names a stream that has nothing to play. */
export function limitStep(asked: CreateStep | undefined, draft: NewStream): CreateStep {
  if (!hasMedia(draft) || asked === undefined || asked === 'media') return 'media';
  return draft.destinationID === '' || asked === 'destination' ? 'destination' : 'stream';
}

/** `Night fireplace` for `night_fireplace.mp4`; an address stays as it is. */
export function nameFrom(media: string, host?: string): string {
  if (host !== undefined && media.startsWith(host)) return media;
  const words = media
    .replace(/\.[A-Za-z0-9]{2,4}$/, '')
    .replace(/[_-]+/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A name that nobody has chosen follows the media. */
export function renamed({ name, madeName }: NewStream, next: string): Partial<NewStream> {
  return name === '' || name === madeName ? { name: next, madeName: next } : {};
}

/** Whether the stream plays a list of items, so that it can go on without one. */
const playsList = ({ source, files }: Pick<NewStream, 'source' | 'files'>): boolean =>
  source === 'playlist' || (source === 'file' && files.length > 1);

/** A stream of one video has no other items to go on with. */
export const listAskedChoices = (draft: Pick<NewStream, 'source' | 'files'>): ChoiceField[] =>
  playsList(draft) ? CHOICE_FIELDS : CHOICE_FIELDS.filter((field) => field !== 'onItemFailure');

type MediaFields = Pick<StreamCreate, 'videoUploadObjectID' | 'playlistIDs' | 'audioPlaylistIDs'>;

/** A playlist that has to be made of the files before the stream. */
export interface PlannedPlaylist {
  kind: 'video' | 'audio';
  objectIDs: string[];
}

/** Their ids, once they are made. */
export type MadePlaylists = Partial<Record<PlannedPlaylist['kind'], string>>;

/** Several pictures are a playlist, and sounds are always one. */
export function listPlannedPlaylists({ source, files }: NewStream): PlannedPlaylist[] {
  if (source !== 'file') return [];
  const { pictures, sounds } = planFiles(files);
  const ids = (some: DraftFile[]) => some.map(({ objectID }) => objectID);
  return [
    ...(pictures.length > 1 ? [{ kind: 'video' as const, objectIDs: ids(pictures) }] : []),
    ...(sounds.length > 0 ? [{ kind: 'audio' as const, objectIDs: ids(sounds) }] : []),
  ];
}

export function findMedia(draft: NewStream, made: MadePlaylists): MediaFields {
  const { source, files, linkUploadID, uploadID, playlistID } = draft;
  if (source === 'playlist') return { playlistIDs: [playlistID] };
  if (source === 'link') return { videoUploadObjectID: linkUploadID };
  if (source === 'upload') return { videoUploadObjectID: uploadID };
  const [first] = planFiles(files).pictures;
  return {
    ...(made.video === undefined ? { videoUploadObjectID: first?.objectID ?? '' } : { playlistIDs: [made.video] }),
    ...(made.audio !== undefined && { audioPlaylistIDs: [made.audio] }),
  };
}

/** Returns the media that the preview of the overlays shows: of several files the first. */
export function toSceneMedia(draft: NewStream): SceneMedia {
  const { videoUploadObjectID = '', playlistIDs = [] } = findMedia(draft, {});
  return { name: draft.name, kind: playlistIDs.length > 0 ? 'playlists' : 'video', videoUploadObjectID, playlistIDs };
}

/** `made`: the playlists that were made of the files. */
export function buildBody(draft: NewStream, made: MadePlaylists = {}): StreamCreate {
  const { name, destinationID, overlays } = draft;
  const loudness = readLoudnessChoice(draft.loudness);
  const { onItemFailure, ...choices } = pickChoices(draft);
  return {
    name: name.trim(),
    ...choices,
    destinationIDs: [destinationID],
    ...findMedia(draft, made),
    ...(playsList(draft) && { onItemFailure }),
    ...(loudness && { loudness }),
    ...(hasOverlays(overlays) && { overlays }),
  };
}
