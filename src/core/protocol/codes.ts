/** Lists the codes by which pods say why something failed, and what a line of their log means. Pure: no I/O, no clock. */

import type { FailureCode } from '../lib/codes/destinations.ts';

export interface Failure {
  code: FailureCode;
  /** The sentence of the code, with the transport's own words if there are any; free of secrets. */
  message: string;
}

/** The field `event` of the log line that says that a destination accepts the stream. */
export const DESTINATION_ACCEPTED = 'destination_accepted';
