/** Estimates the credit of accounts from the database and the streams: for billing, and for the API to show. */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { lastNumber } from '../../../core/resources/stream/sessions.ts';
import type { Db } from '../../db/pool.ts';
import type { PriceList } from '../ledger/prices.ts';
import { type Credit, type Estimate, estimateCredit, sumUncharged } from './credit.ts';
import * as store from './store.ts';

export interface AccountCredit {
  credit: Credit;
  estimate: Estimate;
}

export type Estimates = ReturnType<typeof createEstimates>;

export function createEstimates({ db, prices, clock = systemClock }: { db: Db; prices: PriceList; clock?: Clock }) {
  /** By the id of each account; `streams` are all that it has. Rejects with the database's error. */
  const estimates = async (
    streams: ReadonlyMap<string, readonly LoopStream[]>,
  ): Promise<Map<string, AccountCredit>> => {
    const sessions = [...streams.values()].flat().flatMap((stream) =>
      // Acknowledged time is counted, and a stream off air has no other.
      (stream.status?.sessions ?? [])
        .filter((session) => lastNumber(session) > (stream.status?.acknowledgedSession ?? 0))
        .map((session) => ({
          streamUID: stream.metadata.uid,
          from: session.number,
          through: lastNumber(session),
        })),
    );
    // Before what is counted: what is charged in between is then left out for a moment, and never taken twice.
    const credits = await store.readCredit(db, [...streams.keys()]);
    const rows = sessions.length > 0 ? await store.readCounted(db, sessions) : [];
    const known = Map.groupBy(rows, ({ streamUID }) => streamUID);
    const now = clock.now();
    const found = new Map<string, AccountCredit>();
    for (const [accountId, owned] of streams) {
      const credit = credits.get(accountId) as Credit;
      const used = owned.map((stream) => ({
        stream,
        uncharged: sumUncharged(stream, known.get(stream.metadata.uid) ?? [], now),
      }));
      found.set(accountId, { credit, estimate: estimateCredit(credit, used, prices, now) });
    }
    return found;
  };
  return {
    estimates,
    /** How long the credit of an account lasts; `streams` are all that it has. */
    get: async (accountId: string, streams: readonly LoopStream[]): Promise<Estimate> =>
      ((await estimates(new Map([[accountId, streams]]))).get(accountId) as AccountCredit).estimate,
  };
}
