import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  affordsRepair,
  charge,
  exhaust,
  nextReset,
  quotaDay,
  spentUnits,
  type UnitCounter,
} from '../../../../../src/core/platform/youtube/budget.ts';
import { judgeYoutube } from '../../../../../src/core/platform/youtube/judge.ts';
import {
  HEALTH_EVERY_MS,
  type PlannedCall,
  type PollTarget,
  planCalls,
  VIDEO_EVERY_MS,
} from '../../../../../src/core/platform/youtube/plan.ts';
import { createYoutubeWorld } from '../../../../kit/fake/youtube.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the day of the quota', () => {
  test.each([
    ['in winter', '2026-01-15T12:00:00Z', '2026-01-16T08:00:00Z'],
    ['in summer', '2026-07-15T12:00:00Z', '2026-07-16T07:00:00Z'],
    ['a second before midnight', '2026-07-16T06:59:59Z', '2026-07-16T07:00:00Z'],
    ['at midnight', '2026-07-16T07:00:00Z', '2026-07-17T07:00:00Z'],
    ['before the clocks go forward: 23 hours', '2026-03-08T08:00:00Z', '2026-03-09T07:00:00Z'],
    ['before the clocks go back: 25 hours', '2026-11-01T07:00:00Z', '2026-11-02T08:00:00Z'],
  ])('ends at midnight Pacific, %s', (_when, now, reset) => {
    expect(new Date(nextReset(Date.parse(now))).toISOString()).toBe(reset.replace('Z', '.000Z'));
  });

  test('begins with the reset, in every year', () => {
    const from = Date.parse('2024-01-01T00:00:00Z');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6 * 365 * DAY_MS }), (offset) => {
        const nowMs = from + offset;
        const reset = nextReset(nowMs);
        expect(reset - nowMs).toBeGreaterThan(0);
        expect(reset - nowMs).toBeLessThanOrEqual(25 * HOUR_MS);
        expect(quotaDay(reset - 1)).toBe(quotaDay(nowMs));
        expect(quotaDay(reset)).not.toBe(quotaDay(nowMs));
      }),
      { numRuns: 300 },
    );
  });

  test('starts anew with nothing spent, and a counter pays no call beyond nine tenths', () => {
    const nowMs = Date.parse('2026-07-15T12:00:00Z');
    const counter = { day: quotaDay(nowMs), units: 8_999 };
    expect(charge(counter, 1, nowMs)).toEqual({ ...counter, units: 9_000 });
    expect(charge(counter, 50, nowMs)).toBeUndefined();
    expect(charge(counter, 50, nextReset(nowMs))?.units).toBe(50);
    expect(charge(exhaust(nowMs), 1, nowMs)).toBeUndefined();
    expect(affordsRepair(counter, nowMs)).toBe(false);
    expect(affordsRepair(counter, nextReset(nowMs))).toBe(true);
  });
});

function listIds(call: PlannedCall): string[] {
  if (call.kind === 'broadcasts') return [];
  return call.kind === 'liveStreams' ? call.streamIds : call.videoIds;
}

interface Day {
  channels: number;
  /** Shares of the day at which a channel is disturbed. */
  disturbances?: readonly { channel: number; at: number }[];
  replicas?: number;
}

/** A day from midnight to midnight Pacific, at wakeups of the plan, against the stand-in. */
function simulate({ channels, disturbances = [], replicas = 1 }: Day) {
  const fromMs = Date.parse('2026-11-01T07:00:00Z');
  const toMs = nextReset(fromMs);
  const clock = { nowMs: fromMs };
  const world = createYoutubeWorld({ nowMs: () => clock.nowMs });
  const targets: (PollTarget & { token: string; videoId: string })[] = Array.from({ length: channels }, (_, n) => {
    const channelId = `channel-${n}`;
    const { token, streamId } = world.addChannel(channelId);
    const { id } = world.addBroadcast(channelId);
    world.publish(streamId, true);
    world.setLive(id, streamId);
    return { name: channelId, videoId: id, ingest: { channelId, streamId }, token };
  });
  const plannedDisturbances = disturbances
    .map(({ channel, at }) => ({ target: targets[channel % channels], atMs: fromMs + at * (toMs - fromMs) }))
    .sort((a, b) => a.atMs - b.atMs);
  let counter: UnitCounter | undefined;
  let worstVideoGapMs = 0;
  let worstHealthGapMs = 0;
  let exhaustedMs: number | undefined;
  while (clock.nowMs < toMs) {
    const nextDisturbance = plannedDisturbances[0];
    if (nextDisturbance && nextDisturbance.atMs <= clock.nowMs) {
      plannedDisturbances.shift();
      if (nextDisturbance.target) nextDisturbance.target.disturbedMs = clock.nowMs;
    }
    let nextMs = toMs;
    for (let replica = 0; replica < replicas; replica++) {
      const plan = planCalls(targets, counter, clock.nowMs);
      if (plan.isExhausted) exhaustedMs ??= clock.nowMs;
      for (const call of plan.calls) {
        const charged = charge(counter, call.costUnits, clock.nowMs);
        if (!charged) break;
        counter = charged;
        const isVideos = call.kind === 'videos';
        const ids = listIds(call);
        const asked = targets.filter((one) => ids.includes(isVideos ? one.videoId : (one.ingest?.streamId ?? '')));
        const { status } = world.request({
          method: 'GET',
          path: call.kind,
          query: { part: 'id', id: ids.join(','), ...(isVideos ? { key: 'key' } : {}) },
          ...(isVideos ? {} : { token: asked[0]?.token ?? '' }),
        });
        expect(status).toBe(200);
        for (const one of asked) {
          if (isVideos) {
            worstVideoGapMs = Math.max(worstVideoGapMs, clock.nowMs - (one.videoAskedMs ?? clock.nowMs));
            one.videoAskedMs = clock.nowMs;
          } else {
            worstHealthGapMs = Math.max(worstHealthGapMs, clock.nowMs - (one.ingestAskedMs ?? clock.nowMs));
            one.ingestAskedMs = clock.nowMs;
          }
        }
      }
      nextMs = Math.min(nextMs, plan.nextMs);
    }
    clock.nowMs = Math.min(nextMs, nextDisturbance ? Math.max(nextDisturbance.atMs, clock.nowMs + 1) : toMs);
  }
  return {
    spent: world.spentUnits(),
    counted: counter,
    worstVideoGapMs,
    worstHealthGapMs,
    exhaustedMs,
    fromMs,
    toMs,
    world,
  };
}

describe('a day of polls', () => {
  test('of 30 channels takes at most 9,000 of 10,000 units, and asks in time, also on the day of 25 hours', () => {
    const day = simulate({ channels: 30 });
    expect(day.counted?.units).toBeLessThanOrEqual(9_000);
    expect(day.exhaustedMs).toBeUndefined();
    expect(day.worstVideoGapMs).toBeLessThanOrEqual(VIDEO_EVERY_MS);
    expect(day.worstHealthGapMs).toBeLessThanOrEqual(HEALTH_EVERY_MS + VIDEO_EVERY_MS);
  });

  test('of 30 channels that reconnect a hundred times still lasts until midnight', () => {
    const disturbances = Array.from({ length: 100 }, (_, n) => ({ channel: n, at: ((n * 37) % 100) / 100 }));
    const day = simulate({ channels: 30, disturbances });
    expect(day.counted?.units).toBeLessThanOrEqual(9_000);
    expect(day.exhaustedMs).toBeUndefined();
    expect(day.worstVideoGapMs).toBeLessThanOrEqual(VIDEO_EVERY_MS);
  });

  test('of 60 channels asks for health less often, and for viewers as often', () => {
    const day = simulate({ channels: 60 });
    expect(day.counted?.units).toBeLessThanOrEqual(9_000);
    expect(day.exhaustedMs).toBeUndefined();
    expect(day.worstVideoGapMs).toBeLessThanOrEqual(VIDEO_EVERY_MS);
    expect(day.worstHealthGapMs).toBeGreaterThan(HEALTH_EVERY_MS);
  });

  test('of more than the budget pays for ends at nine tenths; then nothing is known', () => {
    const day = simulate({ channels: 400 });
    expect(day.counted?.units).toBeLessThanOrEqual(9_000);
    expect(day.spent).toBeLessThanOrEqual(9_000);
    expect(day.exhaustedMs).toBeDefined();
    const nowMs = day.toMs - 1;
    const video = { atMs: day.exhaustedMs ?? 0, value: { id: 'video', isBroadcast: true, startedMs: day.fromMs } };
    const failure = { atMs: nowMs, failure: 'quota_exhausted' as const };
    expect(judgeYoutube({ video, failure }, nowMs)).toMatchObject({ status: 'Unknown', reason: 'quota_exhausted' });
  });

  test('never takes more than the counter has, whoever else has counted', () => {
    const nowMs = Date.parse('2026-07-15T12:00:00Z');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_100 }), fc.integer({ min: 1, max: 300 }), (units, channels) => {
        const counter = { day: quotaDay(nowMs), units };
        const targets = Array.from({ length: channels }, (_, n): PollTarget => {
          const name = String(n);
          return { name, videoId: name, ingest: { channelId: name, streamId: name }, disturbedMs: nowMs };
        });
        const { calls } = planCalls(targets, counter, nowMs);
        const cost = calls.reduce((sum, { costUnits }) => sum + costUnits, 0);
        expect(Math.max(0, 9_000 - spentUnits(counter, nowMs))).toBeGreaterThanOrEqual(cost);
      }),
      { numRuns: 100 },
    );
  });

  test('asks every 15 s for five minutes after a disturbance, while the budget is not short', () => {
    const nowMs = Date.parse('2026-07-15T12:00:00Z');
    const target: PollTarget = {
      name: 'one',
      videoId: 'video',
      ingest: { channelId: 'channel', streamId: 'key' },
      videoAskedMs: nowMs - 15_000,
      ingestAskedMs: nowMs - 15_000,
      disturbedMs: nowMs - 20_000,
    };
    const list = (values: Partial<PollTarget>, units = 0) =>
      planCalls([{ ...target, ...values }], { day: quotaDay(nowMs), units }, nowMs).calls.map(({ kind }) => kind);
    expect(list({})).toEqual(['videos', 'liveStreams']);
    expect(list({ disturbedMs: nowMs - 300_000 })).toEqual([]);
    expect(list({}, 8_000)).toEqual([]);
  });

  test('fills a call with fifty videos, and asks for the streams of one channel at once', () => {
    const targets = Array.from({ length: 120 }, (_, n): PollTarget => {
      return { name: String(n), videoId: `video-${n}`, ingest: { channelId: 'one', streamId: `key-${n}` } };
    });
    const { calls } = planCalls(targets, undefined, Date.parse('2026-07-15T12:00:00Z'));
    expect(calls.map((call) => listIds(call).length)).toEqual([50, 50, 20, 50, 50, 20]);
  });
});
