/** The way to a stream, step by step. Pure: no I/O, no clock. */
import type { StreamCreate } from '../../../service/client/index.ts';
import { CHOICE_FIELDS, type ChoiceField, pickChoices } from '../streams/choiceValues.ts';
import type { NewStream } from './draft.ts';

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
}

/** Anything else in the address is left out: people type there. */
export function parseCreateSearch({ step, stream }: Record<string, unknown>): CreateSearch {
  return {
    ...(STEPS.includes(step as CreateStep) && { step: step as CreateStep }),
    ...(typeof stream === 'string' && stream !== '' && { stream: stream.slice(0, 253) }),
  };
}

export const hasMedia = ({ source, uploadID, playlistID }: NewStream): boolean =>
  source === 'playlist' ? playlistID !== '' : uploadID !== '';

/** The furthest step that can be at: nobody names a stream that has nothing to play. */
export function limitStep(asked: CreateStep | undefined, draft: NewStream): CreateStep {
  if (!hasMedia(draft) || asked === undefined || asked === 'media') return 'media';
  return draft.destinationID === '' || asked === 'destination' ? 'destination' : 'stream';
}

/** `Night fireplace` for `night_fireplace.mp4`. */
export function nameFrom(file: string): string {
  const words = file
    .replace(/\.[A-Za-z0-9]{2,4}$/, '')
    .replace(/[_-]+/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A stream of one video has no other items to go on with. */
export const listAskedChoices = ({ source }: Pick<NewStream, 'source'>): ChoiceField[] =>
  source === 'playlist' ? CHOICE_FIELDS : CHOICE_FIELDS.filter((field) => field !== 'onItemFailure');

export function buildBody(draft: NewStream): StreamCreate {
  const { name, destinationID, source, uploadID, playlistID } = draft;
  const { onItemFailure, ...choices } = pickChoices(draft);
  const media =
    source === 'playlist' ? { playlistIDs: [playlistID], onItemFailure } : { videoUploadObjectID: uploadID };
  return { name: name.trim(), ...choices, destinationIDs: [destinationID], ...media };
}
