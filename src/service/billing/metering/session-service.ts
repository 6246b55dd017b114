/** Reads the sessions of an account's streams. */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Db } from '../../db/pool.ts';
import type { Connection, ListArgs } from '../../lib/list-page.ts';
import { connectAll } from '../../lib/paging/ordered.ts';
import { type PriceList, priceAt } from '../ledger/prices.ts';
import type { StreamSession } from './record.ts';
import { buildHistory, listingOf, type SessionOrder } from './session-history.ts';
import * as store from './store.ts';

/** The list has the latest ones, so that a stream that comes and goes every few seconds costs no more to read. The ledger keeps all. */
export const MAX_HISTORY = 5_000;

export interface SessionServiceDeps {
  db: Db;
  /** Throws `stream_not_found`. */
  findStream: (accountId: string, id: string) => LoopStream;
  /** Of an hour on air; undefined where nothing costs anything. */
  prices: PriceList | undefined;
  clock?: Clock;
}

export type SessionService = ReturnType<typeof createSessionService>;

export function createSessionService({ db, findStream, prices, clock = systemClock }: SessionServiceDeps) {
  const read = async (stream: LoopStream): Promise<StreamSession[]> => {
    const rows = await store.readLatest(db, stream.metadata.uid, MAX_HISTORY);
    const now = clock.now();
    return buildHistory({ stream, rows, creditsPerHour: prices && priceAt(prices, stream.spec, now), now });
  };
  return {
    /** One page, the latest first unless `args` says otherwise. Throws `stream_not_found`. */
    async list(
      accountId: string,
      id: string,
      args: ListArgs<SessionOrder>,
      where?: (session: StreamSession) => boolean,
    ): Promise<Connection<StreamSession>> {
      const stream = findStream(accountId, id);
      return connectAll(listingOf(stream.metadata.uid), await read(stream), args, where);
    },

    /** All of them, the latest first. Throws `stream_not_found`. */
    async all(accountId: string, id: string): Promise<StreamSession[]> {
      const sessions = await read(findStream(accountId, id));
      return sessions.sort((a, b) => b.number - a.number);
    },
  };
}
