/** Lists the codes of destinations: why one does not accept a stream, or was not tested. Pure: no I/O, no clock. */
import type { CodeText } from './code-text.ts';
import { DESTINATION_ON_AIR } from './shared.ts';

/** Why a destination does not accept a stream. */
export const DESTINATION_ERRORS = {
  not_configured: {
    meaning: 'The destination has no usable URL yet.',
    fix: 'Give the destination the URL and the key that the platform shows.',
  },
  // One sentence covers unknown names and names of forbidden addresses.
  dns_failed: {
    meaning: 'The destination’s host name could not be resolved to an address that streams may be sent to.',
    fix: 'Compare the host name in the URL of the destination with the one that the platform shows.',
  },
  connection_refused: {
    meaning: 'The destination refuses connections.',
    fix: 'Compare host and port in the URL of the destination with those that the platform shows. The platform may also be down.',
  },
  unreachable: {
    meaning: 'The destination cannot be reached.',
    fix: 'Compare host and port in the URL of the destination with those that the platform shows, and check for a firewall in between.',
  },
  connect_timeout: {
    meaning: 'The destination did not accept the stream in time.',
    fix: 'Check whether the platform is up; the stream retries automatically.',
  },
  tls_failed: {
    meaning: 'The secure connection failed: the certificate may not be valid for this host.',
    fix: 'Use the host name in the certificate of the platform, or `rtmp://` if the platform offers no TLS.',
  },
  key_in_use: {
    meaning: 'The destination says that the key is in use: something else is publishing with it.',
    fix: 'Stop the other publisher with this key, or use another key.',
  },
  key_twice: {
    meaning:
      'Another destination of the stream sends to the same address with the same key, and a server takes one publisher of a key.',
    fix: 'Give the destination the backup address or another key that the platform shows, or take it off the stream.',
  },
  login_required: {
    meaning: 'The destination requires a user name and password.',
    fix: 'Set rtmpUser and rtmpPassword to the user name and password of the server.',
  },
  login_refused: {
    meaning: 'The destination refused the user name or the password.',
    fix: 'Enter the user name and password again, and ask the owner of the server whether they are still valid.',
  },
  publish_rejected: {
    meaning: 'The destination rejected the stream: the key may be wrong.',
    fix: 'Copy the key from the platform again, and check whether the platform expects a stream now.',
  },
  stalled: {
    meaning: 'The destination stopped accepting media.',
    fix: 'Check whether the platform is up, and whether it accepts the quality of the stream.',
  },
  reset: {
    meaning: 'The destination closed the connection.',
    fix: 'Check the status page of the platform: the stream may exceed its limits, or the platform may expect no stream now.',
  },
  killed: {
    meaning: 'The ffmpeg process of the output was killed.',
    fix: 'Do nothing if it happened once: the stream reconnects automatically. If it happens again, the stream may need more memory.',
  },
  hung: {
    meaning: 'The ffmpeg process of the output did not exit in time, and was killed.',
    fix: 'Do nothing: the stream reconnects automatically.',
  },
  exited: {
    meaning: 'The ffmpeg process of the output exited.',
    fix: 'Do nothing if it happened once: the stream reconnects automatically. If it happens again, read the message.',
  },
} as const satisfies Record<string, CodeText>;
export type FailureCode = keyof typeof DESTINATION_ERRORS;

/** Says that a destination does not accept a stream. `message` is the sentence of its failure; the code stands beside it, never in it. */
export const describeRefusal = (name: string, message: string): string =>
  `Destination "${name}" does not accept the stream. ${message}`;

/** Why a destination was not tested. */
export const TEST_REFUSALS = {
  on_air: DESTINATION_ON_AIR,
  not_run: {
    meaning: 'The test did not run.',
    fix: 'Remove the cause in the message, and request the test again.',
  },
} as const satisfies Record<string, CodeText>;

const FIXES = new Map<string, string>(
  Object.entries({ ...DESTINATION_ERRORS, ...TEST_REFUSALS }).map(([code, { fix }]) => [code, fix]),
);

/** The fix for a code of a destination or of its test; undefined for one that is newer than these tables. A page loads no others for it. */
export const findDestinationFix = (code: string | null | undefined): string | undefined => FIXES.get(code ?? '');
