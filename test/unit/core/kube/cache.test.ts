import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cache, type CacheChange, createCache } from '../../../../src/core/kube/cache.ts';
import { type Thing, thing } from '../../../kit/real/kube.ts';

const listUids = (changes: CacheChange<Thing>[]) =>
  changes.map((c) => [c.previous?.metadata.uid ?? null, c.current?.metadata.uid ?? null]);
const versions = (cache: Cache<Thing>) =>
  Object.fromEntries(cache.list().map((o) => [o.metadata.name, o.metadata.resourceVersion]));

describe('the cache', () => {
  test('compares versions as integers of any length', () => {
    const cache = createCache<Thing>();
    cache.put(thing('a', 9));
    expect(cache.upsert(thing('a', 10))).toHaveLength(1);
    cache.put(thing('b', 9007199254740992n));
    expect(cache.upsert(thing('b', 9007199254740993n))).toHaveLength(1);
    expect(cache.upsert(thing('b', 9007199254740992n))).toEqual([]);
  });

  test('reports creation, update and deletion once each, from any source', () => {
    const cache = createCache<Thing>();
    expect(listUids(cache.put(thing('a', 1)))).toEqual([[null, 'uid-a']]);
    expect(listUids(cache.upsert(thing('a', 2)))).toEqual([['uid-a', 'uid-a']]);
    expect(cache.put(thing('a', 2))).toEqual([]);
    expect(listUids(cache.remove(thing('a', 3)))).toEqual([['uid-a', null]]);
    expect(cache.remove(thing('a', 3))).toEqual([]);
  });

  test('does not go back to an older object when the watch lags behind our own write', () => {
    const cache = createCache<Thing>();
    cache.replace([thing('a', 1)], '1');
    cache.upsert(thing('a', 5));
    expect(cache.put(thing('a', 3))).toEqual([]);
    expect(versions(cache)).toEqual({ a: '5' });
  });

  test('does not raise a deleted object from the dead by a late upsert', () => {
    const cache = createCache<Thing>();
    cache.replace([thing('a', 1)], '1');
    cache.remove(thing('a', 7));
    expect(cache.upsert(thing('a', 6))).toEqual([]);
    expect(cache.list()).toEqual([]);
    // The same holds when the deletion was only seen as an absence from a list.
    cache.replace([], '20');
    expect(cache.upsert(thing('a', 15))).toEqual([]);
  });

  test('does not bring back an object after our own deletion while lists and watch lag behind it', () => {
    const cache = createCache<Thing>();
    cache.replace([thing('a', 1)], '1');
    expect(listUids(cache.forget(thing('a', 1)))).toEqual([['uid-a', null]]);
    expect(cache.forget(thing('a', 1))).toEqual([]);
    expect(cache.put(thing('a', 2))).toEqual([]);
    expect(cache.replace([thing('a', 3)], '4')).toEqual([]);
    expect(cache.upsert(thing('a', 5))).toEqual([]);
    expect(cache.remove(thing('a', 6))).toEqual([]);
    // An object with the name of a deleted one is another object.
    expect(listUids(cache.put(thing('a', 7, 'second')))).toEqual([[null, 'second']]);
    expect(cache.forget(thing('a', 7, 'first'))).toEqual([]);
    cache.forget(thing('a', 7, 'second'));
    // A backup from before the deletion contains it again.
    expect(listUids(cache.replace([thing('a', 3, 'second')], '4'))).toEqual([[null, 'second']]);
  });

  test('does not bring back an object that was created and deleted since a late list was read', () => {
    const cache = createCache<Thing>();
    cache.replace([], '1');
    cache.upsert(thing('a', 2));
    expect(listUids(cache.forget(thing('a', 3)))).toEqual([['uid-a', null]]);
    expect(cache.replace([], '1')).toEqual([]);
    expect(cache.put(thing('a', 2))).toEqual([]);
    expect(cache.remove(thing('a', 3))).toEqual([]);
  });

  test('keeps a write of ours that a list is too old to know', () => {
    const cache = createCache<Thing>();
    cache.replace([], '10');
    cache.upsert(thing('a', 12));
    expect(cache.replace([], '11')).toEqual([]);
    expect(versions(cache)).toEqual({ a: '12' });
    expect(listUids(cache.replace([], '13'))).toEqual([['uid-a', null]]);
  });

  test('forgets a write of ours that the watch passes without an event', () => {
    const cache = createCache<Thing>();
    cache.replace([], '10');
    cache.upsert(thing('a', 12));
    expect(cache.advance('11')).toEqual([]);
    expect(listUids(cache.advance('12'))).toEqual([['uid-a', null]]);
  });

  test('reports a deletion and a creation when a name has a new UID', () => {
    const cache = createCache<Thing>();
    cache.replace([thing('a', 1, 'first')], '1');
    expect(listUids(cache.replace([thing('a', 9, 'second')], '10'))).toEqual([
      ['first', null],
      [null, 'second'],
    ]);
    expect(listUids(cache.put(thing('a', 12, 'third')))).toEqual([
      ['second', null],
      [null, 'third'],
    ]);
    // The end of an earlier object does not remove its successor.
    expect(cache.remove(thing('a', 11, 'second'))).toEqual([]);
  });

  test('takes a list as the truth when versions have gone back (etcd restored from a backup)', () => {
    const cache = createCache<Thing>();
    cache.replace([thing('a', 90), thing('b', 95)], '100');
    cache.replace([thing('a', 40)], '50');
    expect(versions(cache)).toEqual({ a: '40' });
    expect(listUids(cache.upsert(thing('c', 51)))).toEqual([[null, 'uid-c']]);
  });

  test('finds present objects by index, and survives an index function that throws', () => {
    const errors: string[] = [];
    const cache = createCache<Thing>(
      {
        owner: (o) => (o.spec.owner ? [o.spec.owner] : []),
        broken: () => {
          throw new Error('no');
        },
      },
      (index) => errors.push(index),
    );
    cache.put(thing('a', 1, 'a', { owner: 'x' }));
    cache.put(thing('b', 2, 'b', { owner: 'x' }));
    expect(cache.byIndex('owner', 'x').map((o) => o.metadata.name)).toEqual(['a', 'b']);
    cache.put(thing('a', 3, 'a', { owner: 'y' }));
    cache.remove(thing('b', 4, 'b', { owner: 'changed meanwhile' }));
    expect(cache.byIndex('owner', 'x')).toEqual([]);
    expect(cache.byIndex('owner', 'y')).toHaveLength(1);
    expect(cache.byIndex('nobody', 'y')).toEqual([]);
    expect(new Set(errors)).toEqual(new Set(['broken']));
  });
});

/**
 * Writes reach a cache by a watch that breaks, by late lists and by upserts at any time. In any order, the cache ends with the server's
 * content, and its changes add up to it.
 */
test('the cache equals the server after any interleaving of lists, watches and own writes', () => {
  const step = fc.record({
    what: fc.constantFrom('write', 'write', 'delete', 'watch', 'watch', 'list', 'upsert', 'forget', 'bookmark'),
    name: fc.constantFrom('a', 'b', 'c'),
    pick: fc.nat(1000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const server = new Map<string, ReturnType<typeof thing>>();
      const log: { type: 'put' | 'remove'; object: ReturnType<typeof thing> }[] = [];
      const cache = createCache<Thing>({ uid: (o) => [o.metadata.uid] });
      const view = new Map<string, string>();
      const forgotten = new Set<string>();
      const applyChanges = (changes: CacheChange<Thing>[]) => {
        for (const { key, current, previous } of changes) {
          expect(view.get(key)).toBe(previous?.metadata.uid);
          if (current && previous) expect(current.metadata.uid).toBe(previous.metadata.uid);
          if (current) view.set(key, current.metadata.uid);
          else view.delete(key);
          if (current) expect(forgotten.has(current.metadata.uid)).toBe(false);
        }
      };
      let version = 1;
      let at = 0;
      /** A list was read and not stored yet: no watch runs meanwhile, but our writes go on. */
      let late: { items: ReturnType<typeof thing>[]; version: number; at: number } | undefined;
      const watchOne = () => {
        const event = log[at];
        if (!event) return;
        at++;
        applyChanges(event.type === 'put' ? cache.put(event.object) : cache.remove(event.object));
      };
      applyChanges(cache.replace([], '1'));
      for (const { what, name, pick } of steps) {
        if (what === 'write') {
          const uid = server.get(name)?.metadata.uid ?? `${name}-${version}`;
          server.set(name, thing(name, ++version, uid));
          log.push({ type: 'put', object: thing(name, version, uid) });
        } else if (what === 'delete') {
          const uid = server.get(name)?.metadata.uid;
          if (!uid) continue;
          server.delete(name);
          log.push({ type: 'remove', object: thing(name, ++version, uid) });
        } else if (what === 'watch') {
          if (!late) watchOne();
        } else if (what === 'list' && late) {
          applyChanges(cache.replace(late.items, String(late.version)));
          at = late.at;
          late = undefined;
        } else if (what === 'list') {
          late = { items: [...server.values()], version, at: log.length };
        } else if (what === 'bookmark' && at > 0 && !late) {
          applyChanges(cache.advance(log[at - 1]?.object.metadata.resourceVersion ?? '1'));
        } else if (what === 'upsert') {
          // Any earlier write may arrive now.
          const event = log[pick % Math.max(1, log.length)];
          if (event?.type === 'put') applyChanges(cache.upsert(event.object));
        } else if (what === 'forget') {
          // Any earlier deletion may be answered now.
          const event = log[pick % Math.max(1, log.length)];
          if (event?.type !== 'remove') continue;
          const changes = cache.forget(event.object);
          applyChanges(changes);
          for (const { previous } of changes) forgotten.add(previous?.metadata.uid ?? '');
        }
      }
      if (late) {
        applyChanges(cache.replace(late.items, String(late.version)));
        at = late.at;
      }
      while (at < log.length) watchOne();
      const expected = Object.fromEntries([...server].map(([name, o]) => [name, o.metadata.resourceVersion]));
      expect(versions(cache)).toEqual(expected);
      expect(view.size).toBe(server.size);
      for (const o of server.values()) expect(cache.byIndex('uid', o.metadata.uid)).toHaveLength(1);
    }),
    { numRuns: 3000 },
  );
});
