/**
 * Joins the codes that appear inside resources and responses to one list: where each appears, what it means and what to do. A code may
 * appear in several places. Codes of requests are in lib/errors.ts. Pure: no I/O, no clock.
 */
import type { CodeText } from './code-text.ts';
import { DELIVERY_ERRORS } from './deliveries.ts';
import { DESTINATION_ERRORS, TEST_REFUSALS } from './destinations.ts';
import { EXPLANATIONS, isExplanation } from './explanations.ts';
import { PLATFORM_DOUBTS, PLATFORM_FAULTS, PLATFORM_WARNINGS } from './platforms.ts';
import {
  DEGRADATIONS,
  DIAGNOSES,
  DROPPED_RULES,
  ITEM_ERRORS,
  READINESS_ISSUES,
  REFUSED_CHANGES,
  SESSION_ENDS,
  UNKNOWN_END,
  UNKNOWN_ISSUES,
} from './streams.ts';
import { UPLOAD_ERRORS, UPLOAD_WARNINGS } from './uploads.ts';
import { PLATFORM_ISSUES } from './youtube-issues.ts';

/** The fields that have codes. Readers of the field see the code. */
export const PLACES = {
  uploadError: '`error.code` of an upload',
  uploadWarning: '`code` in `warnings` of an upload',
  readiness: '`code` of an issue in a stream’s readiness',
  leftOut: '`code` of a warning in a stream’s readiness',
  brokenItem: '`code` in `brokenItems` of a stream’s live-stats',
  degraded: '`code` of `degraded` of a stream',
  diagnosis: '`code` of a finding of the tool `diagnose_stream`',
  destination: '`lastError.code` of a destination in a stream’s live-stats',
  test: '`code` of a test of a destination',
  delivery: '`lastAnswer.code` of a delivery to an endpoint',
  ruleDropped: '`data.code` of an event `insert.dropped`',
  sessionEnd: '`end.code` of a session of a stream',
  platformLive: '`platformLive.code` of a destination',
  explanation: '`code` of an explanation of a stream',
  platformIssue: '`code` of an issue in `platformLive` of a destination',
} as const;
export type CodePlace = keyof typeof PLACES;

export interface ListedCode extends CodeText {
  code: string;
  places: readonly CodePlace[];
}

const byCode = (texts: Readonly<Record<string, CodeText>>, ...places: CodePlace[]): ListedCode[] =>
  Object.entries(texts).map(([code, { meaning, fix }]) => ({ code, meaning, fix, places }));

const byReason = (
  texts: Readonly<Record<string, CodeText & { code: string }>>,
  findPlaces: (code: string) => CodePlace[],
): ListedCode[] =>
  Object.values(texts).map(({ code, meaning, fix }) => ({ code, meaning, fix, places: findPlaces(code) }));

/** Issues of a stream that is to be on air, or is: Kubernetes refuses its pod, or media fails before its end. */
const ALSO_DEGRADED: ReadonlySet<string> = new Set(['pod_refused', 'quota_exceeded', 'media_failed']);

const withExplanation = (code: string, places: CodePlace[]): CodePlace[] =>
  isExplanation(code) ? [...places, 'explanation'] : places;

export const CODES: readonly ListedCode[] = [
  ...byCode(UPLOAD_ERRORS, 'uploadError'),
  ...byCode(UPLOAD_WARNINGS, 'uploadWarning'),
  ...byReason(READINESS_ISSUES, (code) =>
    withExplanation(code, ALSO_DEGRADED.has(code) ? ['readiness', 'degraded'] : ['readiness']),
  ),
  ...byReason(UNKNOWN_ISSUES, () => ['readiness']),
  ...byReason(REFUSED_CHANGES, () => ['degraded']),
  ...byReason(DEGRADATIONS, (code) => (code === 'items_left_out' ? ['leftOut', 'degraded'] : ['degraded'])),
  ...byCode(DIAGNOSES, 'diagnosis'),
  ...byCode(ITEM_ERRORS, 'leftOut', 'brokenItem'),
  ...byCode(DESTINATION_ERRORS, 'destination', 'test'),
  ...byCode(TEST_REFUSALS, 'test'),
  ...byCode(DELIVERY_ERRORS, 'delivery'),
  ...byReason(DROPPED_RULES, (code) => withExplanation(code, ['ruleDropped'])),
  ...byCode(EXPLANATIONS, 'explanation'),
  ...byReason({ ...SESSION_ENDS, UNKNOWN_END }, () => ['sessionEnd']),
  ...byCode({ ...PLATFORM_FAULTS, ...PLATFORM_WARNINGS }, 'platformLive', 'degraded'),
  ...byCode(PLATFORM_DOUBTS, 'platformLive'),
  ...byCode(Object.fromEntries(PLATFORM_ISSUES), 'platformIssue'),
];

/** The fix for a code in this place; undefined for one that is newer than this table. */
export const findFix = (code: string | undefined, place: CodePlace): string | undefined =>
  CODES.find((one) => one.code === code && one.places.includes(place))?.fix;
