/**
 * Stores one collection for a reflector, with indexes. Lists, watch events and our own writes feed it, and it stays
 * right in whatever order they arrive. Pure: no I/O, no clock.
 *
 * resourceVersion decides everything. Kubernetes calls it opaque, but since 1.35 guarantees that the versions of one
 * kind compare as decimal integers of any length (KEP-5504). They are compared as BigInt because they may pass 2^53.
 */
import { getKey } from './paths.ts';
import type { KubeObject, Stored } from './types.ts';

/** `previous` is absent for a creation, `current` for a deletion. */
export interface CacheChange<T extends KubeObject> {
  key: string;
  current: Stored<T> | undefined;
  previous: Stored<T> | undefined;
}

export type Indexes<T extends KubeObject> = Record<string, (object: Stored<T>) => string[]>;

interface CacheEntry<T extends KubeObject> {
  object: Stored<T>;
  version: bigint;
  /**
   * The values under which the object stands in each index, in the order of the indexes. They are stored so that a
   * removal need not call the index function again.
   */
  values: readonly (readonly string[])[];
}

/** The keys under each value of an index. Most values have one key: ten thousand sets of one take megabytes. */
type Index = Map<string, string | Set<string>>;

const NONE: readonly string[] = [];

function addToIndex(index: Index, value: string, key: string): void {
  const keys = index.get(value);
  if (keys === undefined) index.set(value, key);
  else if (typeof keys !== 'string') keys.add(key);
  else if (keys !== key) index.set(value, new Set([keys, key]));
}

function removeFromIndex(index: Index, value: string, key: string): void {
  const keys = index.get(value);
  if (keys === key) index.delete(value);
  else if (typeof keys === 'object' && keys.delete(key) && keys.size === 0) index.delete(value);
}

export interface Cache<T extends KubeObject> {
  get(key: string): Stored<T> | undefined;
  list(): Stored<T>[];
  byIndex(index: string, value: string): Stored<T>[];
  /** Whether any object stands under this value, however many do. */
  has(index: string, value: string): boolean;
  /** The values of an index under which an object is found. */
  values(index: string): string[];
  readonly size: number;
  /** Whether lists and the watch have delivered everything up to this version. */
  hasSeen(resourceVersion: string): boolean;
  /** Replaces the whole collection by its state at `resourceVersion`. */
  replace(items: Stored<T>[], resourceVersion: string): CacheChange<T>[];
  /** Applies a watch event ADDED or MODIFIED. */
  put(object: Stored<T>): CacheChange<T>[];
  /** Applies a watch event DELETED; its object carries the version of the deletion. */
  remove(object: Stored<T>): CacheChange<T>[];
  /** Applies a bookmark: the watch has delivered everything up to this version. */
  advance(resourceVersion: string): CacheChange<T>[];
  /** Adds an object as a write of ours returned it. The watch may deliver it, or its deletion, before or after. */
  upsert(object: Stored<T>): CacheChange<T>[];
  /**
   * Removes an object that our own deletion ended at once, even if lists and the watch still deliver it for a while.
   */
  forget(object: Stored<T>): CacheChange<T>[];
  /** Removes everything: the namespace of the collection is gone. */
  clear(): CacheChange<T>[];
}

/** `onIndexError` is called for an index function that threw; that index then leaves the object out. */
export function createCache<T extends KubeObject>(
  indexes: Indexes<T> = {},
  onIndexError: (index: string, key: string, error: unknown) => void = () => {},
): Cache<T> {
  const entries = new Map<string, CacheEntry<T>>();
  const names = Object.keys(indexes);
  const indexed = new Map<string, Index>(names.map((name) => [name, new Map()]));
  /** Keys of entries from our own writes that the watch has not delivered yet. */
  const own = new Set<string>();
  /** UIDs of forgotten objects that may still be delivered, with the version at which each was last known to exist. */
  const ended = new Map<string, bigint>();
  /** The newest version that lists and the watch have delivered. */
  let seen = 0n;

  const computeValues = (key: string, object: Stored<T>): CacheEntry<T>['values'] =>
    Object.entries(indexes).map(([index, values]) => {
      try {
        const found = values(object);
        return found.length === 0 ? NONE : [...new Set(found)];
      } catch (error) {
        onIndexError(index, key, error);
        return NONE;
      }
    });

  const eachValue = (entry: CacheEntry<T>, visit: (index: Index, value: string) => void): void => {
    let n = 0;
    for (const index of indexed.values()) for (const value of entry.values[n++] ?? NONE) visit(index, value);
  };

  const unindex = (key: string, entry: CacheEntry<T>): void =>
    eachValue(entry, (index, value) => removeFromIndex(index, value, key));

  const drop = (key: string): CacheChange<T>[] => {
    const entry = entries.get(key);
    if (!entry) return [];
    unindex(key, entry);
    entries.delete(key);
    own.delete(key);
    return [{ key, current: undefined, previous: entry.object }];
  };

  /** Stores an object known to be newer. Another UID under the same key counts as a deletion and a creation. */
  const store = (key: string, object: Stored<T>, version: bigint, isOwn: boolean): CacheChange<T>[] => {
    const before = entries.get(key);
    const successor = before !== undefined && before.object.metadata.uid !== object.metadata.uid;
    const changes = successor ? drop(key) : [];
    if (before && !successor) unindex(key, before);
    const entry = { object, version, values: computeValues(key, object) };
    entries.set(key, entry);
    eachValue(entry, (index, value) => addToIndex(index, value, key));
    if (isOwn) own.add(key);
    else own.delete(key);
    return [...changes, { key, current: object, previous: successor ? undefined : before?.object }];
  };

  /** Stores an object from a list or the watch, unless a write of ours is newer. */
  const collectChanges = (object: Stored<T>): CacheChange<T>[] => {
    if (ended.has(object.metadata.uid)) return [];
    const key = getKey(object);
    const version = BigInt(object.metadata.resourceVersion);
    const before = entries.get(key);
    if (before && before.version > version) return [];
    if (before?.version === version) {
      own.delete(key);
      return [];
    }
    return store(key, object, version, false);
  };

  /**
   * Our own writes that the watch has passed without delivering them: the object left the selection or was deleted
   * before our write's answer arrived.
   */
  const passed = (): CacheChange<T>[] => {
    if (own.size === 0) return [];
    const gone = [...own].filter((key) => (entries.get(key)?.version ?? 0n) <= seen);
    return gone.flatMap(drop);
  };

  const raise = (version: bigint): void => {
    if (version > seen) seen = version;
  };

  const pick = (keys: Iterable<string>): Stored<T>[] => {
    const objects: Stored<T>[] = [];
    for (const key of keys) {
      const entry = entries.get(key);
      if (entry) objects.push(entry.object);
    }
    return objects;
  };

  return {
    get: (key) => entries.get(key)?.object,
    list: () => pick(entries.keys()),
    byIndex: (index, value) => {
      const keys = indexed.get(index)?.get(value) ?? NONE;
      return pick(typeof keys === 'string' ? [keys] : keys);
    },
    has: (index, value) => indexed.get(index)?.has(value) ?? false,
    values: (index) => [...(indexed.get(index)?.keys() ?? [])],
    get size() {
      return entries.size;
    },
    hasSeen: (resourceVersion) => seen >= BigInt(resourceVersion),
    replace(items, resourceVersion) {
      const version = BigInt(resourceVersion);
      // A list is never older than what we have seen, unless etcd was restored from a backup: then nothing we hold
      // counts.
      const rewound = version < seen;
      // The watch after a list never deletes an object that the list leaves out, unless it was created after the list
      // was read. An object in a restored list exists again.
      const listed = new Set(items.map(({ metadata }) => metadata.uid));
      for (const [uid, known] of ended) if (rewound || (known <= version && !listed.has(uid))) ended.delete(uid);
      const keys = new Set(items.map(getKey));
      const changes: CacheChange<T>[] = [];
      for (const [key, entry] of [...entries]) {
        if (rewound) entry.version = -1n;
        if (!keys.has(key) && entry.version <= version) changes.push(...drop(key));
      }
      for (const item of items) changes.push(...collectChanges(item));
      seen = version;
      return changes;
    },
    put(object) {
      const version = BigInt(object.metadata.resourceVersion);
      // A watch delivers versions in order, so an older version is a repetition: the object may be gone since.
      const changes = version <= seen ? [] : collectChanges(object);
      raise(version);
      return [...changes, ...passed()];
    },
    remove(object) {
      const key = getKey(object);
      const version = BigInt(object.metadata.resourceVersion);
      const entry = entries.get(key);
      const changes = entry && entry.version <= version ? drop(key) : [];
      ended.delete(object.metadata.uid);
      raise(version);
      return [...changes, ...passed()];
    },
    advance(resourceVersion) {
      raise(BigInt(resourceVersion));
      return passed();
    },
    upsert(object) {
      const key = getKey(object);
      const version = BigInt(object.metadata.resourceVersion);
      // The watch has delivered everything up to `seen`, deletions included: an older object must not be resurrected.
      if (version <= seen || ended.has(object.metadata.uid)) return [];
      const before = entries.get(key);
      if (before && before.version >= version) return [];
      return store(key, object, version, true);
    },
    forget(object) {
      const key = getKey(object);
      const { uid } = object.metadata;
      const entry = entries.get(key);
      if (entry?.object.metadata.uid !== uid) return [];
      ended.set(uid, entry.version);
      return drop(key);
    },
    clear() {
      ended.clear();
      return [...entries.keys()].flatMap(drop);
    },
  };
}
