/** Reads the sessions that Kubernetes reports, to compare them with the counts. Pure: no I/O, no clock. */
import { believeStream } from '../../../core/resources/stream/own-status.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { lastNumber } from '../../../core/resources/stream/sessions.ts';
import { findAccount } from '../metering/accounts.ts';
import { toTenths } from '../metering/session-charges.ts';
import type { ReportedSession } from './store.ts';

/** For streams of paying accounts. */
export const listReportedSessions = (streams: readonly LoopStream[]): ReportedSession[] =>
  streams
    .filter((stream) => findAccount(stream) !== undefined)
    .map(believeStream)
    .flatMap(({ metadata, status }) =>
      (status?.sessions ?? []).map((session) => ({
        streamUID: metadata.uid,
        from: session.number,
        through: lastNumber(session),
        tenths: toTenths(session.onAirSeconds),
        acknowledged: lastNumber(session) <= (status?.acknowledgedSession ?? 0),
      })),
    );
