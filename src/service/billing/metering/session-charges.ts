/**
 * Computes charges from a stream's sessions (resources/stream/sessions.ts): the time of a session beyond its count so far, in
 * tenths of a second, never more than was on air. A repeated or concurrent run over the same sessions charges once: the
 * caller stores counts and charges in one transaction.
 *
 * A price holds at its time. The sessions do not say when each second since the last count was. These seconds are
 * spread evenly between then and the session's end (or now, while it is open), and divided at changes of price or
 * profile. They are also divided where a day begins anywhere on earth. So each charge is of one day, whatever the time
 * zone of a query or an invoice. Pure: no I/O, no clock.
 */

import type { Profile } from '../../../core/resources/stream/profile.ts';
import { lastNumber, type Session } from '../../../core/resources/stream/sessions.ts';
import { midnightsBetween } from '../ledger/days.ts';
import type { PriceList } from '../ledger/prices.ts';

/** When a session was, and why it ended. */
export interface SessionTimes {
  startedAt: Date;
  /** Undefined while it is open. */
  endedAt: Date | undefined;
  /** As its status had it (core/lib/codes/streams.ts, SESSION_ENDS); undefined where nobody knows. */
  endReason: string | undefined;
}

/** The count of a session, as the database stores it, by the session's number. */
export interface CountedSession extends SessionTimes {
  number: number;
  /** The first session that it stands for: a lower number where several were joined before they were counted. */
  first: number;
  /** Time on air, in tenths of a second. */
  tenths: number;
  /** The sum of tenths × credits per hour: a 36,000th of it, rounded down, is charged. */
  cost: bigint;
  credits: bigint;
  /** Of these credits, those that the account did not have: nobody pays for them. */
  writtenOff: bigint;
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
  /** The count after these charges. */
  counted: CountedSession;
  charges: SessionCharge[];
}

export interface CountInput {
  entry: Session;
  /** The counted ones of all sessions that the entry stands for, whether in part or fully (`isKnownOf`). */
  known: readonly CountedSession[];
  played: readonly Played[];
  /** The profile to assume where nobody has seen it. */
  fallback: Profile;
  prices: PriceList;
  now: Date;
}

const TENTHS_PER_HOUR = 36_000n;

/** Converts seconds of a session: they have one decimal digit, which is not exact in a float. */
export const toTenths = (seconds: number): number => Math.floor(seconds * 10 + 1e-6);
/** Formats them as a decimal number. */
export const formatSeconds = (tenths: number): string => String(tenths / 10);
/** Counts are never later than this unless a clock is wrong: then the day of the time is unknown. */
const LONGEST_MS = 31 * 86_400_000;

/** The whole credits of a sum of tenths × credits per hour. */
export const computeCredits = (cost: bigint): bigint => cost / TENTHS_PER_HOUR;

export const createUncounted = (number: number): Omit<CountedSession, keyof SessionTimes> => ({
  number,
  first: number,
  tenths: 0,
  cost: 0n,
  credits: 0n,
  writtenOff: 0n,
  chargedTenths: 0,
  charges: 0,
  until: undefined,
});

interface TimePiece {
  profile: Profile;
  creditsPerHour: bigint;
  from: number;
  to: number;
  tenths: number;
}

/** At a time in milliseconds. */
export const findPrice = (prices: PriceList, profile: Profile, at: number): bigint =>
  prices.get(profile)?.findLast(({ from }) => from <= at)?.creditsPerHour ?? 0n;

/**
 * Returns the profiles seen of the session's pod, or of the whole stream where a session stands for several or nobody
 * saw the pod.
 */
function selectPlayed({ entry, played }: CountInput): readonly Played[] {
  const own = entry.through === undefined ? played.filter(({ podUID }) => podUID === entry.podUID) : [];
  return own.length > 0 ? own : played;
}

/** The interval cut where the profile, the price or a day changes, with the seconds divided in proportion, none lost. */
function splitTime(given: CountInput, tenths: number, from: number, to: number): TimePiece[] {
  const { fallback, prices } = given;
  const seen = selectPlayed(given);
  // Before its first sighting it played the profile of that sighting.
  const profileAt = (at: number) =>
    (seen.findLast(({ since }) => since.getTime() <= at) ?? seen[0])?.profile ?? fallback;
  const profiles = new Set([...seen.map(({ profile }) => profile), fallback]);
  const changes = [
    ...seen.map(({ since }) => since.getTime()),
    ...[...profiles].flatMap((profile) => (prices.get(profile) ?? []).map((price) => price.from)),
  ];
  const midnights = new Set(to - from > LONGEST_MS ? [] : midnightsBetween(from, to));
  const cuts = new Set([...midnights, ...changes.filter((at) => at > from && at < to)].sort((a, b) => a - b));
  const pieces: TimePiece[] = [];
  let done = 0;
  let begin = from;
  for (const end of [...cuts, to]) {
    const upTo = end === to ? tenths : Math.floor((tenths * (end - from)) / (to - from));
    const profile = profileAt(begin);
    const piece = {
      profile,
      creditsPerHour: findPrice(prices, profile, begin),
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
function findInterval({ entry, known, now }: CountInput, before: number, total: number): [from: number, to: number] {
  const started = Date.parse(entry.startedAt);
  // It cannot have had what is counted in less time.
  const earliest = started + before * 100;
  const least = started + total * 100;
  const to = entry.endedAt === undefined ? Math.max(now.getTime(), least) : Date.parse(entry.endedAt);
  const until = Math.max(...known.map((one) => one.until?.getTime() ?? Number.NEGATIVE_INFINITY));
  const from = until >= earliest && until <= to ? until : earliest;
  return [Math.min(from, to), to];
}

/**
 * The times of a session entry. Of several that have become one, those that were counted before keep theirs. A session that has ended
 * does not begin again: an entry that says so is an old one.
 */
export function findTimes(entry: Session, known: readonly CountedSession[]): SessionTimes {
  const number = lastNumber(entry);
  const own = known.find((one) => one.number === number);
  if (own?.endedAt) return { startedAt: own.startedAt, endedAt: own.endedAt, endReason: own.endReason };
  const earlier = known.flatMap((one) => (one.number === number ? [] : [one.endedAt ?? one.until ?? one.startedAt]));
  const isAlone = entry.number === number;
  const since =
    (isAlone ? undefined : own?.startedAt.getTime()) ?? Math.max(Date.parse(entry.startedAt), ...earlier.map(Number));
  return {
    startedAt: new Date(since),
    endedAt: entry.endedAt === undefined ? undefined : new Date(entry.endedAt),
    endReason: entry.endReason ?? own?.endReason,
  };
}

/** Whether the count stands for a session of the entry. */
export const isKnownOf = (entry: Session, { first, number }: CountedSession): boolean =>
  number >= entry.number && first <= lastNumber(entry);

const haveSameTimes = (a: SessionTimes, b: SessionTimes): boolean =>
  a.startedAt.getTime() === b.startedAt.getTime() &&
  a.endedAt?.getTime() === b.endedAt?.getTime() &&
  a.endReason === b.endReason;

/**
 * Computes the count and the charges of one session entry; undefined when the database has it so already. An open session is
 * written from its first hour on.
 */
export function countEntry(given: CountInput): Posting | undefined {
  const { entry, known } = given;
  const number = lastNumber(entry);
  // An old entry: its sessions have become one with later ones, and were counted as that.
  if (known.some((one) => one.number > number)) return undefined;
  const total = toTenths(entry.onAirSeconds);
  const before = known.reduce((sum, { tenths }) => sum + tenths, 0);
  const tenths = Math.max(0, total - before);
  const own = known.find((one) => one.number === number);
  const times = findTimes(entry, known);
  if (tenths === 0 && (own ? haveSameTimes(own, times) : times.endedAt === undefined)) return undefined;
  const [from, to] = findInterval(given, before, total);
  const counted = { ...(own ?? createUncounted(number)), ...times };
  counted.first = Math.min(counted.first, entry.number);
  const charges: SessionCharge[] = [];
  for (const piece of tenths > 0 ? splitTime(given, tenths, from, to) : []) {
    counted.tenths += piece.tenths;
    counted.cost += BigInt(piece.tenths) * piece.creditsPerHour;
    const credits = computeCredits(counted.cost) - counted.credits;
    if (credits === 0n) continue;
    counted.credits += credits;
    counted.charges += 1;
    charges.push({
      n: counted.charges,
      credits,
      tenths: counted.tenths - counted.chargedTenths,
      profile: piece.profile,
      from: new Date(piece.from),
      to: new Date(piece.to),
    });
    counted.chargedTenths = counted.tenths;
  }
  if (tenths > 0 || !own) counted.until = new Date(to);
  return { counted, charges };
}

/**
 * The last session that may be acknowledged once all are counted: all up to it are closed. undefined when it is
 * acknowledged already.
 */
export function findAcknowledgeable(
  sessions: readonly Session[],
  acknowledged: number | undefined,
): number | undefined {
  let last = 0;
  for (const session of sessions) {
    if (session.endedAt === undefined) break;
    last = lastNumber(session);
  }
  return last > (acknowledged ?? 0) ? last : undefined;
}

/** The same for the same sessions: fully counted ones need not be read again. */
export const signSessions = (sessions: readonly Session[]): string =>
  sessions
    .map(({ endReason = '', ...one }) => {
      const end = one.endedAt ? `.${endReason}` : '';
      return `${one.number}-${lastNumber(one)}:${toTenths(one.onAirSeconds)}${end}`;
    })
    .join(' ');
