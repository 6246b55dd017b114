/**
 * Decides what `status.platform` and the condition PlatformLive of a destination say, and when they are written. A change is written at once.
 * A confirmation waits for half of the time that the last one holds, which grows with the number of destinations, so that all of them together
 * cost a bounded number of writes. Pure: no I/O, no clock.
 */
import { exactTime } from '../lib/clock.ts';
import { toPascalCase } from '../lib/codes/code-text.ts';
import { PLATFORM_CODES, SEEN } from '../lib/codes/platforms.ts';
import { isSameJson } from '../lib/json-equal.ts';
import { buildConditions } from '../operator/runtime/controller.ts';
import { type Condition, findCondition, type Verdict } from '../resources/common/conditions.ts';
import { PLATFORM_LIVE, type PlatformStatus } from '../resources/destination/platform.ts';
import type { Destination } from '../resources/destination/resource.ts';
import type { PlatformVerdict } from './common/verdict.ts';

/** Confirmations of all destinations that are written in a second. */
const CONFIRMATIONS_PER_SECOND = 5;
/** A shorter time would only repeat what is known. */
const SHORTEST_HOLD_MS = 30_000;
const MAX_ISSUES = 16;
/** The clocks of two processes may differ by this. */
const CLOCK_MARGIN_MS = 5_000;

/** A verdict, as an observer has reported it. */
export interface Statement {
  /** UID of the destination that it is about. */
  uid: string;
  verdict: PlatformVerdict;
  /** Wall clock. */
  checkedMs: number;
  validMs: number;
  /** Whether this process has known anything about the destination yet. A process that has just begun knows nothing. */
  isInformed: boolean;
}

/** For how long a statement holds: at least twice the time after which it is confirmed. */
export const computeHoldMs = (validMs: number, destinations: number): number =>
  Math.max(validMs, SHORTEST_HOLD_MS, (2 * destinations * 1000) / CONFIRMATIONS_PER_SECOND);

export const buildCondition = ({ status, reason }: PlatformVerdict): Verdict => {
  if (reason === undefined)
    return status === 'True'
      ? { type: PLATFORM_LIVE, status, reason: SEEN, message: 'Viewers see the stream.' }
      : buildCondition({ status: 'Unknown', reason: 'unconfirmed', issues: [] });
  const { meaning, fix } = PLATFORM_CODES[reason];
  return { type: PLATFORM_LIVE, status, reason: toPascalCase(reason), message: `${meaning} ${fix}` };
};

/** The status that a statement asks for, without the repair, which has a writer of its own. */
export function buildPlatformStatus(
  { verdict, checkedMs, validMs }: Statement,
  before: PlatformStatus | undefined,
  destinations: number,
): Omit<PlatformStatus, 'repair'> {
  const { lastSeenMs, viewers, broadcastId, issues } = verdict;
  const lastSeenAt = lastSeenMs === undefined ? before?.lastSeenAt : exactTime(new Date(lastSeenMs));
  return {
    checkedAt: exactTime(new Date(checkedMs)),
    expiresAt: exactTime(new Date(checkedMs + computeHoldMs(validMs, destinations))),
    ...(lastSeenAt !== undefined && { lastSeenAt }),
    ...(viewers !== undefined && { viewers: Math.max(0, Math.round(viewers)) }),
    ...(broadcastId !== undefined && { broadcastId: broadcastId.slice(0, 64) }),
    ...(issues.length > 0 && {
      issues: issues.slice(0, MAX_ISSUES).map(({ code, severity }) => ({ code: code.slice(0, 64), severity })),
    }),
  };
}

/** The part whose change is written at once: viewers and times wait for the next confirmation. */
const pickUrgent = (condition: Verdict | undefined, status: PlatformStatus | undefined) => [
  condition && [condition.status, condition.reason],
  status?.broadcastId,
  status?.issues,
];

export type WritePlan =
  | { kind: 'write'; platform: Omit<PlatformStatus, 'repair'>; conditions: Condition[] }
  | { kind: 'wait'; ms: number }
  | { kind: 'none' };

/** Decides about a destination that has a statement. `destinations` is the number of all that are looked at. */
export function planWrite(
  { metadata, status }: Destination,
  statement: Statement,
  now: Date,
  destinations: number,
): WritePlan {
  const condition = buildCondition(statement.verdict);
  const platform = buildPlatformStatus(statement, status?.platform, destinations);
  const before = status?.platform;
  const beforeCondition = findCondition(status?.conditions, PLATFORM_LIVE);
  const isUrgent = !isSameJson(pickUrgent(condition, platform), pickUrgent(beforeCondition, before));
  const [checkedMs, expiresMs] = [Date.parse(before?.checkedAt ?? ''), Date.parse(before?.expiresAt ?? '')];
  const hasExpired = !(now.getTime() < expiresMs);
  // A time ahead of now is of a clock that has been put right since: it would hold for too long.
  const isAhead = checkedMs > now.getTime() + CLOCK_MARGIN_MS;
  // The last process knew more than one that has just begun: its word holds until its time is over.
  if (!statement.isInformed && !hasExpired && !isAhead && beforeCondition && beforeCondition.status !== 'Unknown')
    return { kind: 'wait', ms: expiresMs - now.getTime() };
  if (!isUrgent && !hasExpired && !isAhead) {
    // One that is not newer confirms nothing; the next report does.
    if (statement.checkedMs <= checkedMs) return { kind: 'none' };
    const dueMs = (checkedMs + expiresMs) / 2;
    if (now.getTime() < dueMs) return { kind: 'wait', ms: dueMs - now.getTime() };
  }
  // An expired statement was Unknown to all readers, so the same status again is a transition.
  const known = hasExpired ? [] : status?.conditions;
  const others = (status?.conditions ?? []).filter(({ type }) => type !== PLATFORM_LIVE);
  const [own] = buildConditions([condition], known, metadata.generation, now);
  return { kind: 'write', platform, conditions: own ? [...others, own] : others };
}
