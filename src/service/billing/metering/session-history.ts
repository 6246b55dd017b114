/**
 * Computes the history of a stream from the meter's counts and from the sessions that its status still has. Once a session is counted, both
 * say the same. Until then, and while it is on air, the status knows more, and the cost of what it knows is estimated.
 * Pure: no I/O, no clock.
 */

import { findSessionEnd } from '../../../core/lib/codes/streams.ts';
import { formatCsv } from '../../../core/lib/csv.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { lastNumber, type Session } from '../../../core/resources/stream/sessions.ts';
import { type Listing, numberKey } from '../../lib/paging/ordered.ts';
import { findOnAirTenths } from './credit.ts';
import type { StreamSession } from './record.ts';
import { type CountedSession, computeCredits, createUncounted, findTimes, isKnownOf } from './session-charges.ts';

interface HistoryInput {
  stream: LoopStream;
  /** The counts of the stream in the database. */
  rows: readonly CountedSession[];
  /** The present price of an hour of the stream; undefined where streams cost nothing. */
  creditsPerHour: bigint | undefined;
  now: Date;
}

export function buildHistory({ stream, rows, creditsPerHour, now }: HistoryInput): StreamSession[] {
  const sessions = stream.status?.sessions ?? [];
  const show = (counted: CountedSession, isOpen: boolean, uncounted = 0): StreamSession => ({
    number: counted.number,
    startedAt: counted.startedAt.toISOString(),
    endedAt: isOpen ? null : (counted.endedAt ?? counted.until ?? now).toISOString(),
    onAirSeconds: (counted.tenths + uncounted) / 10,
    credits:
      creditsPerHour === undefined
        ? null
        : String(computeCredits(counted.cost + BigInt(uncounted) * creditsPerHour) - counted.writtenOff),
    creditsEstimated: creditsPerHour !== undefined && uncounted > 0,
    end: isOpen ? null : showEnd(counted.endReason),
  });
  const showEntry = (entry: Session): StreamSession[] => {
    const known = rows.filter((row) => isKnownOf(entry, row));
    // It has become one with later sessions since this status was read, and stands in their count.
    if (known.some(({ number }) => number > lastNumber(entry))) return [];
    const last = known.find(({ number }) => number === lastNumber(entry));
    const counted = { ...(last ?? createUncounted(lastNumber(entry))), ...findTimes(entry, known) };
    const before = known.reduce((sum, { tenths }) => sum + tenths, 0);
    return [show(counted, entry.endedAt === undefined, Math.max(0, findOnAirTenths(stream, entry, now) - before))];
  };
  const lasts = new Set(sessions.map(lastNumber));
  return [
    ...sessions.flatMap(showEntry),
    // A session that nobody reports any more is over.
    ...rows.filter(({ number }) => !lasts.has(number)).map((row) => show(row, false)),
  ];
}

function showEnd(reason: string | undefined): StreamSession['end'] {
  const { code, meaning: message, fix } = findSessionEnd(reason);
  return { code, message, fix };
}

export type SessionOrder = 'number';

/** The latest first. `uid`: a stream of the same name may come again, with sessions of its own. */
export const listingOf = (uid: string): Listing<StreamSession, SessionOrder> => ({
  list: `sessions.${uid}`,
  getId: ({ number }) => String(number),
  keys: { number: ({ number }) => numberKey(number) },
  standard: { by: 'number', descending: true },
});

/** RFC 4180, with the names of JSON's fields for a header. Times, numbers and codes need no quotes. */
export function sessionsCsv(sessions: readonly StreamSession[]): string {
  const rows = sessions.map(({ number, startedAt, endedAt, onAirSeconds, credits, creditsEstimated, end }) => [
    number,
    startedAt,
    endedAt ?? '',
    onAirSeconds,
    credits ?? '',
    creditsEstimated,
    end?.code ?? '',
  ]);
  const header = ['number', 'startedAt', 'endedAt', 'onAirSeconds', 'credits', 'creditsEstimated', 'endCode'];
  return formatCsv(header, rows);
}
