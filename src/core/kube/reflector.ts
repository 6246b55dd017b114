/**
 * Keeps a cache equal to a collection of the API server: list, then watch, again and again until the signal aborts.
 * Every error of the server or the network leads back to the watch, or to a new list.
 *
 * A watch whose other end vanished silently (a proxy or a NAT that forgot it) looks like an idle one. HTTP/1.1 has no
 * ping, the proxy answers TCP's keepalive, and bookmarks come once a minute. A LIST of one object would return the
 * collection's version. That is etcd's revision, which every write to anything raises, so that it differs nearly always
 * and proves nothing.
 *
 * The end of a watch does prove something: the server ends each watch after WATCH_SECONDS, orderly and with a bookmark
 * 2 s before. The next watch takes the same connection and continues from that bookmark. This costs the API server one
 * small request and a look into its watch cache, however many objects there are. A watch that is not over in time is
 * dead, or so slow that it might as well be.
 */
import { type Backoff, backoffMs, exponentialMs } from '../lib/backoff.ts';
import { sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { forEachConcurrently } from '../lib/pool.ts';
import { type CacheChange, createCache, type Indexes } from './cache.ts';
import { WATCH_GRACE_MS } from './client.ts';
import { readNamespaceState } from './namespace.ts';
import { getKey, objectKey } from './paths.ts';
import { shareParts } from './share.ts';
import {
  INITIAL_EVENTS_END,
  type Kube,
  KubeError,
  type KubeObject,
  type ListOptions,
  type Resource,
  type Stored,
} from './types.ts';

const PAGE_SIZE = 500;
/** With the client's grace of 1.5 s and a new connection, what a dead watch kept back is known within 10 s. */
const WATCH_SECONDS = 5;
/** The grace grows with each failure up to this: on a machine where all is late, a watch in its place would be as late. */
const MAX_WATCH_GRACE_MS = 30_000;
/** Time for a collection to come as a stream, which has no other limit while something comes. */
const STREAM_SECONDS = 120;
/** A late page is requested again over another connection, with more patience after each failure. */
const PAGE_TIMEOUT_MS = 4_000;
const MAX_PAGE_TIMEOUT_MS = 30_000;
/** A restarted API server must be found again within seconds, so the waits do not grow beyond `maxMs`. */
const BACKOFF: Backoff = { baseMs: 200, maxMs: 8_000 };
/** A server that cannot serve the version we ask for does not always say Expired: list anew after so many bare failures. */
const FAILURES_BEFORE_RELIST = 5;

export type ChangeHandler<T extends KubeObject> = (
  key: string,
  current: Stored<T> | undefined,
  previous: Stored<T> | undefined,
) => void;

export interface ReflectorOptions<T extends KubeObject> extends ListOptions {
  /** Name → the values under which an object is found by `byIndex`. */
  indexes?: Indexes<T>;
  /**
   * Returns the part of an object to keep: with thousands of objects, unread parts are most of the memory. The default
   * keeps all of it.
   */
  keep?: (object: Stored<T>) => Stored<T>;
  /**
   * Reads one object of a namespace that is being deleted, or answers undefined when it is gone. Kubernetes deletes the
   * Roles of such a namespace in no order with the rest. Where they go first, lists and watches are refused, and the
   * deletion of an object that waits for a finalizer would never be seen. A rejected read is retried.
   */
  readEnding?: (object: Stored<T>, kube: Kube, resource: Resource<T>) => Promise<Stored<T> | undefined>;
  observer?: ReflectorObserver;
  log: Logger;
}

/** Observes the lists of a reflector. */
export interface ReflectorObserver {
  /** The whole collection was listed. */
  listed(): void;
  /** The API server refused it: the rights are missing, or the namespace is and the rights with it. It is retried. */
  refused(error: KubeError): void;
  /** The namespace does not exist, so the cache is empty now. */
  cleared(): void;
}

export interface Reflector<T extends KubeObject> {
  /** Begins; ends when the signal aborts. */
  start(signal: AbortSignal): void;
  /** Resolves after the first whole list; rejects only when the signal aborts before that. */
  readonly synced: Promise<void>;
  /** The caller must not change what it gets: these are the cache's own objects. */
  get(namespace: string, name: string): Stored<T> | undefined;
  list(): Stored<T>[];
  byIndex(index: string, value: string): Stored<T>[];
  /** Whether any object stands under this value, however many do. */
  has(index: string, value: string): boolean;
  /** The values of an index under which an object is found. */
  values(index: string): string[];
  /** Whether it has received everything up to this version: of one namespace, or of all that it watches. */
  hasSeen(resourceVersion: string, namespace?: string): boolean;
  /**
   * Adds an object that a write of ours returned, so that it is read before the watch delivers it. Older versions are
   * dropped.
   */
  upsert(object: Stored<T>): void;
  /** Takes out what a deletion of ours has ended at once, and does not let the watch bring it back. */
  forget(object: Stored<T>): void;
  /**
   * Calls the handler once for each change, also for those that `upsert` makes. A creation has no `previous`, a
   * deletion no `current`. Keys are `namespace/name`. Errors of a handler are logged. Returns a function that removes
   * the handler. With `replay` the handler first receives all present objects as creations.
   */
  onChange(handler: ChangeHandler<T>, options?: { replay?: boolean }): () => void;
  /**
   * Milliseconds by which the cache may be stale: 0 while the API server sends, else the time since it last did. A
   * silently broken watch is noticed within WATCH_SECONDS and the client's grace. Of one namespace, or of all that it
   * watches.
   */
  ageMs(namespace?: string): number;
  /** For metrics and tests. `heardMs`: the time since the API server last sent anything, even a bookmark. */
  stats(): { objects: number; lists: number; watches: number; errors: number; heardMs: number };
}

/** A whole collection, as it was at one moment. */
interface Listed<T extends KubeObject> {
  items: Stored<T>[];
  version: string;
}

const asCreations = <T extends KubeObject>(objects: Stored<T>[]): CacheChange<T>[] =>
  objects.map((current) => ({ key: getKey(current), current, previous: undefined }));

export function createReflector<T extends KubeObject>(
  kube: Kube,
  resource: Resource<T>,
  options: ReflectorOptions<T>,
): Reflector<T> {
  const { namespace, labelSelector, fieldSelector, indexes, keep = (object) => object, readEnding, observer } = options;
  const log = options.log.child({ resource: resource.plural });
  const selection: ListOptions = {
    ...(namespace ? { namespace } : {}),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
  const cache = createCache<T>(indexes, (index, key, err) => log.error({ index, key, err }, 'an index function threw'));
  /** The last object that came: its neighbours are like it. */
  let model: Stored<T> | undefined;
  const take = (object: Stored<T>): Stored<T> => {
    model = shareParts(keep(object), cache.get(getKey(object)) ?? model);
    return model;
  };
  const handlers = new Set<ChangeHandler<T>>();
  const { promise: synced, resolve: markSynced, reject: failSynced } = Promise.withResolvers<void>();
  // Nobody may be waiting for it when the process stops early.
  synced.catch(() => {});
  const count = { lists: 0, watches: 0, errors: 0 };
  let lastContactAt = performance.now();
  const recordContact = (): void => {
    lastContactAt = performance.now();
  };
  let failures = 0;

  const notifyHandlers = (changes: CacheChange<T>[], to: Iterable<ChangeHandler<T>> = handlers): void => {
    for (const { key, current, previous } of changes) {
      for (const handler of to) {
        try {
          handler(key, current, previous);
        } catch (err) {
          log.error({ key, err }, 'a change handler threw');
        }
      }
    }
  };

  /** False once the API server has said that it streams no collections: by default, Kubernetes 1.33 does not. */
  let isStreamed = true;

  /** Reads the collection as a stream. Each object is decoded by itself, so no large response is in memory. */
  const readStream = async (signal: AbortSignal, stallMs: number): Promise<Listed<T>> => {
    const items = new Map<string, Stored<T>>();
    const watch = { ...selection, signal, timeoutSeconds: STREAM_SECONDS, stallMs };
    for await (const { type, object } of kube.watch(resource, watch)) {
      recordContact();
      if (type === 'DELETED') items.delete(getKey(object));
      else if (type !== 'BOOKMARK') items.set(getKey(object), take(object));
      else if (object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true')
        return { items: [...items.values()], version: object.metadata.resourceVersion };
    }
    signal.throwIfAborted();
    throw new KubeError(0, 'Unreachable', `The list of ${resource.plural} was not complete in time.`);
  };

  const readPages = async (signal: AbortSignal, timeoutMs: number): Promise<Listed<T>> => {
    const page = { ...selection, limit: PAGE_SIZE, timeoutMs };
    const first = await kube.page(resource, page);
    const items = first.items.map(take);
    for (let token = first.continue; token && !signal.aborted; ) {
      const next = await kube.page(resource, { ...page, continue: token });
      items.push(...next.items.map(take));
      token = next.continue;
    }
    signal.throwIfAborted();
    return { items, version: first.resourceVersion };
  };

  const read = async (signal: AbortSignal): Promise<Listed<T>> => {
    const timeoutMs = exponentialMs({ baseMs: PAGE_TIMEOUT_MS, maxMs: MAX_PAGE_TIMEOUT_MS }, failures);
    if (!isStreamed) return readPages(signal, timeoutMs);
    try {
      return await readStream(signal, timeoutMs);
    } catch (error) {
      if (!(error instanceof KubeError) || (error.status !== 422 && error.status !== 400)) throw error;
      isStreamed = false;
      return readPages(signal, timeoutMs);
    }
  };

  /** Lists the whole collection, as it was at one moment, and returns its version. */
  const list = async (signal: AbortSignal): Promise<string> => {
    const { items, version } = await read(signal);
    notifyHandlers(cache.replace(items, version));
    count.lists++;
    recordContact();
    markSynced();
    observer?.listed();
    return version;
  };

  /**
   * Follows one watch to its end and returns the version it reached. `reached` is called for each step, in case it
   * throws.
   */
  const follow = async (from: string, signal: AbortSignal, reached: (version: string) => void): Promise<void> => {
    count.watches++;
    const graceMs = exponentialMs({ baseMs: WATCH_GRACE_MS, maxMs: MAX_WATCH_GRACE_MS }, failures);
    const watch = { ...selection, resourceVersion: from, signal, timeoutSeconds: WATCH_SECONDS, graceMs };
    let furthest = BigInt(from);
    for await (const event of kube.watch(resource, watch)) {
      const version = event.object.metadata.resourceVersion;
      recordContact();
      if (event.type === 'BOOKMARK') notifyHandlers(cache.advance(version));
      else notifyHandlers(event.type === 'DELETED' ? cache.remove(event.object) : cache.put(take(event.object)));
      // A repeated event arrives late, and must not lead us back.
      if (BigInt(version) > furthest) {
        furthest = BigInt(version);
        reached(version);
      }
      failures = 0;
    }
    recordContact();
  };

  const readEach = async (signal: AbortSignal): Promise<void> => {
    if (!readEnding) return;
    const readOne = async (object: Stored<T>) => {
      const found = await readEnding(object, kube, resource);
      notifyHandlers(found ? cache.upsert(take(found)) : cache.forget(object));
    };
    try {
      await forEachConcurrently(cache.list(), readOne, signal);
    } catch (err) {
      log.debug({ err }, 'an object of a namespace that is being deleted could not be read; it is retried');
    }
  };

  /** A deleted namespace takes its objects along, and our right to watch their deletion. */
  const refuse = async (error: KubeError, signal: AbortSignal): Promise<void> => {
    observer?.refused(error);
    if (!namespace) return;
    const state = await readNamespaceState(kube, namespace).catch(() => 'unknown');
    if (state === 'ending') return readEach(signal);
    if (state !== 'gone') return;
    notifyHandlers(cache.clear());
    observer?.cleared();
  };

  const pause = (signal: AbortSignal): Promise<void> => sleep(backoffMs(BACKOFF, failures), signal);

  /** One turn: a list if we have no version, then a watch. Answers the version to go on from, undefined to list anew. */
  const turn = async (version: string | undefined, signal: AbortSignal): Promise<string | undefined> => {
    let at = version;
    const before = performance.now();
    try {
      if (at === undefined) at = await list(signal);
      const from = at;
      await follow(from, signal, (reached) => {
        at = reached;
      });
      // A watch that the server ends at once, and without events, would otherwise be repeated without a pause.
      if (at === from && performance.now() - before < 1_000) failures++;
      else failures = 0;
    } catch (err) {
      if (signal.aborted) return at;
      failures++;
      count.errors++;
      const expired = err instanceof KubeError && (err.status === 410 || err.status === 400 || err.status === 504);
      const refused = observer !== undefined && err instanceof KubeError && err.status === 403;
      const level = refused ? 'debug' : expired || failures === 1 ? 'info' : 'warn';
      log[level]({ err, failures }, 'a list or watch failed; it is retried');
      if (refused) await refuse(err, signal);
      if (expired || refused || failures % FAILURES_BEFORE_RELIST === 0) at = undefined;
    }
    if (failures > 0 && !signal.aborted) await pause(signal);
    return at;
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    let version: string | undefined;
    while (!signal.aborted) {
      // `turn` catches what it can foresee; this catch is why the loop cannot end by a mistake of ours either.
      try {
        version = await turn(version, signal);
      } catch (err) {
        if (signal.aborted) break;
        log.error({ err }, 'the reflector restarts after an unexpected error');
        version = undefined;
        await sleep(1_000, signal).catch(() => {});
      }
    }
    failSynced(signal.reason);
  };

  return {
    start: (signal) => void run(signal),
    synced,
    get: (objectNamespace, name) => cache.get(objectKey(resource.namespaced ? objectNamespace : undefined, name)),
    list: () => cache.list(),
    byIndex: (index, value) => cache.byIndex(index, value),
    has: (index, value) => cache.has(index, value),
    values: (index) => cache.values(index),
    hasSeen: (resourceVersion) => cache.hasSeen(resourceVersion),
    upsert: (object) => {
      if (namespace && object.metadata.namespace !== namespace) return;
      notifyHandlers(cache.upsert(take(object)));
    },
    forget: (object) => notifyHandlers(cache.forget(object)),
    ageMs: () => (failures > 0 ? performance.now() - lastContactAt : 0),
    onChange: (handler, { replay = false } = {}) => {
      handlers.add(handler);
      if (replay) notifyHandlers(asCreations(cache.list()), [handler]);
      return () => void handlers.delete(handler);
    },
    stats: () => ({ objects: cache.size, ...count, heardMs: performance.now() - lastContactAt }),
  };
}
