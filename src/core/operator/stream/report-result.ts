/** Names what became of the reports of streams' pods. Pure: no I/O, no clock. */

/** `asked`: the operator had to ask the pod for it. `not_leading`: another operator accepts it. */
export const REPORT_RESULTS = [
  'accepted',
  'asked',
  'failed',
  'invalid',
  'not_leading',
  'too_many',
  'unknown_pod',
  'wrong_token',
] as const;
export type ReportResult = (typeof REPORT_RESULTS)[number];
export type PushResult = Exclude<ReportResult, 'asked'>;
