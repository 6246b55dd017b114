import { afterEach, describe, expect, test } from 'vitest';
import type { PlatformTarget } from '../../../../../src/core/platform/common/observer.ts';
import { createYoutubeObserver } from '../../../../../src/core/platform/youtube/observe.ts';
import { createVirtualTime } from '../../../../kit/fake/virtual-time.ts';
import { startYoutube, type YoutubeOptions } from '../../../../kit/fake/youtube.ts';
import {
  createObserving,
  createPlatformStore,
  makeTarget,
  type PlatformStore,
} from '../../../../kit/make/api-observing.ts';

const START_MS = Date.parse('2026-07-15T12:00:00Z');
const KEY = 'team/main';
const ends: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Setup {
  lagMs?: () => number;
  budgetUnits?: number;
  apiKey?: string | undefined;
  beforeAnswer?: YoutubeOptions['beforeAnswer'];
  autostarts?: () => boolean;
}

async function setUp({ lagMs = () => 0, budgetUnits, beforeAnswer, autostarts, ...values }: Setup = {}) {
  const time = createVirtualTime(START_MS);
  const youtube = await startYoutube({
    nowMs: time.nowMs,
    lagMs,
    ...(budgetUnits !== undefined && { budgetUnits }),
    ...(beforeAnswer && { beforeAnswer }),
    ...(autostarts && { autostarts }),
  });
  ends.push(youtube.stop);
  const { world } = youtube;
  const options = {
    apiKey: 'apiKey' in values ? values.apiKey : 'installer-key',
    clientId: 'client',
    clientSecret: 'secret',
    budgetUnits,
    apiUrl: youtube.apiUrl,
    tokenUrl: youtube.tokenUrl,
    sleep: time.sleep,
  };
  const observe = (store?: PlatformStore) => {
    const observing = createObserving(time, store);
    const observer = createYoutubeObserver(observing.deps, options);
    ends.push(() => {
      observing.stop();
      return observer.ended;
    });
    return { ...observing, observer };
  };
  /** A channel whose broadcast is live on its key, and the destination that sends there. */
  const addLive = (store: PlatformStore, key = KEY, values: Partial<PlatformTarget['platform']> = {}) => {
    const channel = world.addChannel(key);
    const { id } = world.addBroadcast(key, { title: 'Rain for sleep', description: 'All night.' });
    world.publish(channel.streamId, true);
    world.setLive(id, channel.streamId);
    store.secrets.set(key, { rtmpKey: channel.streamKey, refreshToken: channel.refreshToken });
    const target = makeTarget(key, { kind: 'youtube', policy: 'Observe', secretName: 'account', ...values });
    return { ...channel, id, target };
  };
  return { time, world, observe, addLive };
}

describe('a destination of YouTube', () => {
  test('without a token is judged by its public video, with the people who watch it', async () => {
    const { time, world, observe, addLive } = await setUp();
    const one = observe();
    const { id } = addLive(one.store);
    world.setViewers(id, 42);
    one.observer.update([
      makeTarget(KEY, { kind: 'youtube', policy: 'Observe', videoId: `https://youtu.be/${id}?t=4` }),
    ]);
    await time.pass(1_000);
    expect(one.last(KEY)).toEqual({ status: 'True', viewers: 42, broadcastId: id, lastSeenMs: START_MS, issues: [] });
    world.complete(id);
    await time.passUntil('False', () => one.last(KEY)?.status === 'False', 45_000);
    expect(one.last(KEY)).toMatchObject({ status: 'False', reason: 'broadcast_ended' });
    expect(one.last(KEY)).not.toHaveProperty('broadcastId');
    world.setPrivacy(id, 'private');
    await time.passUntil('Unknown', () => one.last(KEY)?.status === 'Unknown', 45_000);
    expect(one.last(KEY)?.reason).toBe('not_visible');
  });

  test('with a token needs no video: the broadcast on its key is found, also the next one', async () => {
    const { time, world, observe, addLive } = await setUp({ lagMs: () => 20_000 });
    const one = observe();
    const { id, target, streamId } = addLive(one.store);
    world.setViewers(id, 5);
    await time.pass(60_000, 0);
    one.observer.update([target]);
    await time.passUntil('True', () => one.last(KEY)?.status === 'True', 60_000);
    const seen = one.reports.get(KEY)?.filter(({ verdict }) => verdict.status === 'True');
    expect(seen?.[0]?.verdict).toMatchObject({ viewers: 5, broadcastId: id });
    world.complete(id);
    await time.passUntil('False', () => one.last(KEY)?.status === 'False', 45_000);
    const next = world.addBroadcast(KEY);
    world.setLive(next.id, streamId);
    await time.passUntil('the next one', () => one.last(KEY)?.broadcastId === next.id, 90_000);
  });

  test('sees its private broadcast with a token, and says Unknown without', async () => {
    const { time, world, observe, addLive } = await setUp();
    const one = observe();
    const { id, target } = addLive(one.store);
    const open = addLive(one.store, 'team/open');
    world.setPrivacy(id, 'private');
    world.setPrivacy(open.id, 'private');
    world.setViewers(id, 3);
    const other = makeTarget('team/open', { kind: 'youtube', policy: 'Observe', videoId: open.id });
    one.observer.update([target, other]);
    await time.pass(600_000);
    expect(one.last(KEY)).toMatchObject({ status: 'True', viewers: 3, broadcastId: id });
    const told = one.reports.get(KEY)?.filter(({ atMs }) => atMs > START_MS + 5_000);
    expect(told?.every(({ verdict }) => verdict.status === 'True')).toBe(true);
    expect(one.last('team/open')).toMatchObject({ status: 'Unknown', reason: 'not_visible' });
  });

  test('reports the issues of its media with our fixes, and a key that another channel has', async () => {
    const { time, world, observe, addLive } = await setUp();
    const one = observe();
    const { target, streamId } = addLive(one.store);
    world.setHealth(streamId, 'bad', ['gopSizeLong']);
    const other = addLive(one.store, 'team/other');
    one.store.secrets.set('team/other', { rtmpKey: 'no-such-key', refreshToken: other.refreshToken });
    one.observer.update([target, other.target]);
    await time.pass(30_000);
    const issues = [expect.objectContaining({ code: 'keyframes_rare', severity: 'error' })];
    expect(one.last(KEY)).toMatchObject({ status: 'True', reason: 'health_bad', issues });
    expect(one.last('team/other')).toMatchObject({ status: 'Unknown', reason: 'other_account' });
    world.removeStream(streamId);
    await time.passUntil('the key is gone', () => one.last(KEY)?.reason !== 'health_bad', 660_000);
    world.complete(one.last(KEY)?.broadcastId ?? '');
    await time.passUntil('False', () => one.last(KEY)?.status === 'False', 60_000);
  });

  test.each(['revoke', 'remove'] as const)('is False once lists say so that its video is gone: %s', async (how) => {
    const { time, world, observe, addLive } = await setUp({ lagMs: () => 60_000 });
    const one = observe();
    const { id, target } = addLive(one.store);
    one.observer.update([target]);
    await time.passUntil('True', () => one.last(KEY)?.status === 'True', 120_000);
    world[how](id);
    await time.passUntil('not True', () => one.last(KEY)?.status !== 'True', 91_000);
    await time.passUntil('False', () => one.last(KEY)?.status === 'False', 180_000);
    expect(one.last(KEY)?.reason).toBe('broadcast_ended');
  });

  test('is Unknown when its token is revoked and nothing else can be asked with, and seen again with a new one', async () => {
    const { time, world, observe, addLive } = await setUp({ apiKey: undefined });
    const one = observe();
    const { target, refreshToken } = addLive(one.store);
    one.observer.update([target]);
    await time.pass(60_000);
    expect(one.last(KEY)?.status).toBe('True');
    world.revokeGrant(refreshToken);
    await time.passUntil('Unknown', () => one.last(KEY)?.status === 'Unknown', 180_000);
    expect(one.last(KEY)?.reason).toBe('unauthorized');
    const spent = world.spentUnits();
    await time.pass(3_600_000);
    expect(world.spentUnits() - spent).toBeLessThan(10);
    world.addGrant('1//new', KEY);
    one.store.secrets.set(KEY, { ...one.store.secrets.get(KEY), refreshToken: '1//new' });
    await time.passUntil('True', () => one.last(KEY)?.status === 'True', 180_000);
  });

  test('costs nothing while nothing is sent, and is Unknown', async () => {
    const { time, world, observe, addLive } = await setUp();
    const one = observe();
    const { target } = addLive(one.store);
    one.observer.update([{ ...target, publishing: null }]);
    await time.pass(600_000);
    expect(one.last(KEY)).toEqual({ status: 'Unknown', reason: 'not_sending', issues: [] });
    expect(world.spentUnits()).toBe(0);
  });

  test('that has just begun is starting, before it has no broadcast', async () => {
    const { time, world, observe } = await setUp();
    const one = observe();
    world.addChannel(KEY);
    const { id } = world.addBroadcast(KEY);
    one.observer.update([makeTarget(KEY, { kind: 'youtube', policy: 'Observe', videoId: id }, { sinceMs: START_MS })]);
    await time.pass(10_000);
    expect(one.last(KEY)).toMatchObject({ status: 'Unknown', reason: 'starting' });
    await time.pass(90_000);
    expect(one.last(KEY)).toMatchObject({ status: 'False', reason: 'no_broadcast' });
  });

  test('is Unknown where the installation has neither a key nor a token', async () => {
    const { time, world, observe } = await setUp({ apiKey: undefined });
    const one = observe();
    one.observer.update([makeTarget(KEY, { kind: 'youtube', policy: 'Observe', videoId: 'video' })]);
    await time.pass(60_000);
    expect(one.last(KEY)).toMatchObject({ status: 'Unknown', reason: 'unauthorized' });
    expect(world.spentUnits()).toBe(0);
  });

  test('needs no API key where an account is connected', async () => {
    const { time, observe, addLive } = await setUp({ apiKey: undefined });
    const one = observe();
    const { target } = addLive(one.store);
    one.observer.update([target]);
    await time.pass(600_000);
    expect(one.last(KEY)?.status).toBe('True');
  });

  test('is Unknown while YouTube fails, never True for longer than its last answer is fresh', async () => {
    const { time, world, observe, addLive } = await setUp();
    const one = observe();
    const { target } = addLive(one.store);
    one.observer.update([target]);
    await time.pass(30_000);
    const seen = one.reports.get(KEY)?.at(-1);
    expect(seen?.verdict.status).toBe('True');
    world.failNext({ status: 503, reason: 'backendError', times: 1_000 });
    await time.pass(600_000);
    expect(one.last(KEY)).toMatchObject({ status: 'Unknown', reason: 'platform_failed' });
    for (const { atMs, verdict, validMs } of one.reports.get(KEY) ?? [])
      if (verdict.status === 'True') expect(atMs + validMs).toBeLessThanOrEqual((verdict.lastSeenMs ?? 0) + 91_000);
  });
});

describe('the repair of a broadcast', () => {
  /** A destination with Repair whose first broadcast has been seen. */
  async function watchRepair({ store, ...setup }: Setup & { store?: PlatformStore } = {}) {
    const set = await setUp(setup);
    const one = set.observe(store);
    const channel = set.addLive(one.store, KEY, { policy: 'Repair' });
    set.world.setViewers(channel.id, 8);
    one.observer.update([channel.target]);
    await set.time.passUntil('True', () => one.last(KEY)?.status === 'True', 120_000);
    expect(one.last(KEY)?.viewers).toBe(8);
    await set.time.pass(120_000);
    const listLive = () => set.world.list().filter(({ lifeCycleStatus }) => lifeCycleStatus === 'live');
    const listNew = () => set.world.list().filter(({ id }) => id !== channel.id);
    return { ...set, ...channel, one, listLive, listNew };
  }

  test.each([0, 20_000, 60_000])(
    'is told within 45 s and done within 90 s of the end, with lists that lag by %i ms, and continues title and privacy',
    async (lagMs) => {
      const { time, world, one, id, listLive, listNew } = await watchRepair({ lagMs: () => lagMs });
      world.setPrivacy(id, 'unlisted');
      await time.pass(90_000);
      world.complete(id);
      const seenMs = await time.passUntil('False', () => one.last(KEY)?.status === 'False', 45_000);
      const madeMs = await time.passUntil('a new one', () => listLive().length === 1, 90_000);
      expect(seenMs + madeMs).toBeLessThanOrEqual(90_000);
      await time.passUntil('True', () => one.last(KEY)?.status === 'True', 90_000);
      expect(one.last(KEY)?.broadcastId).toBe(listLive()[0]?.id);
      expect(listNew()).toHaveLength(1);
      const description = expect.stringMatching(/^All night\.\n\n\[kept on air: [0-9a-f-]{36}\]$/);
      expect(listLive()[0]).toMatchObject({ title: 'Rain for sleep', privacyStatus: 'unlisted', description });
      await time.pass(3_600_000);
      expect(one.last(KEY)?.status).toBe('True');
      expect(one.store.getRepair(KEY).phase).toBe('idle');
      expect(listNew()).toHaveLength(1);
    },
  );

  test.each(['Observe', 'Repair'] as const)(
    'is not forgotten by the next process: the video that a person named is over, and another one is live (%s)',
    async (policy) => {
      const { time, world, one, target, id, streamId, observe } = await watchRepair();
      const platform = { ...target.platform, policy, videoId: id };
      one.observer.update([]);
      world.complete(id);
      const next = world.addBroadcast(KEY);
      world.setLive(next.id, streamId);
      const other = observe(one.store);
      other.observer.update([{ ...target, platform }]);
      await time.pass(300_000);
      const told = new Set(other.reports.get(KEY)?.map(({ verdict }) => `${verdict.status} ${verdict.broadcastId}`));
      expect(told).toEqual(new Set([`True ${next.id}`]));
    },
  );

  test('does not begin where nobody has asked for it', async () => {
    const { time, world, observe, addLive } = await setUp();
    const one = observe();
    const { id, target } = addLive(one.store);
    one.observer.update([target]);
    await time.pass(120_000);
    world.complete(id);
    await time.pass(3_600_000);
    expect(world.list()).toHaveLength(1);
    expect(one.last(KEY)).toMatchObject({ status: 'False', reason: 'broadcast_ended' });
  });

  test('makes one broadcast where two destinations send with one key', async () => {
    const { time, world, one, target, id, listNew } = await watchRepair();
    one.store.secrets.set('team/twin', { ...one.store.secrets.get(KEY) });
    one.observer.update([target, { ...target, key: 'team/twin', uid: 'twin' }]);
    await time.pass(120_000);
    world.complete(id);
    await time.pass(600_000);
    expect(listNew()).toHaveLength(1);
    expect(one.last('team/twin')?.status).toBe('True');
  });

  test('does not fight a takedown, says so, and goes on when a person has asked', async () => {
    const { time, world, one, target, id, listNew, listLive, observe } = await watchRepair();
    world.complete(id);
    await time.passUntil('a new one', () => listLive().length === 1, 120_000);
    const [first] = listNew();
    world.revoke(first?.id ?? '');
    await time.pass(3_600_000);
    expect(listNew()).toHaveLength(1);
    expect(one.last(KEY)).toMatchObject({ status: 'False', reason: 'taken_down' });

    // The next process knows of it, and does not turn in circles.
    one.stop();
    let reads = 0;
    const { updateShared } = one.store;
    const count = (...args: Parameters<typeof updateShared>) => {
      reads++;
      return updateShared(...args);
    };
    const store = { ...one.store, updateShared: count };
    const next = observe(store);
    next.observer.update([target]);
    await time.pass(600_000);
    expect(reads).toBeLessThan(200);
    expect(next.last(KEY)).toMatchObject({ status: 'False', reason: 'taken_down' });
    next.observer.update([{ ...target, resume: '2026-07-15T14:00:00Z' }]);
    await time.passUntil('another one', () => listLive().length === 1, 300_000);
    await time.passUntil('True', () => next.last(KEY)?.status === 'True', 120_000);
  });

  test('stops where each new broadcast ends at once, and says that it does', async () => {
    const { time, world, one, id, listNew, listLive } = await watchRepair();
    world.complete(id);
    for (let minute = 0; minute < 240; minute++) {
      await time.pass(60_000);
      for (const live of listLive()) world.complete(live.id);
    }
    expect(listNew()).toHaveLength(3);
    expect(one.last(KEY)).toMatchObject({ status: 'False', reason: 'repair_limit' });
    expect(world.spentUnits()).toBeLessThan(4_000);
  });

  test('stops where the channel may not go live, and says that the platform refuses', async () => {
    const { time, world, one, id, listNew } = await watchRepair();
    world.failNext({ method: 'liveBroadcasts.insert', status: 403, reason: 'liveStreamingNotEnabled', times: 100 });
    world.complete(id);
    await time.pass(600_000);
    expect(listNew()).toHaveLength(0);
    expect(one.last(KEY)).toMatchObject({ status: 'False', reason: 'repair_refused' });
  });

  test('waits while the token is revoked, and is finished with a new one: one broadcast', async () => {
    const { time, world, one, id, refreshToken, listLive, listNew } = await watchRepair({ autostarts: () => false });
    world.complete(id);
    await time.passUntil('an insert', () => listNew().length === 1, 120_000);
    world.revokeGrant(refreshToken);
    await time.pass(1_200_000);
    expect(listLive()).toHaveLength(0);
    expect(one.last(KEY)?.status).not.toBe('True');
    world.addGrant('1//another', KEY);
    one.store.secrets.set(KEY, { ...one.store.secrets.get(KEY), refreshToken: '1//another' });
    await time.passUntil('live', () => listLive().length === 1, 900_000);
    expect(listNew()).toHaveLength(1);
    const texts = [...one.lines, JSON.stringify([...one.reports])].join('\n');
    for (const secret of [refreshToken, '1//another', 'ya29.', 'installer-key']) expect(texts).not.toContain(secret);
    expect(texts).not.toContain(one.store.secrets.get(KEY)?.rtmpKey);
  });

  test('makes no second broadcast where the answer to the insert is lost', async () => {
    const { time, world, id, listLive, listNew } = await watchRepair({ lagMs: () => 45_000 });
    world.failNext({ method: 'liveBroadcasts.insert', status: 503, reason: 'backendError', times: 1, isDone: true });
    world.complete(id);
    await time.passUntil('live', () => listLive().length === 1, 400_000);
    await time.pass(600_000);
    expect(listNew()).toHaveLength(1);
  });

  test('goes on where others write to the same object between its reads and its writes', async () => {
    const store = createPlatformStore();
    const { time, world, id, listLive, listNew } = await watchRepair({
      lagMs: () => 60_000,
      beforeAnswer: () => store.touch(KEY),
      store,
    });
    world.complete(id);
    await time.passUntil('live', () => listLive().length === 1, 120_000);
    expect(listNew()).toHaveLength(1);
  });

  test('leaves a broadcast alone that a person starts meanwhile', async () => {
    const { time, world, one, id, streamId } = await watchRepair();
    world.complete(id);
    await time.passUntil('False', () => one.last(KEY)?.status === 'False', 45_000);
    const { id: theirs } = world.addBroadcast(KEY);
    world.setLive(theirs, streamId);
    await time.pass(600_000);
    expect(world.list()).toHaveLength(2);
    expect(one.last(KEY)).toMatchObject({ status: 'True', broadcastId: theirs });
  });
});

describe('a day of 30 channels', () => {
  test('takes at most 9,000 units of two processes together, and then all is Unknown until midnight Pacific', async () => {
    const { time, world, observe, addLive } = await setUp();
    const store = createPlatformStore();
    const pair = [observe(store), observe(store)] as const;
    const targets = Array.from({ length: 30 }, (_, n) => addLive(store, `team/channel-${n}`).target);
    // One leads after the other, and for an hour both believe that they do.
    pair[0].observer.update(targets);
    await time.pass(3_600_000, 1);
    pair[1].observer.update(targets);
    await time.pass(3_600_000, 2);
    pair[0].observer.update([]);
    await time.pass(15 * 3_600_000, 1);
    expect(world.spentUnits()).toBeLessThanOrEqual(9_000);
    for (const { key } of targets) expect(pair[1].last(key)?.status).toBe('True');
    // Others spend what is left of the day.
    world.failNext({ status: 403, reason: 'quotaExceeded', times: 100_000 });
    await time.pass(300_000, 1);
    for (const { key } of targets)
      expect(pair[1].last(key)).toMatchObject({ status: 'Unknown', reason: 'quota_exhausted' });
  });

  test('of more than the budget pays for ends at nine tenths, is Unknown, and goes on at midnight Pacific', async () => {
    const { time, world, observe, addLive } = await setUp({ budgetUnits: 2_000 });
    const one = observe();
    const targets = Array.from({ length: 30 }, (_, n) => addLive(one.store, `team/channel-${n}`).target);
    one.observer.update(targets);
    const isUnknown = () => targets.every(({ key }) => one.last(key)?.reason === 'quota_exhausted');
    await time.passUntil('nothing is left', isUnknown, 19 * 3_600_000);
    expect(world.spentUnits()).toBe(1_800);
    await time.pass(600_000);
    expect(isUnknown()).toBe(true);
    expect(world.spentUnits()).toBe(1_800);
    const isSeen = () => targets.every(({ key }) => one.last(key)?.status === 'True');
    await time.passUntil('the next day', isSeen, 19 * 3_600_000);
    expect(new Date(time.nowMs()).toISOString()).toMatch(/^2026-07-16T07:0[01]/);
  });
});
