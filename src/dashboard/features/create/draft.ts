/**
 * The choices for a stream that is not made yet. The draft is kept in the tab, so that going back, a reload or a session that
 * ends in the middle loses nothing. No secret is in it: the key of a channel is sent where it is entered. Pure: no I/O, no clock.
 */
import type { Upload } from '../../../service/client/index.ts';
import { NO_OVERLAYS, type StreamOverlays } from '../overlays/layers.ts';
import type { ChoiceValues } from '../streams/choiceValues.ts';
import { DEFAULTS } from '../streams/fields.ts';

/** A file of this computer. A reload keeps these facts of it, and the browser forgets the file itself. */
export interface DraftFile {
  /** The file's fingerprint, by which the sender knows it. */
  id: string;
  name: string;
  type: Upload['type'];
  /** The upload that it becomes; empty until the server knows it. */
  objectID: string;
}

export interface NewStream extends ChoiceValues {
  source: 'file' | 'link' | 'upload' | 'playlist';
  files: DraftFile[];
  link: string;
  /** The link that `linkUploadID` was imported from. */
  importedLink: string;
  linkUploadID: string;
  uploadID: string;
  playlistID: string;
  destinationID: string;
  /** As toLoudnessChoice() has it. */
  loudness: string;
  overlays: StreamOverlays;
  name: string;
  /** The name that was made from the media; another one was chosen by a person. */
  madeName: string;
  /** `yes` once a person has chosen quality or frame rate. */
  isProfileChosen: '' | 'yes';
}

export const EMPTY_DRAFT: NewStream = {
  source: 'file',
  files: [],
  link: '',
  importedLink: '',
  linkUploadID: '',
  uploadID: '',
  playlistID: '',
  destinationID: '',
  loudness: '',
  overlays: NO_OVERLAYS,
  name: '',
  madeName: '',
  isProfileChosen: '',
  ...DEFAULTS,
};

const isDraftFile = (one: unknown): one is DraftFile =>
  typeof one === 'object' &&
  one !== null &&
  ['id', 'name', 'type', 'objectID'].every((field) => typeof (one as Record<string, unknown>)[field] === 'string');

const isOverlays = (one: unknown): one is StreamOverlays =>
  typeof one === 'object' && one !== null && Array.isArray((one as StreamOverlays).layers);

/** Reads a draft that was kept. Fields of another version are left out. */
export function draftFrom(stored: unknown): NewStream {
  if (typeof stored !== 'object' || stored === null) return EMPTY_DRAFT;
  const texts = Object.entries(stored).filter(
    ([name, value]) => typeof value === 'string' && typeof EMPTY_DRAFT[name as keyof NewStream] === 'string',
  );
  const { files, overlays } = stored as { files?: unknown; overlays?: unknown };
  return {
    ...EMPTY_DRAFT,
    ...Object.fromEntries(texts),
    ...(isOverlays(overlays) && { overlays }),
    files: Array.isArray(files) ? files.filter(isDraftFile) : [],
  };
}
