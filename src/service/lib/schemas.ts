/** Defines the schemas that records of several nouns share. Pure: no I/O, no clock. */
import { type TSchema, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../core/lib/sentences.ts';

/** Display names contain no control characters, which would garble lists and logs. */
export const DisplayName = Type.String({ minLength: 1, maxLength: 200, pattern: DISPLAY_NAME_PATTERN });

export const Time = Type.String({ format: 'date-time' });

export const nullable = <T extends TSchema>(type: T, description?: string) =>
  Type.Union([type, Type.Null()], description === undefined ? {} : { description });

/** Fields beside a changed record: what viewers see of the change. */
export const EFFECT = {
  takesOffAir: Type.Boolean({
    description:
      'True if the change ends what viewers see now: a stream on air goes off air, or leaves all destinations that receive it.',
  }),
  effect: Type.String({ description: 'The effect on viewers, as a sentence.' }),
  dryRun: Type.Boolean({ description: 'True if this was a dry run, which changed nothing.' }),
};
