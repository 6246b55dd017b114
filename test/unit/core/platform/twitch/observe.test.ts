import { afterEach, describe, expect, test } from 'vitest';
import { createTwitchObserver } from '../../../../../src/core/platform/twitch/observe.ts';
import { startHelix } from '../../../../kit/fake/helix.ts';
import { createVirtualTime } from '../../../../kit/fake/virtual-time.ts';
import { createObserving, makeTarget } from '../../../../kit/make/api-observing.ts';

const START_MS = Date.parse('2026-07-15T12:00:00Z');
const HOUR_MS = 3_600_000;
const KEY = 'team/main';
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function setUp({ isSetUp = true, lagMs = 0 } = {}) {
  const time = createVirtualTime(START_MS);
  const helix = await startHelix({ nowMs: time.nowMs, lagMs: () => lagMs });
  ends.push(helix.stop);
  const observing = createObserving(time);
  const observer = createTwitchObserver(observing.deps, {
    clientId: 'client',
    ...(isSetUp && { clientSecret: 'secret' }),
    apiUrl: `${helix.url}/helix`,
    tokenUrl: `${helix.url}/oauth2/token`,
    sleep: time.sleep,
  });
  ends.push(() => {
    observing.stop();
    return observer.ended;
  });
  const aim = (channel: string, key = KEY) =>
    makeTarget(key, { kind: 'twitch', policy: 'Observe', channel }, { sinceMs: START_MS - HOUR_MS });
  const { reports, lines } = observing;
  return { time, helix, observer, aim, reports, lines, last: () => observing.last(KEY) };
}

describe('a destination of Twitch', () => {
  test.each(['loopcat', 'LoopCat', '@loopcat', 'https://www.twitch.tv/loopcat', 'twitch.tv/loopcat/videos', '77'])(
    'is found by its channel as %s, live with its viewers, and False within 90 s of its end',
    async (channel) => {
      const { time, helix, observer, aim, last } = await setUp();
      helix.addUser('77', 'loopcat');
      helix.start('77', 12);
      observer.update([aim(channel)]);
      await time.pass(1_000);
      expect(last()).toMatchObject({ status: 'True', viewers: 12, lastSeenMs: START_MS });
      helix.end('77');
      await time.passUntil('False', () => last()?.status === 'False', 90_000);
      expect(last()).toMatchObject({ reason: 'broadcast_ended' });
    },
  );

  test('whose login has digits alone is found by its login where no id is the same', async () => {
    const { time, helix, observer, aim, last } = await setUp();
    helix.addUser('9', '4711');
    helix.start('9');
    observer.update([aim('4711')]);
    await time.pass(1_000);
    expect(last()?.status).toBe('True');
  });

  test('that Twitch does not know is Unknown, and is found once it is there', async () => {
    const { time, helix, observer, aim, last } = await setUp();
    observer.update([aim('nobody')]);
    await time.pass(60_000);
    expect(last()).toMatchObject({ status: 'Unknown', reason: 'channel_not_found' });
    helix.addUser('5', 'nobody');
    helix.start('5');
    await time.passUntil('True', () => last()?.status === 'True', 660_000);
  });

  test('is warned of two hours before the 48 hours end, once they are near', async () => {
    const { time, helix, observer, aim, last } = await setUp();
    helix.addUser('1', 'one');
    helix.start('1');
    observer.update([aim('one')]);
    await time.pass(46 * HOUR_MS - 60_000);
    expect(last()).not.toHaveProperty('reason');
    await time.pass(120_000);
    expect(last()).toMatchObject({ status: 'True', reason: 'limit_near' });
    await time.pass(2 * HOUR_MS + 60_000);
    expect(last()).toMatchObject({ status: 'False', reason: 'broadcast_ended' });
  });

  test('is asked for together with a hundred others, every 30 s, and only while something is sent', async () => {
    const { time, helix, observer, aim, last } = await setUp();
    const targets = Array.from({ length: 150 }, (_, n) => {
      helix.addUser(String(n), `user${n}`);
      return aim(`user${n}`, `team/channel-${n}`);
    });
    observer.update(targets.map((target) => ({ ...target, publishing: null })));
    await time.pass(600_000);
    expect(helix.calls).toEqual([]);
    observer.update(targets);
    await time.pass(290_000);
    expect(helix.calls.filter((path) => path === '/helix/streams')).toHaveLength(2 * 10);
    expect(helix.calls.filter((path) => path === '/helix/users')).toHaveLength(3);
    expect(last()).toBeUndefined();
  });

  test('stays True when its token is revoked, since another one is got at once', async () => {
    const { time, helix, observer, aim, last, reports } = await setUp();
    helix.addUser('1', 'one');
    helix.start('1');
    observer.update([aim('one')]);
    await time.pass(60_000);
    helix.revokeTokens();
    await time.pass(60_000);
    expect(last()?.lastSeenMs).toBeGreaterThan(START_MS + 60_000);
    const told = reports.get(KEY)?.map(({ verdict }) => verdict.status);
    expect(new Set(told)).toEqual(new Set(['True']));
  });

  test('is Unknown while Twitch is down, and asks no more before the time that a limit names', async () => {
    const { time, helix, observer, aim, last } = await setUp();
    helix.addUser('1', 'one');
    helix.start('1');
    observer.update([aim('one')]);
    await time.pass(1_000);
    helix.exhaust();
    await time.pass(30_000);
    // One call has met the limit, which ends with the minute.
    const asked = helix.calls.length;
    observer.update([aim('one'), aim('one', 'team/other')]);
    await time.pass(25_000);
    expect(helix.calls.length).toBe(asked);
    await time.pass(60_000);
    expect(last()?.status).toBe('True');
    helix.breakDown(true);
    await time.pass(180_000);
    expect(last()).toMatchObject({ status: 'Unknown', reason: 'platform_failed' });
  });

  test('is Unknown where the installation has no application at Twitch, and no secret is told', async () => {
    const { time, helix, observer, aim, last, lines } = await setUp({ isSetUp: false });
    observer.update([aim('one')]);
    await time.pass(60_000);
    expect(last()).toMatchObject({ status: 'Unknown', reason: 'unauthorized' });
    expect(helix.calls).toEqual([]);
    expect(lines.join('')).not.toContain('secret');
  });
});
