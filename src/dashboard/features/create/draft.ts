/**
 * The choices for a stream that is not made yet. The draft is kept in the tab, so that going back, a reload or a session that
 * ends in the middle loses nothing. No secret is in it: the key of a channel is sent where it is entered. Pure: no I/O, no clock.
 */
import type { ChoiceValues } from '../streams/choiceValues.ts';
import { DEFAULTS } from '../streams/fields.ts';

export interface NewStream extends ChoiceValues {
  source: 'link' | 'upload' | 'playlist';
  /** The link that `uploadID` was made from. */
  link: string;
  uploadID: string;
  playlistID: string;
  destinationID: string;
  name: string;
}

export const EMPTY_DRAFT: NewStream = {
  source: 'link',
  link: '',
  uploadID: '',
  playlistID: '',
  destinationID: '',
  name: '',
  ...DEFAULTS,
};

/** Reads a draft that was kept. Fields of another version are left out. */
export function draftFrom(stored: unknown): NewStream {
  if (typeof stored !== 'object' || stored === null) return EMPTY_DRAFT;
  const fields = Object.entries(stored).filter(
    ([name, value]) => typeof value === 'string' && typeof EMPTY_DRAFT[name as keyof NewStream] === 'string',
  );
  return { ...EMPTY_DRAFT, ...Object.fromEntries(fields) };
}
