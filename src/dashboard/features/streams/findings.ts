/**
 * Finds what keeps a stream from its viewers, with the fix of each cause and the act that mends it: for the top of its page. The words
 * are those of `kubectl loop diagnose`. Pure: no I/O, no clock.
 */

import {
  DESTINATION_ERRORS,
  describeRefusal,
  type FailureCode,
  findDestinationFix,
} from '../../../core/lib/codes/destinations.ts';
import { PLATFORM_CODES } from '../../../core/lib/codes/platforms.ts';
import { DIAGNOSES } from '../../../core/lib/codes/streams.ts';
import type { LiveStats, Readiness, Stream } from '../../api/api.ts';
import { makeReadable } from '../../api/readable.ts';
import { isRunning } from './phase.ts';

/** The act that mends a cause, on this page or by a link from it. */
export type Mend = 'editDestination' | 'editStream' | 'replaceMedia' | 'schedule' | 'addCredit' | 'tryAgain';

export interface StreamCause {
  code: string;
  message: string;
  fix: string;
  /** RFC 3339. */
  since?: string | undefined;
  mend?: Mend | undefined;
  /** The destination that it is about, where it is about one. */
  destinationID?: string | undefined;
}

const MENDS: Readonly<Record<string, Mend>> = {
  ...Object.fromEntries(Object.keys(DESTINATION_ERRORS).map((code) => [code, 'editDestination'] as const)),
  ...Object.fromEntries(Object.keys(PLATFORM_CODES).map((code) => [code, 'editDestination'] as const)),
  destination_reconnecting: 'editDestination',
  destination_secret_missing: 'editDestination',
  destination_invalid: 'editDestination',
  destination_not_found: 'editStream',
  playlist_not_found: 'editStream',
  playlist_empty: 'editStream',
  upload_not_found: 'replaceMedia',
  media_failed: 'replaceMedia',
  nothing_playable: 'replaceMedia',
  items_left_out: 'replaceMedia',
  schedule_invalid: 'schedule',
  insufficient_credits: 'addCredit',
  media_awaits_credit: 'addCredit',
  quota_exceeded: 'tryAgain',
  pod_refused: 'tryAgain',
  pod_name_taken: 'tryAgain',
  standby_refused: 'tryAgain',
  program_refused: 'tryAgain',
  write_refused: 'tryAgain',
  unschedulable: 'tryAgain',
  failed: 'tryAgain',
};

const findMend = (code: string): Mend | undefined => (Object.hasOwn(MENDS, code) ? MENDS[code] : undefined);

/** Codes that say the same of an account: media waits for the credit that the stream lacks. */
const SAID_BY: Readonly<Record<string, string>> = { media_awaits_credit: 'insufficient_credits' };

type Seen = Pick<Stream, 'destinationIDs' | 'degraded'>;

/** Without the words of ffmpeg, which stand beside the destination. */
const explainFailure = ({ code, message }: { code: string; message: string }): string =>
  Object.hasOwn(DESTINATION_ERRORS, code) ? DESTINATION_ERRORS[code as FailureCode].meaning : message;

function listRefusals({ degraded }: Seen, stats: LiveStats | undefined): StreamCause[] {
  return (stats?.destinations ?? []).flatMap(({ id, name, connected, lastError }) =>
    connected || !lastError
      ? []
      : [
          {
            code: lastError.code,
            message: makeReadable(describeRefusal(name, explainFailure(lastError))),
            fix: findDestinationFix(lastError.code) ?? degraded?.fix ?? '',
            since: degraded?.since,
            mend: findMend(lastError.code),
            destinationID: id,
          },
        ],
  );
}

/** A destination's own words name the cause better than the sentence that sums them up. */
function listOnAir(stream: Seen, stats: LiveStats | undefined): StreamCause[] {
  const refusals = listRefusals(stream, stats);
  const { degraded } = stream;
  const isSummedUp = degraded?.code === 'destination_reconnecting' && refusals.length > 0;
  return !degraded || isSummedUp ? refusals : [{ ...degraded, mend: findMend(degraded.code) }, ...refusals];
}

const HELD: readonly string[] = ['waiting', 'failed', 'scheduled'];

function listHeld({ degraded }: Seen, phase: string, readiness: Readiness | undefined): StreamCause[] {
  const issues = readiness?.issues ?? [];
  const isSaid = (code: string) => issues.some((one) => one.code === SAID_BY[code]);
  const found: StreamCause[] = issues
    .filter(({ code }) => !isSaid(code))
    .map(({ field: _field, ...issue }) => ({ ...issue, mend: findMend(issue.code) }));
  if (degraded && !found.some(({ code }) => code === degraded.code))
    found.push({ ...degraded, mend: findMend(degraded.code) });
  if (phase !== 'failed' || found.length > 0) return found;
  const { meaning: message, fix } = DIAGNOSES.failed;
  return [{ code: 'failed', message, fix, mend: findMend('failed') }];
}

/** Each cause once, the gravest first. Empty for a stream that is as it should be, and for one that nobody wants on air. */
export function listFindings(
  stream: Seen,
  phase: string,
  { stats, readiness }: { stats: LiveStats | undefined; readiness: Readiness | undefined },
): StreamCause[] {
  const found = isRunning(phase)
    ? listOnAir(stream, stats)
    : HELD.includes(phase)
      ? listHeld(stream, phase, readiness)
      : [];
  const [only, ...others] = stream.destinationIDs;
  return found.map((one) => ({
    ...one,
    destinationID: one.destinationID ?? (others.length === 0 ? only : undefined),
  }));
}

/** Whether no destination receives a stream that runs; undefined while nobody can say. */
export function reachesNobody(phase: string, stats: LiveStats | undefined): boolean {
  const destinations = stats?.destinations ?? [];
  if (destinations.length === 0) return phase === 'reconnecting';
  return isRunning(phase) && destinations.every(({ connected }) => !connected);
}
