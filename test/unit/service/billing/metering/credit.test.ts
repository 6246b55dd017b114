import { describe, expect, it } from 'vitest';
import { API_VERSION, CREDIT_CONDITION } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStreamStatus } from '../../../../../src/core/resources/stream/spec.ts';
import { parsePrices } from '../../../../../src/service/billing/ledger/prices.ts';
import {
  buildCondition,
  type Credit,
  type Estimate,
  estimateCredit,
  judgeCredit,
  sumUncharged,
} from '../../../../../src/service/billing/metering/credit.ts';
import { at, NOW, stream } from '../../../../kit/make/operator.ts';

const PRICES = parsePrices();
const on = (status: LoopStreamStatus = { phase: 'live' }) => stream({ quality: '1080p', framerate: 30 }, { status });
const credit = (more: Partial<Credit> = {}): Credit => ({
  balance: 300n,
  floor: 0n,
  hadCredit: true,
  exhaustedAt: undefined,
  warnedHours: undefined,
  ...more,
});
const buildEstimate = (secondsLeft: number | undefined, available = 1000n): Estimate => ({
  available,
  creditsPerHour: 300n,
  secondsLeft,
  toResume: 5n,
});

it('names the API version that it writes under', () => expect(API_VERSION).toBe('loopstream.dev/v1beta1'));

describe('the uncounted usage of a stream', () => {
  const iso = (seconds: number) => at(seconds).toISOString();
  const session = { number: 3, podUID: 'p', startedAt: iso(0), onAirSeconds: 0 };
  it('is the time of an open session since it has been live without a break, beyond the counted part', () => {
    const live = on({ phase: 'live', podUID: 'p', liveSince: iso(0), sessions: [session] });
    expect(sumUncharged(live, [], at(90.7))).toBe(90);
    expect(sumUncharged(live, [{ number: 3, tenths: 600 }], at(90))).toBe(30);
    // Whole hours are recorded; usage before a break is known from the records alone.
    const back = on({
      phase: 'live',
      podUID: 'p',
      liveSince: iso(8000),
      sessions: [{ ...session, onAirSeconds: 7200 }],
    });
    expect(sumUncharged(back, [{ number: 3, tenths: 36_000 }], at(8100))).toBe(3600);
    expect(sumUncharged(back, [{ number: 3, tenths: 72_000 }], at(8100))).toBe(0);
  });
  it('is nothing while it reconnects, or by a clock that was set back, or for acknowledged time', () => {
    const away = on({ phase: 'reconnecting', podUID: 'p', sessions: [session] });
    expect(sumUncharged(away, [], at(900))).toBe(0);
    const live = on({ phase: 'live', podUID: 'p', liveSince: iso(0), sessions: [session] });
    expect(sumUncharged(live, [], at(-900))).toBe(0);
    const done = { ...session, onAirSeconds: 50, endedAt: iso(60) };
    expect(sumUncharged(on({ phase: 'stopped', sessions: [done], acknowledgedSession: 3 }), [], NOW)).toBe(0);
    expect(sumUncharged(on({ phase: 'stopped', sessions: [done] }), [], NOW)).toBe(50);
  });
});

it('the estimate takes all streams of the account together, and off air nothing is used', () => {
  const two = [
    { stream: on(), uncharged: 1200 },
    { stream: on({ phase: 'stopped' }), uncharged: 0 },
  ];
  expect(estimateCredit(credit(), two, PRICES, NOW)).toMatchObject({
    available: 200n,
    creditsPerHour: 300n,
    secondsLeft: 2400,
  });
  expect(estimateCredit(credit({ floor: -100n }), two, PRICES, NOW)).toMatchObject({ available: 300n });
  expect(estimateCredit(credit({ balance: -5n }), two, PRICES, NOW)).toMatchObject({
    available: -105n,
    secondsLeft: 0,
  });
  expect(estimateCredit(credit(), [], PRICES, NOW)).toMatchObject({ available: 300n, secondsLeft: undefined });
});

it('a stream that stops for want of credit has none until its pod has reported its time on air', () => {
  const session = { number: 1, podUID: 'p', startedAt: at(-3000).toISOString(), onAirSeconds: 0 };
  const stopping = (more = {}) => [
    { stream: on({ phase: 'stopping', sessions: [{ ...session, ...more }] }), uncharged: 0 },
  ];
  const exhausted = credit({ exhaustedAt: NOW });
  expect(estimateCredit(exhausted, stopping(), PRICES, NOW).available).toBe(0n);
  expect(estimateCredit(exhausted, stopping({ endedAt: NOW.toISOString() }), PRICES, NOW).available).toBe(300n);
  expect(estimateCredit(credit(), stopping(), PRICES, NOW).available).toBe(300n);
});

describe('the judgement', () => {
  const warned = (before: number | undefined, secondsLeft: number | undefined) => {
    const { warn, warnedHours } = judgeCredit(credit({ warnedHours: before }), buildEstimate(secondsLeft), 0, NOW);
    return [warn, warnedHours];
  };
  it('warns once for each crossing of a day and of an hour, and again when it was well above in between', () => {
    expect(warned(undefined, 90_000)).toEqual([undefined, undefined]);
    expect(warned(undefined, 80_000)).toEqual([24, 24]);
    expect(warned(24, 70_000)).toEqual([undefined, 24]);
    expect(warned(24, 86_500)).toEqual([undefined, 24]);
    expect(warned(24, 95_000)).toEqual([undefined, undefined]);
    expect(warned(24, 3000)).toEqual([1, 1]);
    expect(warned(1, 0)).toEqual([undefined, 1]);
    // A small top-up: above the hour and still below the day.
    expect(warned(1, 7200)).toEqual([24, 24]);
    expect(warned(undefined, 100)).toEqual([1, 1]);
    // Nothing is on air: the last warning stands.
    expect(warned(24, undefined)).toEqual([undefined, 24]);
  });

  it('is over when the grace is over, which a clock that jumps does not lengthen', () => {
    expect(judgeCredit(credit(), buildEstimate(0, 0n), 60, NOW)).toMatchObject({ exhaustedAt: NOW, isOver: false });
    expect(judgeCredit(credit({ exhaustedAt: NOW }), buildEstimate(0, 0n), 60, at(59))).toMatchObject({
      exhaustedAt: NOW,
      isOver: false,
    });
    expect(judgeCredit(credit({ exhaustedAt: NOW }), buildEstimate(0, -3n), 60, at(60))).toMatchObject({
      isOver: true,
    });
    expect(judgeCredit(credit(), buildEstimate(0, 0n), 0, NOW)).toMatchObject({ isOver: true });
  });

  it('requires more than the remainder at a stop, before the stream goes on', () => {
    const exhaustedAt = at(-100);
    expect(judgeCredit(credit({ exhaustedAt }), buildEstimate(undefined, 5n), 0, NOW)).toMatchObject({
      exhaustedAt,
      isOver: true,
    });
    expect(judgeCredit(credit({ exhaustedAt }), buildEstimate(undefined, 6n), 0, NOW)).toMatchObject({
      exhaustedAt: undefined,
    });
    expect(judgeCredit(credit(), buildEstimate(undefined, 1n), 0, NOW)).toMatchObject({ exhaustedAt: undefined });
  });
});

describe('the condition', () => {
  const say = (phase: 'live' | 'stopped', over: boolean | undefined, before?: 'True' | 'False') => {
    const conditions = before && [
      { type: CREDIT_CONDITION, status: before, reason: 'X', message: '', lastTransitionTime: '2020-01-01T00:00:00Z' },
    ];
    const stream = on({ phase, ...(conditions && { conditions }) });
    const verdict = { exhaustedAt: over === undefined ? undefined : NOW, hadCredit: true, isOver: over ?? false };
    const { status, reason, lastTransitionTime } = buildCondition(stream, verdict, 60, NOW);
    return [status, reason, lastTransitionTime.slice(0, 4)];
  };
  it('is for streams on air True until the grace is over; nothing else starts in it', () => {
    expect(say('live', undefined)).toEqual(['True', 'CreditAvailable', '2026']);
    expect(say('live', false, 'True')).toEqual(['True', 'CreditGrace', '2020']);
    expect(say('live', true, 'True')).toEqual(['False', 'InsufficientCredits', '2026']);
    expect(say('stopped', false)).toEqual(['False', 'InsufficientCredits', '2026']);
    // A stream that was stopped for want of credit gets no second grace.
    expect(say('live', false, 'False')).toEqual(['False', 'InsufficientCredits', '2020']);
  });

  it('tells an account that never had credit from one that has used it up', () => {
    const tell = (hadCredit: boolean) =>
      buildCondition(on({ phase: 'idle' }), { exhaustedAt: NOW, hadCredit, isOver: true }, 0, NOW);
    expect(tell(true)).toMatchObject({
      reason: 'InsufficientCredits',
      message: 'The credit of the account is used up.',
    });
    expect(tell(false)).toMatchObject({ reason: 'InsufficientCredits', message: 'The account has no credit yet.' });
  });
});
