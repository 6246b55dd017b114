/** Reads the uptime of streams, and draws their badges. */
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Db } from '../../db/pool.ts';
import { AppError } from '../../lib/errors.ts';
import { type BadgeShow, describeStatus, describeUptime, drawBadge } from './badge.ts';
import { createBadgeTokens } from './badge-token.ts';
import { listAirChanges } from './changes.ts';
import { choosePeriods, computeUptime, type TimeRange, uptimeCsv } from './compute.ts';
import { type AskedRange, lastDays, MAX_DAYS, readRange } from './range.ts';
import { MAX_OUTAGES, type StreamUptime, type UptimeSource } from './record.ts';
import * as store from './store.ts';

/** A stream that flaps all the time has so many changes in three days. The time before those is unknown then. */
const MAX_CHANGES = 20_000;
/** A badge is drawn again after this long: a page that many visit costs no more than one that few do. */
const BADGE_MS = 30_000;
const MAX_BADGES = 1_000;

export interface UptimeServiceDeps {
  db: Db;
  /** Throws `stream_not_found`. */
  findStream: (accountId: string, id: string) => LoopStream;
  /** Loads the namespace of an account whose stream is asked for by its badge. */
  loadAccount: (accountId: string) => Promise<void>;
  /** For the tokens of badges. */
  secret: string;
  publicUrl: string;
  clock?: Clock;
}

/** `by`: undefined for viewers where they are known. */
export interface UptimeAsked extends AskedRange {
  by?: UptimeSource | undefined;
}

interface BadgeAsked {
  show: BadgeShow;
  days: number;
}

export type UptimeService = ReturnType<typeof createUptimeService>;

export function createUptimeService(deps: UptimeServiceDeps) {
  const { db, findStream, loadAccount, secret, publicUrl, clock = systemClock } = deps;
  const tokens = createBadgeTokens(secret);
  const badges = new Map<string, { svg: string; untilMs: number }>();

  /** The resource knows what happened since the last look of the collector. A change that is recorded holds. */
  async function readPeriods(stream: LoopStream, range: TimeRange, by?: UptimeSource) {
    const recorded = await store.readAirChanges(db, stream.metadata.uid, { from: range.from, limit: MAX_CHANGES });
    return choosePeriods([...listAirChanges(stream), ...recorded], range, recorded.length === MAX_CHANGES, by);
  }

  const show = async (stream: LoopStream, range: TimeRange, asked?: UptimeSource): Promise<StreamUptime> => {
    const { by, periods } = await readPeriods(stream, range, asked);
    const { outages, ...uptime } = computeUptime(periods, range, by);
    const badgeUrl = `${publicUrl}/v1/badges/${tokens.build(stream.metadata.uid)}.svg`;
    return { ...uptime, outages: outages.slice(0, MAX_OUTAGES), badgeUrl };
  };

  async function draw(uid: string, asked: BadgeAsked): Promise<string> {
    const range = lastDays(asked.days, clock.now());
    const owner = await store.findRecordedStream(db, uid);
    const { periods } = owner ? await readOwned(uid, owner, range) : { periods: [] };
    const badge =
      asked.show === 'status'
        ? describeStatus(periods.find(({ endedAt }) => endedAt === null)?.state ?? 'unwanted')
        : describeUptime(computeUptime(periods, range), asked.days);
    return drawBadge(badge);
  }

  async function readOwned(uid: string, owner: { accountId: string; streamId: string }, range: TimeRange) {
    await loadAccount(owner.accountId);
    const stream = findStream(owner.accountId, owner.streamId);
    if (stream.metadata.uid !== uid) throw noBadge();
    return readPeriods(stream, range);
  }

  return {
    /** The uptime of a stream, by default of the last 30 days. Throws `stream_not_found` and `validation_failed`. */
    async get(accountId: string, id: string, asked: UptimeAsked): Promise<StreamUptime> {
      return show(findStream(accountId, id), readRange(asked, clock.now()), asked.by);
    },

    /** Each time on air, off air or unknown, as CSV. Throws as `get` does. */
    async csv(accountId: string, id: string, asked: UptimeAsked): Promise<string> {
      const { periods } = await readPeriods(findStream(accountId, id), readRange(asked, clock.now()), asked.by);
      return uptimeCsv(periods);
    },

    /** All that is known of a stream. */
    async everything(accountId: string, id: string): Promise<{ streamID: string } & StreamUptime> {
      return { streamID: id, ...(await show(findStream(accountId, id), lastDays(MAX_DAYS, clock.now()))) };
    },

    /** The image for a token, which needs no credential. Throws `stream_not_found`. */
    async badge(token: string, asked: BadgeAsked): Promise<string> {
      const uid = tokens.read(token);
      if (uid === undefined) throw noBadge();
      const key = `${uid} ${asked.show} ${asked.days}`;
      const now = clock.monotonicMs();
      const drawn = badges.get(key);
      if (drawn && now < drawn.untilMs) return drawn.svg;
      badges.delete(key);
      const svg = await draw(uid, asked);
      const [oldest] = badges.size >= MAX_BADGES ? badges.keys() : [];
      if (oldest !== undefined) badges.delete(oldest);
      badges.set(key, { svg, untilMs: now + BADGE_MS });
      return svg;
    },
  };
}

const noBadge = (): AppError =>
  new AppError('stream_not_found', 'No stream has this badge. Copy the address again from the page of the stream.');
