/** Defines the enums and objects in the inputs of streams. */
import { PUBLIC_FRAMERATES, PUBLIC_QUALITIES, StreamSchedule } from '../../domain/streams/record.ts';
import { ITEM_FAILURES, STARTS } from '../../resources/stream/spec.ts';
import { inputType } from './input.ts';
import { enumType } from './scalars.ts';

export const Quality = enumType('StreamQuality', PUBLIC_QUALITIES, 'Height of the picture.');
export const Framerate = enumType('StreamFramerate', PUBLIC_FRAMERATES, 'Frame rate in frames per second.');
export const ItemFailure = enumType(
  'ItemFailurePolicy',
  ITEM_FAILURES,
  'Skip: items that cannot be played are left out until they can. Block: the stream starts only when every item ' +
    'can be played.',
);
export const StartPolicy = enumType(
  'StreamStartPolicy',
  STARTS,
  'Progressive: media is played while the rest of it is being prepared. Prepared: media is played only when all of it ' +
    'is prepared.',
);
const Track = enumType('StreamTrack', ['video', 'audio']);

/** Input types of streams by the names of their properties. */
export const STREAM_INPUTS = {
  track: Track,
  quality: Quality,
  framerate: Framerate,
  onItemFailure: ItemFailure,
  start: StartPolicy,
  recurrence: inputType('RecurrenceInput', StreamSchedule.properties.recurrence),
};
