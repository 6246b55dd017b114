/** Words of codes that are both an answer to a request (lib/errors.ts) and inside a response. Pure: no I/O, no clock. */
import type { CodeText } from './code-text.ts';

export const LINK_FORBIDDEN: CodeText = {
  meaning:
    'The link leads where imports are not allowed: to an address that is not public, a port of a system service, or by another protocol than http and https.',
  fix: 'Put the file at a public http or https address, and link to that.',
};

export const MEDIA_TOO_LARGE: CodeText = {
  meaning: 'The file is larger than the limit.',
  fix: 'Reduce its length or bit rate, or cut it into parts and play them as a playlist.',
};

export const DESTINATION_ON_AIR: CodeText = {
  meaning: 'A stream is on air to this destination; a test would publish with the same key and interrupt it.',
  fix: 'Read the live-stats of the stream, which show whether the destination accepts it. To test the destination, stop the stream first.',
};
