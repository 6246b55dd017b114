/** Reads and compares the fields of a stream that are a choice of one among a few. Pure: no I/O, no clock. */
import type { Stream } from '../../api/api.ts';
import { CHOICES } from './fields.ts';

export type ChoiceField = keyof typeof CHOICES;
export type ChoiceValues = Pick<Stream, ChoiceField>;

export const CHOICE_FIELDS = Object.keys(CHOICES) as ChoiceField[];

export const pickChoices = (values: ChoiceValues): ChoiceValues => pick(values, CHOICE_FIELDS) as ChoiceValues;

/** The choices that are not as they were. */
export const findChangedChoices = (before: ChoiceValues, after: ChoiceValues): Partial<ChoiceValues> =>
  pick(
    after,
    CHOICE_FIELDS.filter((field) => after[field] !== before[field]),
  );

const pick = (values: ChoiceValues, fields: readonly ChoiceField[]): Partial<ChoiceValues> =>
  Object.fromEntries(fields.map((field) => [field, values[field]]));
