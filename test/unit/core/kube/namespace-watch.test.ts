/** Tests the caches of several namespaces over an API server that refuses some of them. */
import { afterEach, describe, expect, it } from 'vitest';
import { type NamespaceWatch, watchNamespaces } from '../../../../src/core/kube/namespace-watch.ts';
import type { Reflector } from '../../../../src/core/kube/reflector.ts';
import { type Kube, KubeError, type Stored } from '../../../../src/core/kube/types.ts';
import { holdBack } from '../../../../src/core/operator/caches/hold-back.ts';
import { silent, THINGS, type Thing, thing } from '../../../kit/real/kube.ts';
import { until } from '../../../kit/wait.ts';

const inNamespace = (namespace: string, name: string, version = 1): Stored<Thing> => {
  const made = thing(name, version, `uid-${namespace}-${name}`, { owner: name });
  return { ...made, metadata: { ...made.metadata, namespace } };
};

/** An API server with these collections; it refuses every other namespace, and has no others but those in `ending`. */
function createServer(collections: Map<string, Stored<Thing>[]>, ending = new Set<string>()) {
  let version = 1;
  const refuse = () => {
    throw new KubeError(403, 'Forbidden', 'things is forbidden');
  };
  const kube = {
    page: async (_: unknown, { namespace = '' }: { namespace?: string }) => {
      version++;
      return { items: collections.get(namespace) ?? refuse(), resourceVersion: String(version), continue: undefined };
    },
    // It streams no collections. Each watch ends after a moment, and the next one is refused where the namespace is gone.
    async *watch(_: unknown, { namespace = '', resourceVersion }: { namespace?: string; resourceVersion?: string }) {
      if (resourceVersion === undefined) throw new KubeError(422, 'Invalid', 'sendInitialEvents: Forbidden');
      if (!collections.has(namespace)) refuse();
      version = Number(resourceVersion) + 1;
      yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } };
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
    get: async (_: unknown, __: string, name: string) => {
      if (ending.has(name)) return { metadata: { name, deletionTimestamp: '2026-01-01T00:00:00Z' } };
      if (!collections.has(name)) throw new KubeError(404, 'NotFound', 'not found');
      return { metadata: { name } };
    },
  };
  return kube as unknown as Kube;
}

let stop = new AbortController();
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

function start(watched: readonly string[], collections: Map<string, Stored<Thing>[]>) {
  const namespaces = watchNamespaces(createServer(collections), watched, silent);
  const cache = namespaces.createCache(THINGS, { indexes: { owner: ({ spec }) => [spec.owner ?? ''] } });
  const changes: string[] = [];
  cache.onChange((key, current, previous) => changes.push(`${key} ${current ? (previous ? '=' : '+') : '-'}`));
  cache.start(stop.signal);
  return { namespaces, cache, changes };
}
const listNames = (cache: Reflector<Thing>) =>
  cache.list().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
const states = (namespaces: NamespaceWatch) => Object.fromEntries(namespaces.states());

describe('caches of several namespaces', () => {
  it('are one cache', async () => {
    const collections = new Map([
      ['a', [inNamespace('a', 'one'), inNamespace('a', 'two')]],
      ['b', [inNamespace('b', 'one')]],
    ]);
    const { cache, changes } = start(['a', 'b'], collections);
    await cache.synced;
    expect(listNames(cache).sort()).toEqual(['a/one', 'a/two', 'b/one']);
    expect(changes.sort()).toEqual(['a/one +', 'a/two +', 'b/one +']);
    expect(cache.get('b', 'one')?.metadata.uid).toBe('uid-b-one');
    expect([cache.get('b', 'two'), cache.get('c', 'one')]).toEqual([undefined, undefined]);
    expect(cache.byIndex('owner', 'one').map(({ metadata }) => metadata.namespace)).toEqual(['a', 'b']);
    expect([cache.has('owner', 'two'), cache.has('owner', 'three')]).toEqual([true, false]);
    cache.upsert(inNamespace('b', 'new', 1_000_000));
    cache.upsert(inNamespace('c', 'elsewhere', 1_000_000));
    expect(changes.slice(3)).toEqual(['b/new +']);
    cache.forget(inNamespace('a', 'one'));
    expect(listNames(cache).sort()).toEqual(['a/two', 'b/new', 'b/one']);
    expect(cache.stats().objects).toBe(3);
  });

  it('wait for none that cannot be read, and have it when it can', async () => {
    const collections = new Map([['a', [inNamespace('a', 'one')]]]);
    const { namespaces, cache } = start(['a', 'b'], collections);
    const filled: string[] = [];
    namespaces.onFilled((namespace) => filled.push(namespace));
    await cache.synced;
    expect(states(namespaces)).toEqual({ a: true, b: false });
    expect([namespaces.isFilled('a'), namespaces.isFilled('b')]).toEqual([true, false]);
    const reconciled: string[] = [];
    const reconcile = holdBack(namespaces, async (key) => {
      reconciled.push(key);
      return undefined;
    });
    await reconcile('a/one');
    await reconcile('b/one');
    expect(reconciled).toEqual(['a/one']);
    collections.set('b', [inNamespace('b', 'one')]);
    await until('the other one is filled', () => namespaces.isFilled('b'));
    expect(states(namespaces)).toEqual({ a: true, b: true });
    expect(filled).toEqual(['a', 'b']);
    expect(listNames(cache)).toEqual(['a/one', 'b/one']);
  });

  it('say of each namespace what has been seen of it', async () => {
    const { namespaces, cache } = start(['a', 'b'], new Map([['a', [inNamespace('a', 'one')]]]));
    await cache.synced;
    await until('the other one is refused again', () => cache.ageMs('b') > 0);
    expect([namespaces.isFilled('b'), cache.ageMs('a')]).toEqual([false, 0]);
    expect(cache.ageMs()).toBeGreaterThan(0);
    expect([cache.hasSeen('1', 'a'), cache.hasSeen('1', 'b'), cache.hasSeen('1')]).toEqual([true, false, false]);
  });

  it('forget what was in a namespace that is gone, and nothing else', async () => {
    const collections = new Map([
      ['a', [inNamespace('a', 'one')]],
      ['b', [inNamespace('b', 'one')]],
    ]);
    const { namespaces, cache, changes } = start(['a', 'b'], collections);
    await cache.synced;
    collections.delete('b');
    await until('it is forgotten', () => changes.includes('b/one -'));
    expect(listNames(cache)).toEqual(['a/one']);
    expect(states(namespaces)).toEqual({ a: true, b: false });
    expect(namespaces.isFilled('b')).toBe(false);
  });
});

it('objects of a namespace that is being deleted are read one by one where lists are refused', async () => {
  const collections = new Map([['a', ['kept', 'gone', 'late'].map((name) => inNamespace('a', name))]]);
  const ending = new Set<string>();
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  let isLate = true;
  const namespaces = watchNamespaces(createServer(collections, ending), ['a'], silent);
  const cache = namespaces.createCache(THINGS, {
    readEnding: async (object) => {
      const { name } = object.metadata;
      if (name === 'late' && isLate) throw new KubeError(0, 'Unreachable', 'not now');
      if (name !== 'kept') return undefined;
      return { ...object, metadata: { ...object.metadata, deletionTimestamp, resourceVersion: '1000000' } };
    },
  });
  cache.start(stop.signal);
  await cache.synced;
  ending.add('a');
  collections.delete('a');
  await until('one is gone', () => cache.get('a', 'gone') === undefined);
  await until('one was read', () => cache.get('a', 'kept')?.metadata.deletionTimestamp === deletionTimestamp);
  expect(cache.get('a', 'late')).toBeDefined();
  expect([namespaces.isFilled('a'), states(namespaces)]).toEqual([true, { a: false }]);
  isLate = false;
  await until('the last one is read again', () => cache.get('a', 'late') === undefined);
  ending.clear();
  await until('all is forgotten with the namespace', () => cache.list().length === 0);
});

it('the cache of a single namespace waits until it can be read', async () => {
  const collections = new Map<string, Stored<Thing>[]>();
  const { namespaces, cache } = start(['a'], collections);
  let isSynced = false;
  void cache.synced.then(() => {
    isSynced = true;
  });
  await until('it was refused', () => states(namespaces).a === false);
  expect(isSynced).toBe(false);
  collections.set('a', [inNamespace('a', 'one')]);
  await cache.synced;
  expect(listNames(cache)).toEqual(['a/one']);
});

it('the cache of all namespaces is one watch, of which each namespace is filled', async () => {
  const collections = new Map([['', [inNamespace('a', 'one'), inNamespace('b', 'one')]]]);
  const namespaces = watchNamespaces(createServer(collections), 'all', silent);
  const cache = namespaces.createCache(THINGS);
  cache.start(stop.signal);
  await cache.synced;
  expect(cache.stats().lists).toBe(1);
  expect(listNames(cache)).toEqual(['a/one', 'b/one']);
  expect([namespaces.isFilled('a'), namespaces.states()]).toEqual([true, []]);
});
