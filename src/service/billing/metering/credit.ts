/**
 * Computes how long the credit of an account lasts, and the effects on its streams:
 *
 * - it lasts: they may be on air. With less than a day left, and again with less than an hour, each gets an Event.
 * - it is used up: after the configured grace, those on air stop; none starts. Their condition CreditAvailable is False then,
 *   which the operator and schedules respect (spec.readinessGates).
 * - it is restored: the condition is True, and streams that should run start again by themselves.
 *
 * The status counts an open session in whole hours. Its later time is taken from how long it has been live without a break:
 * never more than it was on air, so that no stream stops for time that it did not use.
 * Pure: no I/O, no clock.
 */

import { kubeTime } from '../../../core/lib/clock.ts';
import { type Condition, findCondition } from '../../../core/resources/common/conditions.ts';
import { CREDIT_CONDITION } from '../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { lastNumber, type Session } from '../../../core/resources/stream/sessions.ts';
import { isWanted, ON_AIR_PHASES } from '../../../core/resources/stream/spec.ts';
import { type PriceList, priceAt } from '../ledger/prices.ts';
import { type CountedSession, toTenths } from './session-charges.ts';

/** Hours of credit left that raise an Event, the most first. */
export const WARN_HOURS = [24, 1] as const;
/** A minute of all that is meant to be on air: what is left over when a stream has stopped is less. */
const RESUME_SECONDS = 60n;
/** A warning can recur once this factor of its time is left again, so that small changes warn once. */
const WARN_AGAIN = 1.05;

const isOnAir = ({ status }: LoopStream): boolean => ON_AIR_PHASES.includes(status?.phase ?? 'idle');
/** Whether it has left the air, and its book says only when its pod has ended for how long it was there. */
const isClosing = (stream: LoopStream): boolean =>
  !isOnAir(stream) && (stream.status?.sessions ?? []).some(({ endedAt }) => endedAt === undefined);

/** The database's state of an account. */
export interface Credit {
  balance: bigint;
  floor: bigint;
  /** False for an account that never had credit: there is some to add, and none is used up. */
  hadCredit: boolean;
  exhaustedAt: Date | undefined;
  warnedHours: number | undefined;
}

export interface Estimate {
  /** The credit that can still be used, without usage that is not charged yet; below 0 when it is used up. */
  available: bigint;
  /** The rate of all streams on air, at current prices. */
  creditsPerHour: bigint;
  /** How long it lasts if nothing changes, in whole seconds; undefined while nothing is on air. */
  secondsLeft: number | undefined;
  /** Used-up credit counts as restored above this amount: a stream that would stop at once is not worth a start. */
  toResume: bigint;
}

/** The time on air of one of the stream's sessions so far, in tenths of a second, at least. */
export function findOnAirTenths({ status = {} }: LoopStream, session: Session, now: Date): number {
  const { liveSince, podUID, phase } = status;
  const isLive = session.endedAt === undefined && phase === 'live' && session.podUID === podUID;
  if (!isLive || liveSince === undefined) return toTenths(session.onAirSeconds);
  const since = Math.max(Date.parse(liveSince), Date.parse(session.startedAt));
  return toTenths(Math.max(session.onAirSeconds, (now.getTime() - since) / 1000));
}

/**
 * Returns the whole seconds that a stream has had since its last `counted` time, at least. Acknowledged time is
 * counted.
 */
export function sumUncharged(
  stream: LoopStream,
  counted: readonly Pick<CountedSession, 'number' | 'tenths'>[],
  now: Date,
): number {
  const { sessions = [], acknowledgedSession = 0 } = stream.status ?? {};
  const tenths = sessions.reduce((sum, session) => {
    if (lastNumber(session) <= acknowledgedSession) return sum;
    const known = counted.filter(({ number }) => number >= session.number && number <= lastNumber(session));
    return (
      sum + Math.max(0, findOnAirTenths(stream, session, now) - known.reduce((total, one) => total + one.tenths, 0))
    );
  }, 0);
  return Math.floor(tenths / 10);
}

/** `uncharged` are seconds, of each of the account's streams. */
export function estimateCredit(
  { balance, floor, exhaustedAt }: Pick<Credit, 'balance' | 'floor' | 'exhaustedAt'>,
  streams: readonly { stream: LoopStream; uncharged: number }[],
  prices: PriceList,
  now: Date,
): Estimate {
  let available = balance - floor;
  let creditsPerHour = 0n;
  let wanted = 0n;
  for (const { stream, uncharged: seconds } of streams) {
    const price = priceAt(prices, stream.spec, now);
    available -= (BigInt(seconds) * price) / 3600n;
    if (stream.status?.phase === 'live') creditsPerHour += price;
    if (isWanted(stream.spec)) wanted += price;
  }
  // Streams that stopped for lack of credit would start again for a moment, before their last hour is recorded.
  const isUnknown = exhaustedAt !== undefined && streams.some(({ stream }) => isClosing(stream));
  if (isUnknown && available > 0n) available = 0n;
  const left = available > 0n ? available : 0n;
  const secondsLeft = creditsPerHour > 0n ? Number((left * 3600n) / creditsPerHour) : undefined;
  return { available, creditsPerHour, secondsLeft, toResume: (wanted * RESUME_SECONDS) / 3600n };
}

export interface CreditVerdict {
  /** Since when there is no credit; undefined while there is. */
  exhaustedAt: Date | undefined;
  hadCredit: boolean;
  warnedHours: number | undefined;
  /** The warning to send now: less than so many hours are left. */
  warn: number | undefined;
  /** Whether the grace since exhaustion is over. */
  isOver: boolean;
}

/** Decides the state of an account now, and its warnings. */
export function judgeCredit(credit: Credit, estimate: Estimate, graceSeconds: number, now: Date): CreditVerdict {
  const { available, secondsLeft, toResume } = estimate;
  const enough = credit.exhaustedAt === undefined ? 0n : toResume;
  const exhaustedAt = available > enough ? undefined : (credit.exhaustedAt ?? now);
  // A clock that was set back does not make the grace longer.
  const since = exhaustedAt && Math.min(exhaustedAt.getTime(), now.getTime());
  const isOver = since !== undefined && now.getTime() - since >= graceSeconds * 1000;
  const crossed = secondsLeft === undefined ? undefined : WARN_HOURS.findLast((hours) => secondsLeft < hours * 3600);
  const isBack =
    credit.warnedHours === undefined ||
    (secondsLeft !== undefined ? secondsLeft >= credit.warnedHours * 3600 * WARN_AGAIN : false);
  const before = isBack ? undefined : credit.warnedHours;
  const warn = crossed !== undefined && (before === undefined || crossed < before) ? crossed : undefined;
  return { exhaustedAt, hadCredit: credit.hadCredit, warnedHours: warn ?? before ?? undefined, warn, isOver };
}

/** Returns the condition of a stream: the same text for the same state, so that a steady stream is not written. */
export function buildCondition(
  stream: LoopStream,
  { exhaustedAt, hadCredit, isOver }: Pick<CreditVerdict, 'exhaustedAt' | 'hadCredit' | 'isOver'>,
  graceSeconds: number,
  now: Date,
): Condition {
  const before = findCondition(stream.status?.conditions, CREDIT_CONDITION);
  const makeCondition = (status: Condition['status'], reason: string, message: string): Condition => ({
    type: CREDIT_CONDITION,
    status,
    reason,
    message,
    lastTransitionTime: before && before.status === status ? before.lastTransitionTime : kubeTime(now),
  });
  if (exhaustedAt === undefined) return makeCondition('True', 'CreditAvailable', 'The account has credit.');
  // Grace is for what is on air, not for another start.
  if (!isOver && isOnAir(stream) && before?.status !== 'False') {
    const until = kubeTime(new Date(exhaustedAt.getTime() + graceSeconds * 1000));
    return makeCondition('True', 'CreditGrace', `The credit of the account is used up; the stream stops at ${until}.`);
  }
  const lack = hadCredit ? 'The credit of the account is used up.' : 'The account has no credit yet.';
  return makeCondition('False', 'InsufficientCredits', lack);
}

export const isSameCondition = (a: Condition | undefined, b: Condition): boolean =>
  a !== undefined && a.status === b.status && a.reason === b.reason && a.message === b.message;
