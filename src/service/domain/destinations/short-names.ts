/**
 * Reads `url` and `key`, the shorter names of `rtmpUrl` and `rtmpKey`. All code behind it knows the long ones alone, by which logs and
 * errors hide the key. Pure: no I/O, no clock.
 */
import type { DestinationField } from '../../../core/resources/destination/read.ts';
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import type { DestinationUpdate } from './record.ts';

const LONG = { url: 'rtmpUrl', key: 'rtmpKey' } as const;
type Short = keyof typeof LONG;

const SHORT = Object.keys(LONG) as Short[];

/** A request without the short names. */
export type LongNames<Input> = Omit<Input, Short>;

/** Throws `validation_failed` where both names of a field are given and differ. */
export function readNames<Input extends DestinationUpdate>(given: Input): LongNames<Input> {
  const { url, key, ...others } = given;
  const errors = SHORT.filter((short) => {
    const [one, other] = [given[short], given[LONG[short]]];
    return one !== undefined && other !== undefined && one !== other;
  }).map(
    (short): FieldError => ({
      path: `/${short}`,
      message: `differs from ${LONG[short]}, which is the same field; give one of the two`,
    }),
  );
  if (errors.length > 0) throw validationFailed(errors);
  return { ...others, ...(url !== undefined && { rtmpUrl: url }), ...(key !== undefined && { rtmpKey: key }) };
}

/** Returns a function that calls a field as the request does. */
export const callFields =
  (given: DestinationUpdate) =>
  (field: DestinationField): string =>
    (given[field] === undefined && SHORT.find((name) => LONG[name] === field && given[name] !== undefined)) || field;
