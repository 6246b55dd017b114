/** The sessions that Kubernetes tells of, as what was counted is held against them. Pure: no I/O, no clock. */
import type { LoopStream } from '../../resources/stream/resource.ts';
import { lastNumber } from '../../resources/stream/sessions.ts';
import { accountOf } from '../metering/accounts.ts';
import { tenthsOf } from '../metering/count.ts';
import type { ToldSession } from './store.ts';

/** Of streams that somebody pays for. */
export const toldSessions = (streams: readonly LoopStream[]): ToldSession[] =>
  streams
    .filter((stream) => accountOf(stream) !== undefined)
    .flatMap(({ metadata, status }) =>
      (status?.sessions ?? []).map((session) => ({
        ...{ streamUID: metadata.uid, from: session.number, through: lastNumber(session) },
        tenths: tenthsOf(session.onAirSeconds),
        acknowledged: lastNumber(session) <= (status?.acknowledgedSession ?? 0),
      })),
    );
