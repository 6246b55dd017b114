/** Finds the advice that the API gives on a code, so that the plugin gives the same. Pure: no I/O, no clock. */
import { STATE_CODES } from '../../protocol/state-codes.ts';

/** Where the table has a code, as it writes the place. */
const PLACES = {
  upload: 'error.code` of an upload',
  destination: 'lastError.code` of a destination',
  degraded: '`degraded` of a stream',
} as const;

/** Undefined for a code without advice. */
export const findAdvice = (code: string | undefined, place: keyof typeof PLACES): string | undefined =>
  STATE_CODES.find((state) => state.code === code && state.place.includes(PLACES[place]))?.fix;
