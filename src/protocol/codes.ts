/** Lists the codes by which pods say why something failed, and what a line of their log means. Pure: no I/O, no clock. */

/** Failures of a destination: code → the sentence for people. */
export const FAILURES = {
  not_configured: 'The destination has no usable URL yet.',
  // One sentence covers unknown names and names of forbidden addresses (resolve.ts).
  dns_failed: 'The destination’s host name could not be resolved to an address that streams may be sent to.',
  connection_refused: 'The destination refuses connections.',
  unreachable: 'The destination cannot be reached.',
  connect_timeout: 'The destination did not accept the stream in time.',
  tls_failed: 'The secure connection failed: the certificate may not be valid for this host.',
  key_in_use: 'The destination says that the key is in use: something else is publishing with it.',
  login_required: 'The destination requires a user name and password.',
  login_refused: 'The destination refused the user name or the password.',
  publish_rejected: 'The destination rejected the stream: the key may be wrong.',
  stalled: 'The destination stopped accepting media.',
  reset: 'The destination closed the connection.',
  killed: 'The ffmpeg process of the output was killed.',
  hung: 'The ffmpeg process of the output did not exit in time, and was killed.',
  exited: 'The ffmpeg process of the output exited.',
} as const;
export type FailureCode = keyof typeof FAILURES;

export interface Failure {
  code: FailureCode;
  /** The sentence of the code, with the transport's own words if there are any; free of secrets. */
  message: string;
}

/** The field `event` of the log line that says that a destination accepts the stream. */
export const DESTINATION_ACCEPTED = 'destination_accepted';
