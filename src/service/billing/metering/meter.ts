/**
 * Counts the time on air of streams and charges it, exactly once. The count of a session and its charge are one
 * transaction of the database. Only then the session is acknowledged in Kubernetes. So a meter killed in between leaves
 * either nothing done or the acknowledgement to do. Two meters of the same streams wait for each other in the database,
 * and the second one finds nothing left to count.
 */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { forEachConcurrently } from '../../../core/lib/pool.ts';
import { believeStream } from '../../../core/resources/stream/own-status.ts';
import { formatProfile } from '../../../core/resources/stream/profile.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { lastNumber } from '../../../core/resources/stream/sessions.ts';
import type { Db } from '../../db/pool.ts';
import type { Charge, Ledger } from '../ledger/ledger.ts';
import { type PriceList, priceAt } from '../ledger/prices.ts';
import { findAccount } from './accounts.ts';
import {
  type CountedSession,
  countEntry,
  findPrice,
  formatSeconds,
  isKnownOf,
  type Played,
  type Posting,
  signSessions,
  toTenths,
} from './session-charges.ts';
import * as store from './store.ts';

/** Streams in one transaction: enough to be quick, few enough to block others only briefly. */
const BATCH = 250;
/** Transactions at once: the work is the database's, each of whose connections has one processor at most. */
const AT_ONCE = 2;

export interface Meter {
  /** Counts the sessions of these streams. Concurrent counts of another process are awaited and left alone. */
  count(streams: readonly LoopStream[], signal: AbortSignal): Promise<void>;
  /** Whether all sessions in this object of the stream are counted. */
  isCounted(stream: LoopStream): boolean;
  /** Reported seconds that are not known to be counted. */
  uncountedSeconds(streams: readonly LoopStream[]): number;
}

/** The counts and charges of one transaction. */
export interface CountedSum {
  seconds: number;
  charged: bigint;
  writtenOff: bigint;
}

export interface MeterDeps {
  db: Db;
  ledger: Ledger;
  prices: PriceList;
  /** How long streams stay on air after the credit was used up, and all streams of an account: what they use then is owed. */
  grace?: { seconds: number; ofAccount: (accountId: string) => readonly LoopStream[] };
  /** Receives what was counted. */
  onCounted?: (what: CountedSum) => void;
  clock?: Clock;
}

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);
const listSessions = (stream: LoopStream) => believeStream(stream).status?.sessions ?? [];
const sumReportedTenths = (stream: LoopStream): number =>
  total(listSessions(stream), (one) => toTenths(one.onAirSeconds));

export function createMeter({ db, ledger, prices, grace, onCounted, clock = systemClock }: MeterDeps): Meter {
  /** The last counted sessions of each stream, by its UID. */
  const counted = new Map<string, { book: string; tenths: number }>();

  const isCounted = (stream: LoopStream): boolean => {
    const sessions = listSessions(stream);
    return sessions.length === 0 || counted.get(stream.metadata.uid)?.book === signSessions(sessions);
  };

  const uncounted = (streams: readonly LoopStream[]): LoopStream[] =>
    streams.filter((stream) => findAccount(stream) !== undefined && !isCounted(stream));

  const remember = (stream: LoopStream): void => {
    counted.set(stream.metadata.uid, { book: signSessions(listSessions(stream)), tenths: sumReportedTenths(stream) });
  };

  async function countBatch(streams: readonly LoopStream[]): Promise<void> {
    const played = await store.readPlayed(
      db,
      streams.map(({ metadata }) => metadata.uid),
    );
    const sum = await db.transaction().execute(async (trx) => {
      await store.holdStreams(trx, streams.map(locate));
      const rows = await store.readCounted(trx, streams.flatMap(listRanges));
      const known = Map.groupBy(rows, ({ streamUID }) => streamUID);
      const done = streams.map((stream) => {
        const { uid } = stream.metadata;
        return { stream, postings: buildPostings(stream, known.get(uid) ?? [], played.get(uid) ?? []) };
      });
      const due = done.flatMap(({ stream, postings }) =>
        postings.map((posting) => ({ stream, posting, charges: buildCharges(stream, posting, prices) })),
      );
      if (due.length === 0) return undefined;
      const charges = due.flatMap((one) => one.charges);
      const floors = await readFloors(trx, charges);
      const booked = await ledger.chargeAll(
        charges.map((charge) => ({ ...charge, floor: floors.get(charge.accountId) })),
        { trx },
      );
      let first = 0;
      const changed = due.map(({ stream, posting: { counted: now }, charges: { length } }) => {
        const writtenOff = booked
          .slice(first, first + length)
          .reduce((sum, one) => sum + one.writtenOff, now.writtenOff);
        first += length;
        return { streamUID: stream.metadata.uid, ...now, writtenOff };
      });
      await store.writeCounted(trx, changed);
      const before = new Map(rows.map((row) => [`${row.streamUID} ${row.number}`, row.tenths]));
      return {
        seconds: total(changed, (row) => row.tenths - (before.get(`${row.streamUID} ${row.number}`) ?? 0)) / 10,
        charged: booked.reduce((all, { charged }) => all + charged, 0n),
        writtenOff: booked.reduce((all, { writtenOff }) => all + writtenOff, 0n),
      };
    });
    if (sum) onCounted?.(sum);
    for (const stream of streams) remember(stream);
  }

  /** Returns the debt allowed for each account in grace. Time beyond that is our loss. */
  async function readFloors(trx: Db, charges: readonly Charge[]): Promise<Map<string, bigint>> {
    const { seconds, ofAccount } = grace ?? { seconds: 0, ofAccount: () => [] };
    if (seconds === 0) return new Map();
    const accountIds = [...new Set(charges.map(({ accountId }) => accountId))];
    const credits = await store.readCredit(trx, accountIds);
    const now = clock.now();
    const perHour = (accountId: string) =>
      ofAccount(accountId).reduce((sum, { spec }) => sum + priceAt(prices, spec, now), 0n);
    return new Map(
      accountIds.map((id) => [id, (credits.get(id)?.floor ?? 0n) - (perHour(id) * BigInt(seconds)) / 3600n]),
    );
  }

  function buildPostings(stream: LoopStream, rows: readonly CountedSession[], played: readonly Played[]): Posting[] {
    const fallback = formatProfile(stream.spec.quality, stream.spec.framerate);
    const now = clock.now();
    return listSessions(stream).flatMap((entry) => {
      const known = rows.filter((row) => isKnownOf(entry, row));
      return countEntry({ entry, known, played, fallback, prices, now }) ?? [];
    });
  }

  return {
    isCounted,
    async count(streams, signal) {
      // All transactions lock balances in the same order, so that none deadlock and few wait for one another.
      const left = uncounted(streams).sort((a, b) => compare(findAccount(a) ?? '', findAccount(b) ?? ''));
      const batches = Array.from({ length: Math.ceil(left.length / BATCH) }, (_, i) =>
        left.slice(i * BATCH, (i + 1) * BATCH),
      );
      await forEachConcurrently(batches, countBatch, signal, AT_ONCE);
    },
    uncountedSeconds(streams) {
      const known = new Set(streams.map(({ metadata }) => metadata.uid));
      for (const uid of counted.keys()) if (!known.has(uid)) counted.delete(uid);
      const left = uncounted(streams);
      const tenths = (stream: LoopStream) =>
        sumReportedTenths(stream) - (counted.get(stream.metadata.uid)?.tenths ?? 0);
      return total(left, (stream) => Math.max(0, tenths(stream))) / 10;
    },
  };
}

const total = <T>(items: readonly T[], read: (item: T) => number): number =>
  items.reduce((sum, item) => sum + read(item), 0);

const locate = (stream: LoopStream) => ({
  streamUID: stream.metadata.uid,
  streamID: stream.metadata.name,
  accountId: findAccount(stream) ?? '',
});

const listRanges = (stream: LoopStream): store.Range[] =>
  listSessions(stream).map((entry) => ({
    streamUID: stream.metadata.uid,
    from: entry.number,
    through: lastNumber(entry),
  }));

function buildCharges(stream: LoopStream, { counted, charges }: Posting, prices: PriceList): Charge[] {
  const { uid, name: streamID } = stream.metadata;
  // Current values: an invoice shows them when the stream may be gone and the price another one.
  const { displayName: streamName = streamID } = stream.spec;
  return charges.map(({ n, credits, tenths, profile, from, to }) => ({
    key: `charge:${uid}:${counted.number}:${n}`,
    accountId: findAccount(stream) ?? '',
    credits,
    // Its last moment: what ended at midnight was of the day before.
    at: new Date(to.getTime() - 1),
    details: {
      streamID,
      session: String(counted.number),
      seconds: formatSeconds(tenths),
      profile,
      streamName,
      creditsPerHour: String(findPrice(prices, profile, from.getTime())),
      from: from.toISOString(),
      to: to.toISOString(),
    },
  }));
}
