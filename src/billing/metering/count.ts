/**
 * From the book of a stream's sessions (streams/sessions.ts) to what is charged: what the book has of a session beyond what
 * is counted of it already, in tenths of a second as the book has them, never more than were on air. Looked at again, or by two
 * at once, the same book gives the same charges, once: what is counted is the caller's to keep in one transaction with what is
 * charged.
 *
 * A price holds at its time. Of the seconds that a session has had since it was last counted it is not known when each of
 * them was: they are taken to lie evenly between then and its end (or now, while it is open), and are divided by the times at
 * which the price or the profile changed. They are also divided where a day begins anywhere on earth, so that each charge is of
 * one day, whatever zone somebody asks for or is sent an invoice in. Pure: no I/O, no clock.
 */

import type { Profile } from '../../resources/stream/profile.ts';
import { lastNumber, type Session } from '../../resources/stream/sessions.ts';
import { midnightsBetween } from '../ledger/days.ts';
import type { PriceList } from '../ledger/prices.ts';

/** What is counted of a session, as the database keeps it, by the session's number. */
export interface Counted {
  number: number;
  /** Time on air, in tenths of a second. */
  tenths: number;
  /** The sum of tenths × credits per hour: a 36,000th of it, rounded down, is charged. */
  cost: bigint;
  credits: bigint;
  /** Those that stand in a charge; those that have not cost a whole credit yet wait for the next one. */
  chargedTenths: number;
  /** How many charges it has had: the number of the next one's key. */
  charges: number;
  /** Up to when it was counted. */
  until: Date | undefined;
}

/** Since when a pod of the stream has played in a profile, the earliest first. */
export interface Played {
  podUID: string;
  since: Date;
  profile: Profile;
}

/** For ever the same, and never twice: a part of a session that is charged at one price. */
export interface SessionCharge {
  /** 1, 2, … within the session. */
  n: number;
  /** More than 0. */
  credits: bigint;
  tenths: number;
  profile: Profile;
  from: Date;
  /** When what it stands for ended. */
  to: Date;
}

export interface Posting {
  /** As it is after these charges. */
  counted: Counted;
  charges: SessionCharge[];
}

export interface Given {
  entry: Session;
  /** Of all sessions that the entry stands for, those that are counted, in whatever part. */
  known: readonly Counted[];
  played: readonly Played[];
  /** What it is taken to have been on air in where nobody has seen it. */
  fallback: Profile;
  prices: PriceList;
  now: Date;
}

const TENTHS_PER_HOUR = 36_000n;

/** Of seconds, as books have them: a digit behind the point, which is not exact in a float. */
export const tenthsOf = (seconds: number): number => Math.floor(seconds * 10 + 1e-6);
/** As a decimal number. */
export const secondsText = (tenths: number): string => String(tenths / 10);
/** Nobody counts later than this but by a clock that is wrong: of which day it was is not known then. */
const LONGEST_MS = 31 * 86_400_000;

export const notCounted = (number: number): Counted => ({
  ...{ number, tenths: 0, cost: 0n, credits: 0n, chargedTenths: 0, charges: 0, until: undefined },
});

interface Piece {
  profile: Profile;
  creditsPerHour: bigint;
  from: number;
  to: number;
  tenths: number;
}

/** At a time in milliseconds. */
export const priceOf = (prices: PriceList, profile: Profile, at: number): bigint =>
  prices.get(profile)?.findLast(({ from }) => from <= at)?.creditsPerHour ?? 0n;

/** What has been seen of the session's pod; of the whole stream, where a session stands for several or nobody saw the pod. */
function seenOf({ entry, played }: Given): readonly Played[] {
  const own = entry.through === undefined ? played.filter(({ podUID }) => podUID === entry.podUID) : [];
  return own.length > 0 ? own : played;
}

/** The interval cut where the profile, the price or a day changes, with the seconds divided in proportion, none lost. */
function piecesOf(given: Given, tenths: number, from: number, to: number): Piece[] {
  const { fallback, prices } = given;
  const seen = seenOf(given);
  // Before it was seen for the first time it played what it was seen with then.
  const profileAt = (at: number) =>
    (seen.findLast(({ since }) => since.getTime() <= at) ?? seen[0])?.profile ?? fallback;
  const profiles = new Set([...seen.map(({ profile }) => profile), fallback]);
  const changes = [
    ...seen.map(({ since }) => since.getTime()),
    ...[...profiles].flatMap((profile) => (prices.get(profile) ?? []).map((price) => price.from)),
  ];
  const midnights = new Set(to - from > LONGEST_MS ? [] : midnightsBetween(from, to));
  const cuts = new Set([...midnights, ...changes.filter((at) => at > from && at < to)].sort((a, b) => a - b));
  const pieces: Piece[] = [];
  let done = 0;
  let begin = from;
  for (const end of [...cuts, to]) {
    const upTo = end === to ? tenths : Math.floor((tenths * (end - from)) / (to - from));
    const profile = profileAt(begin);
    const piece = {
      profile,
      creditsPerHour: priceOf(prices, profile, begin),
      from: begin,
      to: end,
      tenths: upTo - done,
    };
    const last = pieces.at(-1);
    const isSame = last?.profile === profile && last.creditsPerHour === piece.creditsPerHour;
    if (last && isSame && !midnights.has(begin)) {
      last.to = end;
      last.tenths += piece.tenths;
    } else pieces.push(piece);
    done = upTo;
    begin = end;
  }
  return pieces.filter((piece) => piece.tenths > 0);
}

/** Since when what is not counted yet may have been on air, and up to when. A clock that has jumped moves neither beyond it. */
function intervalOf({ entry, known, now }: Given, before: number, total: number): [from: number, to: number] {
  const started = Date.parse(entry.startedAt);
  // It cannot have had what is counted in less time.
  const earliest = started + before * 100;
  const least = started + total * 100;
  const to = entry.endedAt === undefined ? Math.max(now.getTime(), least) : Date.parse(entry.endedAt);
  const until = Math.max(...known.map((one) => one.until?.getTime() ?? Number.NEGATIVE_INFINITY));
  const from = until >= earliest && until <= to ? until : earliest;
  return [Math.min(from, to), to];
}

/** What is to be counted and charged of one entry of the book; undefined when nothing is. */
export function countEntry(given: Given): Posting | undefined {
  const { entry, known } = given;
  const number = lastNumber(entry);
  const total = tenthsOf(entry.onAirSeconds);
  const before = known.reduce((sum, { tenths }) => sum + tenths, 0);
  const tenths = total - before;
  if (tenths <= 0) return undefined;
  const [from, to] = intervalOf(given, before, total);
  const counted = { ...(known.find((one) => one.number === number) ?? notCounted(number)) };
  const charges: SessionCharge[] = [];
  for (const piece of piecesOf(given, tenths, from, to)) {
    counted.tenths += piece.tenths;
    counted.cost += BigInt(piece.tenths) * piece.creditsPerHour;
    const credits = counted.cost / TENTHS_PER_HOUR - counted.credits;
    if (credits === 0n) continue;
    counted.credits += credits;
    counted.charges += 1;
    charges.push({
      ...{ n: counted.charges, credits, tenths: counted.tenths - counted.chargedTenths, profile: piece.profile },
      ...{ from: new Date(piece.from), to: new Date(piece.to) },
    });
    counted.chargedTenths = counted.tenths;
  }
  counted.until = new Date(to);
  return { counted, charges };
}

/**
 * Up to which session all are closed, where the book is counted: what may be acknowledged. undefined when there is nothing to
 * say that has not been said.
 */
export function acknowledgeable(sessions: readonly Session[], acknowledged: number | undefined): number | undefined {
  let last = 0;
  for (const session of sessions) {
    if (session.endedAt === undefined) break;
    last = lastNumber(session);
  }
  return last > (acknowledged ?? 0) ? last : undefined;
}

/** The same for the same book: what has been counted in whole need not be looked at again. */
export const signature = (sessions: readonly Session[]): string =>
  sessions
    .map((one) => `${one.number}-${lastNumber(one)}:${tenthsOf(one.onAirSeconds)}${one.endedAt ? '.' : ''}`)
    .join(' ');
