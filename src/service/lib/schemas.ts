/** Defines the schemas that records of several nouns share. Pure: no I/O, no clock. */
import { type TSchema, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../core/lib/sentences.ts';

/** Display names contain no control characters, which would garble lists and logs. */
export const DisplayName = Type.String({ minLength: 1, maxLength: 200, pattern: DISPLAY_NAME_PATTERN });

export const Time = Type.String({ format: 'date-time' });

export const nullable = <T extends TSchema>(type: T, description?: string) =>
  Type.Union([type, Type.Null()], description === undefined ? {} : { description });
