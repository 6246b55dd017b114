/**
 * Reads `url` and `key`, the shorter names of `rtmpUrl` and `rtmpKey`. All code behind it knows the long ones alone, by which logs and
 * errors hide the key. Pure: no I/O, no clock.
 */

import { tidyUrl } from '../../../core/lib/pasted.ts';
import type { DestinationField } from '../../../core/resources/destination/read.ts';
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import type { DestinationUpdate } from './record.ts';

const LONG = { url: 'rtmpUrl', key: 'rtmpKey' } as const;
type Short = keyof typeof LONG;

const SHORT = Object.keys(LONG) as Short[];

/** A request without the short names. */
export type LongNames<Input> = Omit<Input, Short>;

/** Leaves out the URL that is sent back as it was shown, where the other name of the field has a new one. */
function dropShown<Input extends DestinationUpdate>(given: Input, shown: string | undefined): Input {
  const { url, rtmpUrl } = given;
  if (shown === undefined || url === undefined || rtmpUrl === undefined || url === rtmpUrl) return given;
  if (tidyUrl(url) === shown) return { ...given, url: undefined };
  return tidyUrl(rtmpUrl) === shown ? { ...given, rtmpUrl: undefined } : given;
}

/**
 * Throws `validation_failed` where both names of a field are given and differ. `shown` is the URL of a destination that is changed: a
 * client that sends a record back changes one of the two.
 */
export function readNames<Input extends DestinationUpdate>(asked: Input, shown?: string): LongNames<Input> {
  const given = dropShown(asked, shown);
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
