import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RepairState } from '../../../../../src/core/platform/common/repair-state.ts';
import { readVideos, type YoutubeBroadcast } from '../../../../../src/core/platform/youtube/answers.ts';
import { judgeYoutube } from '../../../../../src/core/platform/youtube/judge.ts';
import { type PollTarget, planCalls } from '../../../../../src/core/platform/youtube/plan.ts';
import {
  decideRepair,
  MAX_PER_DAY,
  MAX_PER_HOUR,
  NEW_REPAIR,
} from '../../../../../src/core/platform/youtube/repair.ts';
import { createYoutubeWorld } from '../../../../kit/fake/youtube.ts';
import { CRASHES, createRepairer } from '../../../../kit/make/repairer.ts';

const START_MS = Date.parse('2026-03-08T07:00:00Z');
const HOUR_MS = 3_600_000;

const isOpen = ({ lifeCycleStatus }: { lifeCycleStatus: string }) => !['complete', 'revoked'].includes(lifeCycleStatus);

/** A channel whose broadcast is live on our key. Lists lag by what `lags` holds, in turn. */
function setUp({ lags = [0], autostarts = () => true }: { lags?: readonly number[]; autostarts?: () => boolean } = {}) {
  const clock = { nowMs: START_MS };
  let lists = 0;
  const world = createYoutubeWorld({
    nowMs: () => clock.nowMs,
    lagMs: () => lags[lists++ % lags.length] ?? 0,
    budgetUnits: 10_000_000,
    autostarts,
  });
  const repairer = createRepairer(world, clock);
  const { id } = world.addBroadcast('channel');
  world.publish(repairer.streamId, true);
  world.setLive(id, repairer.streamId);
  repairer.watch(id);
  clock.nowMs += 120_000;
  const pass = (ms: number) => {
    clock.nowMs += ms;
    repairer.wake();
  };
  const findLive = () => world.list().filter(({ lifeCycleStatus }) => lifeCycleStatus === 'live');
  return { clock, world, repairer, id, pass, findLive };
}
type Setup = ReturnType<typeof setUp>;

/** Rounds every 5 s until a broadcast is live; the time that took. */
function runUntilLive({ clock, repairer, pass, findLive }: Setup, withinMs: number): number | undefined {
  const beganMs = clock.nowMs;
  while (clock.nowMs - beganMs <= withinMs) {
    repairer.round();
    pass(5_000);
    if (findLive().length > 0) return clock.nowMs - beganMs;
  }
  return undefined;
}

const lag = fc.oneof(fc.constantFrom(0, 60_000), fc.integer({ min: 0, max: 60_000 }));

describe('repair of a broadcast', () => {
  test('makes one broadcast live within a minute of the end that is seen, however far lists lag', () => {
    fc.assert(
      fc.property(fc.array(lag, { minLength: 1, maxLength: 9 }), (lags) => {
        const set = setUp({ lags });
        set.repairer.round();
        set.world.complete(set.id);
        const tookMs = runUntilLive(set, 60_000);
        expect(tookMs).toBeLessThanOrEqual(60_000);
        expect(set.repairer.listOurs()).toHaveLength(1);
      }),
      { numRuns: 200 },
    );
  });

  test('is seen to be needed within 45 s of the end, and is over within 90 s', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30_000 }),
        fc.array(lag, { minLength: 1, maxLength: 9 }),
        (offset, lags) => {
          const { clock, world, repairer, id, pass, findLive } = setUp({ lags });
          repairer.round();
          const target: PollTarget = { name: 'one', videoId: id };
          let nextMs = clock.nowMs;
          let seenMs: number | undefined;
          const endsMs = clock.nowMs + 60_000 + offset;
          while (clock.nowMs < endsMs + 90_000 && (clock.nowMs <= endsMs || findLive().length === 0)) {
            if (clock.nowMs >= endsMs && world.list().find((one) => one.id === id)?.endedMs === undefined)
              world.complete(id);
            if (clock.nowMs >= nextMs) {
              const plan = planCalls([target], undefined, clock.nowMs);
              nextMs = plan.nextMs;
              for (const call of plan.calls) {
                if (call.kind !== 'videos') continue;
                const query = { part: 'snippet,liveStreamingDetails', id: call.videoIds.join(','), key: 'key' };
                const [value] = readVideos(world.request({ method: 'GET', path: 'videos', query }).body);
                target.videoAskedMs = clock.nowMs;
                const { status } = judgeYoutube(
                  { video: { atMs: clock.nowMs, ...(value ? { value } : {}) } },
                  clock.nowMs,
                );
                expect(status).not.toBe('Unknown');
                if (status === 'False') seenMs ??= clock.nowMs;
              }
            }
            if (seenMs !== undefined && (clock.nowMs - seenMs) % 5_000 === 0) repairer.round();
            pass(clock.nowMs < endsMs && clock.nowMs + 1_000 > endsMs ? endsMs - clock.nowMs : 1_000);
          }
          expect(seenMs).toBeLessThanOrEqual(endsMs + 45_000);
          expect(findLive()).toHaveLength(1);
          expect(repairer.listOurs()).toHaveLength(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('makes no second broadcast whatever dies, sleeps, lags or ends, and no more than an hour and a day allow', () => {
    const command = fc.record({
      passMs: fc.oneof(
        { weight: 4, arbitrary: fc.integer({ min: 4_000, max: 20_000 }) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 400_000 }) },
      ),
      crash: fc.constantFrom(undefined, undefined, ...CRASHES),
      pauseMs: fc.oneof(
        { weight: 4, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 120_000 }) },
      ),
      event: fc.constantFrom('none', 'none', 'none', 'none', 'end', 'end', 'silence', 'media', 'lostAnswer', 'refused'),
    });
    fc.assert(
      fc.property(
        fc.array(command, { minLength: 10, maxLength: 80 }),
        fc.array(lag, { minLength: 1, maxLength: 40 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }),
        (commands, lags, starts) => {
          let asked = 0;
          const set = setUp({ lags, autostarts: () => starts[asked++ % starts.length] ?? true });
          const { world, repairer, findLive, pass } = set;
          for (const { passMs, crash, pauseMs, event } of commands) {
            if (event === 'end') for (const { id } of findLive()) world.complete(id);
            if (event === 'silence' || event === 'media') world.publish(repairer.streamId, event === 'media');
            if (event === 'lostAnswer')
              world.failNext({
                method: 'liveBroadcasts.insert',
                status: 503,
                reason: 'backendError',
                times: 1,
                isDone: true,
              });
            if (event === 'refused')
              world.failNext({
                method: 'liveBroadcasts.insert',
                status: 403,
                reason: 'livePermissionBlocked',
                times: 1,
              });
            repairer.round({ crash, pauseMs });
            expect(repairer.listOurs().filter(isOpen).length).toBeLessThanOrEqual(1);
            pass(passMs);
            const open = repairer.listOurs().filter(isOpen);
            expect(open.length, JSON.stringify(open)).toBeLessThanOrEqual(1);
          }
          const made = repairer.listOurs().map(({ createdMs }) => createdMs);
          for (const atMs of made) {
            const within = (ms: number) => made.filter((one) => one >= atMs && one < atMs + ms).length;
            // A sleeper sends up to ten seconds after its insert was counted.
            expect(within(HOUR_MS - 10_000)).toBeLessThanOrEqual(MAX_PER_HOUR);
            expect(within(24 * HOUR_MS - 10_000)).toBeLessThanOrEqual(MAX_PER_DAY);
          }
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 300) },
    );
  });

  test.each((['insert', 'bind', 'start'] as const).flatMap((step) => CRASHES.map((crash) => ({ step, crash }))))(
    'is finished by another process after 30 deaths $crash of $step',
    ({ step, crash }) => {
      for (let seed = 0; seed < 30; seed++) {
        const lags = fc.sample(lag, { numRuns: 12, seed });
        const set = setUp({ lags, autostarts: () => step !== 'start' });
        const { world, repairer, findLive, pass } = set;
        repairer.round();
        world.complete(set.id);
        let deaths = 0;
        for (let n = 0; n < 400 && findLive().length === 0; n++) {
          const died = repairer.round(deaths === 0 ? { crash, at: step } : {}).kind === step;
          if (died) deaths++;
          pass(2_000);
        }
        expect(deaths).toBeGreaterThan(0);
        expect(findLive()).toHaveLength(1);
        expect(repairer.listOurs()).toHaveLength(1);
      }
    },
  );

  test('leaves the broadcast alone that a person starts meanwhile', () => {
    const set = setUp();
    const { world, repairer, pass } = set;
    world.complete(set.id);
    repairer.round();
    pass(10_000);
    const { id } = world.addBroadcast('channel');
    world.setLive(id, repairer.streamId);
    for (let n = 0; n < 40; n++) {
      repairer.round();
      pass(15_000);
    }
    expect(repairer.listOurs()).toEqual([]);
  });

  test('does not take a list that lags for the absence of a broadcast that has just begun', () => {
    const set = setUp({ lags: [60_000] });
    const { world, clock, repairer, pass } = set;
    world.remove(set.id);
    repairer.watch('');
    clock.nowMs += 300_000;
    const { id } = world.addBroadcast('channel');
    world.setLive(id, repairer.streamId);
    for (let n = 0; n < 20; n++) {
      pass(10_000);
      repairer.round();
    }
    expect(repairer.listOurs()).toEqual([]);
  });

  test('waits for the insert of a process that sleeps, before lists count that do not show it', () => {
    const set = setUp({ lags: [60_000] });
    const { world, repairer, pass } = set;
    world.complete(set.id);
    while (repairer.round({ at: 'insert', crash: 'beforePersist' }).kind !== 'insert') pass(5_000);
    repairer.round({ pauseMs: 9_000 });
    for (let n = 0; n < 60; n++) {
      repairer.round();
      pass(4_500);
    }
    expect(repairer.listOurs()).toHaveLength(1);
  });

  test('does not start its own broadcast beside one that was live a moment ago', () => {
    const broadcasts: YoutubeBroadcast[] = [{ id: 'ours', lifeCycle: 'ready', description: 'mark', streamId: 'key' }];
    const state: RepairState = {
      ...NEW_REPAIR,
      phase: 'inserted',
      mark: 'mark',
      broadcastId: 'ours',
      boundMs: 0,
      live: { broadcastId: 'theirs', atMs: 500_000 },
    };
    const decide = (atMs: number) =>
      decideRepair(
        state,
        { atMs, streamId: 'key', isIngestActive: true, broadcasts },
        { nowMs: atMs, newMark: 'new', isAffordable: true },
      ).step.kind;
    expect(decide(560_000)).toBe('wait');
    expect(decide(600_000)).toBe('start');
  });

  test('does nothing while no media arrives, and needs the whole confirmation afterwards', () => {
    const set = setUp();
    const { world, repairer, pass } = set;
    world.complete(set.id);
    repairer.round();
    pass(15_000);
    world.publish(repairer.streamId, false);
    expect(repairer.round()).toEqual({ kind: 'none' });
    pass(15_000);
    world.publish(repairer.streamId, true);
    expect(repairer.round().kind).toBe('wait');
    pass(15_000);
    expect(repairer.round().kind).toBe('insert');
  });

  test('does not fight a takedown', () => {
    const set = setUp();
    const { world, repairer, pass } = set;
    world.complete(set.id);
    runUntilLive(set, 120_000);
    for (const { id } of repairer.listOurs()) world.revoke(id);
    for (let n = 0; n < 500; n++) {
      repairer.round();
      pass(60_000);
    }
    expect(repairer.listOurs()).toHaveLength(1);
    expect(repairer.state.stalled).toBe('revoked');
    repairer.resume('a person has looked');
    expect(runUntilLive(set, 300_000)).toBeDefined();
    expect(repairer.listOurs()).toHaveLength(2);
  });

  test('stops for good where each new broadcast is ended, until a person says to go on', () => {
    const set = setUp();
    const { world, repairer, pass, findLive } = set;
    world.complete(set.id);
    for (let n = 0; n < 3_000; n++) {
      repairer.round();
      for (const { id } of findLive()) world.complete(id);
      pass(30_000);
    }
    expect(repairer.listOurs()).toHaveLength(MAX_PER_HOUR);
    expect(repairer.state).toMatchObject({ phase: 'stalled', stalled: 'limit' });
    repairer.resume('go on');
    expect(runUntilLive(set, 300_000)).toBeDefined();
  });

  test('starts the broadcast itself where it does not start by itself', () => {
    const set = setUp({ autostarts: () => false });
    set.world.complete(set.id);
    expect(runUntilLive(set, 90_000)).toBeDefined();
  });

  test('gives up a token that was revoked in the middle, and finishes with a new one', () => {
    const set = setUp();
    const { world, repairer, pass, findLive } = set;
    world.complete(set.id);
    while (repairer.round().kind !== 'insert') pass(5_000);
    world.failNext({ status: 401, reason: 'authError', times: 60 });
    for (let n = 0; n < 10; n++) {
      // Without an answer about media nothing is done.
      expect(repairer.round()).toEqual({ kind: 'none' });
      pass(5_000);
    }
    runUntilLive(set, 120_000);
    expect(findLive()).toHaveLength(1);
    expect(repairer.listOurs()).toHaveLength(1);
  });

  test('stalls where somebody has bound our broadcast to another key', () => {
    const ours: YoutubeBroadcast = { id: 'v1', lifeCycle: 'ready', description: 'mark', streamId: 'other' };
    const state: RepairState = {
      ...NEW_REPAIR,
      phase: 'inserted',
      mark: 'mark',
      broadcastId: 'v1',
      boundMs: 0,
    };
    const reading = { atMs: 1_000, streamId: 'key', isIngestActive: true, broadcasts: [ours] };
    const { step } = decideRepair(state, reading, { nowMs: 1_000, newMark: 'new', isAffordable: true });
    expect(step).toEqual({ kind: 'stalled', reason: 'taken' });
  });

  test('begins nothing that the budget of the day does not pay for', () => {
    const state: RepairState = { ...NEW_REPAIR, absentSinceMs: 0 };
    const reading = { atMs: 100_000, streamId: 'key', isIngestActive: true, broadcasts: [] };
    const decide = (isAffordable: boolean) =>
      decideRepair(state, reading, { nowMs: 100_000, newMark: 'new', isAffordable }).step.kind;
    expect(decide(true)).toBe('insert');
    expect(decide(false)).toBe('wait');
  });
});
