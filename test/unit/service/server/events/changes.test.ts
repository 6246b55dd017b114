import { describe, expect, test } from 'vitest';
import type { OwnedChange } from '../../../../../src/service/domain/limits/owned-resources.ts';
import type { Change } from '../../../../../src/service/lib/paging/change.ts';
import { createFollowers } from '../../../../../src/service/lib/paging/followers.ts';
import {
  createChangeService,
  createPending,
  MAX_FEEDS,
  MAX_PENDING,
} from '../../../../../src/service/server/events/changes.ts';
import { nounsFor } from '../../../../../src/service/server/events/feed.ts';

const change = (id: string, what: Change['change'] = 'updated'): Change => ({ noun: 'stream', id, change: what });

/** Nouns whose changes a test can make. */
function nouns() {
  const build = () => createFollowers<OwnedChange | 'reset'>();
  return {
    stream: build(),
    destination: build(),
    upload: build(),
    playlist: build(),
    scene: build(),
    balance: build(),
    topUp: build(),
    invoice: build(),
    deposit: build(),
  };
}

describe('pending changes', () => {
  test('begin with a reset, which stands for everything before it was taken', () => {
    const pending = createPending();
    pending.add(change('a'));
    expect(pending.take()).toEqual(['reset']);
    expect(pending.hasItems).toBe(false);
    expect(pending.take()).toEqual([]);
  });

  test('are one for each object, and none for one that came and went', () => {
    const pending = createPending();
    pending.take();
    for (const what of ['created', 'updated', 'updated'] as const) pending.add(change('a', what));
    for (const what of ['created', 'updated', 'deleted'] as const) pending.add(change('b', what));
    for (const what of ['updated', 'deleted'] as const) pending.add(change('c', what));
    expect(pending.take()).toEqual([change('a', 'created'), change('b', 'deleted'), change('c', 'deleted')]);
  });

  test('do not grow beyond their bound: then everything has to be read again', () => {
    const pending = createPending();
    pending.take();
    for (let i = 0; i <= MAX_PENDING; i += 1) pending.add(change(`s${i}`));
    pending.add(change('one more'));
    expect(pending.take()).toEqual(['reset']);
  });
});

describe('following', () => {
  test('wakes once until all pending changes were taken, and sees no other account’s', () => {
    const sources = nouns();
    let woken = 0;
    const feed = createChangeService(sources).follow('ann', () => (woken += 1));
    feed.take();
    sources.stream.notify('bob', { id: 'his', change: 'created' });
    expect([woken, feed.hasItems]).toEqual([0, false]);
    sources.upload.notify('ann', { id: 'u1', change: 'created' });
    sources.playlist.notify('ann', { id: 'p1', change: 'deleted' });
    expect(woken).toBe(1);
    expect(feed.take()).toEqual([
      { noun: 'upload', id: 'u1', change: 'created' },
      { noun: 'playlist', id: 'p1', change: 'deleted' },
    ]);
  });

  test('is of some nouns alone where others are not permitted', () => {
    const sources = nouns();
    const all = [...nounsFor(new Set(['read', 'billing']))];
    const feeds = [all, nounsFor(new Set(['read', 'write', 'destructive']))].map((nouns) =>
      createChangeService(sources).follow('ann', () => undefined, nouns),
    );
    for (const feed of feeds) feed.take();
    for (const noun of all) sources[noun].notify('ann', { id: noun, change: 'updated' });
    const [everything, some] = feeds.map((feed) => feed.take().map((news) => (news === 'reset' ? news : news.noun)));
    expect(everything).toEqual([
      'stream',
      'destination',
      'upload',
      'playlist',
      'scene',
      'balance',
      'topUp',
      'invoice',
      'deposit',
    ]);
    expect(some).toEqual(['stream', 'destination', 'upload', 'playlist', 'scene']);
  });

  test('begins again where changes were left out, once, with the earlier ones', () => {
    const sources = nouns();
    let woken = 0;
    const feed = createChangeService(sources).follow('ann', () => (woken += 1));
    feed.take();
    sources.deposit.notify('ann', { id: 'd1', change: 'updated' });
    sources.balance.notifyAll('reset');
    sources.deposit.notify('ann', { id: 'd2', change: 'updated' });
    expect(feed.take()).toEqual(['reset']);
    expect(woken).toBe(1);
  });

  test('ends, and nothing of it is left', () => {
    const sources = nouns();
    let woken = 0;
    const feed = createChangeService(sources).follow('ann', () => (woken += 1));
    feed.take();
    feed.end();
    sources.stream.notify('ann', { id: 's1', change: 'created' });
    expect(woken).toBe(0);
  });

  test('is limited by account, and an ended feed frees its place once', () => {
    const service = createChangeService(nouns());
    const feeds = Array.from({ length: MAX_FEEDS }, () => service.follow('ann', () => undefined));
    const refused = expect.objectContaining({ code: 'too_many_feeds' });
    expect(() => service.follow('ann', () => undefined)).toThrow(refused);
    service.follow('bob', () => undefined).end();
    feeds[0]?.end();
    feeds[0]?.end();
    service.follow('ann', () => undefined);
    expect(() => service.follow('ann', () => undefined)).toThrow(refused);
  });
});
