/**
 * Reads an account's resources of one kind from a reflector's cache, and writes them to Kubernetes. It is the only place that
 * restricts an account to objects with its label in its namespace, and a request to those within the reach of its API key
 * (lib/reach.ts), and that makes a write visible to the next read.
 */
import { monotonicFactory } from 'ulid';
import { EVENTS, type KubeEvent } from '../../../core/kube/core.ts';
import { objectKey } from '../../../core/kube/paths.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import {
  hasReason,
  type Kube,
  KubeError,
  type KubeObject,
  type ObjectMeta,
  type Resource,
  type Stored,
} from '../../../core/kube/types.ts';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { currentIntent } from '../../../core/lib/context.ts';
import { currentTraceparent } from '../../../core/lib/tracing/tracing.ts';
import { type Labels, readLabel, readLabels, toKubeLabels } from '../../../core/resources/common/labels.ts';
import { ACCOUNT_LABEL } from '../../../core/resources/common/names.ts';
import { annotateTrace } from '../../../core/resources/common/trace.ts';
import { AppError, type ErrorCode } from '../../lib/errors.ts';
import { type Connection, type FilteredArgs, NEWEST_FIRST } from '../../lib/list-page.ts';
import { connect } from '../../lib/paging/connection.ts';
import { createFollowers } from '../../lib/paging/followers.ts';
import { createGroups } from '../../lib/paging/groups.ts';
import { createTest, type NounList, placeOf, readsTime } from '../../lib/paging/noun-list.ts';
import { createViews } from '../../lib/paging/views.ts';
import { currentReach, isReached, keepWithin, narrowFilter, requireWithin } from '../../lib/reach.ts';
import type { Cells } from '../cells/cells.ts';
import type { LoadLimit } from './loads.ts';
import type { WriteLimit } from './writes.ts';

/** Time for the watch to deliver an object that another server created. */
const SEEN_MS = 5_000;

export interface OwnedResourcesOptions<T extends KubeObject> {
  kube: Kube;
  resource: Resource<T>;
  /** Of all namespaces of accounts. Needs the indexes of `referring`. */
  reflector: Reflector<T>;
  cells: Pick<Cells, 'getNamespace' | 'getReadable' | 'isReadable'>;
  writes: WriteLimit;
  loads: LoadLimit;
  prefix: string;
  /** Word for messages, e.g. `stream`. */
  noun: string;
  notFound: ErrorCode;
  list: NounList<NoInfer<Stored<T>>>;
  /** An object that is being deleted is gone for its account, although a finalizer keeps it for a moment. */
  hidesDeleted?: boolean;
  /** Ends all waiting: a server that stops gets no more events. */
  stopping?: AbortSignal;
  clock?: Clock;
}

export interface PatchOptions {
  subresource?: 'status';
  /** It belongs to a request that was admitted, so it is counted and never refused. A status always does. */
  completes?: boolean;
  /** It takes something off air, which stays possible longer. */
  takesAway?: boolean;
  /** Kubernetes accepts or refuses it as ever, and writes nothing. Returns the object as it would be. */
  dryRun?: boolean;
}

/** Names an object to read again; its new state is in the cache. */
export interface OwnedChange {
  id: string;
  change: 'created' | 'updated' | 'deleted';
}

/** `T` is the stored kind, e.g. LoopStream. */
export interface OwnedResources<T extends Stored<KubeObject>> {
  /** Ids are `<prefix>-<ulid>`. */
  readonly prefix: string;
  /** Also finds what the request may not see, which others name: show nothing of it. */
  find(accountId: string, id: string): T | undefined;
  /** Finds what a request names. */
  seek(accountId: string, id: string): T | undefined;
  /** Throws `<noun>_not_found`, also for an object of another account and for one beyond the reach of the request. All reads throw `upstream_unavailable` while the account's namespace cannot be read. */
  get(accountId: string, id: string): T;
  /** Lists all objects, also those that the request may not see. Callers read them at once and do not change them. */
  list(accountId: string): readonly T[];
  /** Lists the objects that an index finds under `value`, also those that the request may not see. */
  referring(accountId: string, index: string, value: string): T[];
  /** Returns a page of the objects within reach that match `where` (by default all), newest first unless `args` says otherwise. */
  page<R>(accountId: string, args: FilteredArgs, show: (item: T) => R, where?: (item: T) => boolean): Connection<R>;
  /** Rejects with `too_many_writes`, for a request that writes something else before its object. */
  admit(accountId: string): Promise<void>;
  /**
   * Creates an object under a new id, within the reach of the request; a retried request finds the object that it already created. Rejects with
   * `too_many_writes`, as `patch` does.
   */
  create(
    accountId: string,
    spec: (id: string) => T['spec'],
    metadata?: Pick<ObjectMeta, 'annotations' | 'finalizers'> & { labels?: Labels | undefined },
  ): Promise<T>;
  /** Returns the object that an earlier try of this request created, if `create` is the next call. */
  earlier(accountId: string): T | undefined;
  /** Applies a JSON merge patch to the object or its status. */
  patch(object: T, patch: unknown, options?: PatchOptions): Promise<T>;
  /**
   * Deletes an object, however much was written: the next read does not find it, or finds it marked as deleted while a finalizer
   * keeps it.
   */
  delete(object: T): Promise<void>;
  /** Lists the events of an object that Kubernetes keeps, in no order. */
  listEvents(object: T): Promise<Stored<KubeEvent>[]>;
  /** Removes a finalizer of a deleted object, whose work is done. Where another write comes first, the operator removes it. */
  release(object: T, finalizer: string): Promise<void>;
  /**
   * Resolves with true as soon as `holds` is true for the object (undefined: it is gone). Resolves with false after `ms`, or when
   * `signal` aborts.
   */
  until(
    accountId: string,
    id: string,
    holds: (object: T | undefined) => boolean,
    ms: number,
    signal?: AbortSignal,
  ): Promise<boolean>;
  /** Resolves with true as soon as this server's cache contains a write of another server, or with false after `ms`. */
  caughtUp(accountId: string, written: { name: string; resourceVersion: string }, ms: number): Promise<boolean>;
  /**
   * Returns whether the cache of the account's namespace contains the id, in any account. It returns true before the first list, since
   * an empty cache proves nothing.
   */
  isKnown(accountId: string, id: string): boolean;
  /** Reads an object from Kubernetes that another server may have created a moment ago, unless too many led to nothing. */
  load(accountId: string, id: string): Promise<void>;
  /** Reports each change of an account's objects from now on, whatever the reach of a request. Returns a function that ends it. */
  follow(accountId: string, onChange: (change: OwnedChange) => void): () => void;
}

/** Names in Kubernetes (RFC 1123); another text would be a part of a selector. */
const OBJECT_NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;

const readAccount = (object: { metadata: ObjectMeta }): string | undefined => object.metadata.labels?.[ACCOUNT_LABEL];

/** Identifies an account's objects: a label in another namespace than the account's own gives nobody an object. */
const readOwner = (object: { metadata: ObjectMeta }): string | undefined => {
  const accountId = readAccount(object);
  return accountId === undefined ? undefined : objectKey(object.metadata.namespace, accountId);
};

const ulid = monotonicFactory();

/** Returns a new public id: `str-01k…`. Later ids sort after earlier ones. */
export const newId = (prefix: string): string => `${prefix}-${ulid().toLowerCase()}`;

export function createOwnedResources<T extends KubeObject>(
  options: OwnedResourcesOptions<T>,
): OwnedResources<Stored<T>> {
  const { kube, resource, reflector, cells, writes, loads, prefix, noun, notFound, stopping } = options;

  const { list, clock = systemClock, hidesDeleted = false } = options;
  const seen = (object: Stored<T> | undefined) =>
    hidesDeleted && object?.metadata.deletionTimestamp !== undefined ? undefined : object;
  const byOwner = createGroups<Stored<T>>(readOwner, placeOf(list, NEWEST_FIRST.by, clock.now()));
  const views = createViews<Stored<T>>(readOwner);
  reflector.onChange(
    (_key, current, previous) => {
      byOwner.change(seen(current), seen(previous));
      views.change(seen(current), seen(previous));
    },
    { replay: true },
  );

  const missing = (id: string) => new AppError(notFound, `The account has no ${noun} ${id.slice(0, 100)}.`);

  const followers = createFollowers<OwnedChange>();
  reflector.onChange((_key, stored, storedBefore) => {
    const [current, previous] = [seen(stored), seen(storedBefore)];
    const [now, before] = [current && readOwner(current), previous && readOwner(previous)];
    const id = (current ?? previous)?.metadata.name ?? '';
    if (now !== undefined) followers.notify(now, { id, change: now === before ? 'updated' : 'created' });
    if (before !== undefined && before !== now) followers.notify(before, { id, change: 'deleted' });
  });

  /** An empty cache would deny objects that exist, so this throws while the account's namespace is not in the cache. */
  const findOwner = (accountId: string): string => objectKey(cells.getReadable(accountId), accountId);

  /** Lists the objects that the filter holds for, ascending in the order `by`. */
  const select = (accountId: string, { filter: asked = {}, orderBy }: FilteredArgs): readonly Stored<T>[] => {
    const filter = narrowFilter(currentReach(), asked);
    const owner = findOwner(accountId);
    const all = byOwner.get(owner);
    const { by } = orderBy ?? NEWEST_FIRST;
    if (Object.keys(filter).length === 0 && by === NEWEST_FIRST.by && !list.isListed) return all;
    const now = clock.now();
    const isTimed = readsTime(list, filter, by) ? list.isTimed : undefined;
    return views.read(owner, JSON.stringify([filter, by]), all, {
      holds: createTest(list, filter, now),
      place: placeOf(list, by, now),
      isTimed: isTimed ?? (() => false),
    });
  };

  const find = (accountId: string, id: string) => {
    const object = seen(reflector.get(cells.getReadable(accountId), id));
    return object && readAccount(object) === accountId ? object : undefined;
  };

  const isVisible = (object: Stored<T>): boolean => isReached(currentReach(), (name) => readLabel(object, name));

  const seek = (accountId: string, id: string) => {
    const object = find(accountId, id);
    return object && isVisible(object) ? object : undefined;
  };

  /** Throws `validation_failed` where a merge patch would take an object out of the reach. */
  const keepReached = (object: Stored<T>, patch: unknown): void => {
    const { metadata } = patch as { metadata?: { labels?: Record<string, string | null> } };
    if (!metadata?.labels) return;
    const labels = { ...object.metadata.labels, ...metadata.labels };
    const left = Object.entries(labels).filter((label): label is [string, string] => label[1] !== null);
    requireWithin(currentReach(), readLabels({ metadata: { labels: Object.fromEntries(left) } }));
  };

  type Holds = (changed: { key: string; current: Stored<T> | undefined }) => boolean;

  /** Resolves with true at the first change after which `holds` is true, or with false after `ms` or when a signal aborts. */
  const soon = (holds: Holds, ms: number, signal?: AbortSignal) => {
    const ends = [stopping, signal].filter((end) => end !== undefined);
    if (ends.some(({ aborted }) => aborted)) return Promise.resolve(false);
    return new Promise<boolean>((resolve) => {
      const end = (held: boolean) => {
        clearTimeout(timer);
        off();
        for (const one of ends) one.removeEventListener('abort', giveUp);
        resolve(held);
      };
      const giveUp = () => end(false);
      const timer = setTimeout(giveUp, ms);
      for (const one of ends) one.addEventListener('abort', giveUp);
      const off = reflector.onChange((key, current) => {
        if (holds({ key, current })) end(true);
      });
    });
  };

  const until: OwnedResources<Stored<T>>['until'] = async (accountId, id, holds, ms, signal) => {
    const namespace = cells.getNamespace(accountId);
    const awaited = objectKey(namespace, id);
    return (
      holds(seen(reflector.get(namespace, id))) ||
      soon(({ key, current }) => key === awaited && holds(seen(current)), ms, signal)
    );
  };

  /** Maps an object that vanished, or changed, between our read and our write. */
  const translate = (error: unknown, id: string): unknown => {
    if (!(error instanceof KubeError)) return error;
    if (error.status === 404) return missing(id);
    if (error.status === 409)
      return new AppError(
        'conflict',
        `Another request changed the ${noun} at the same moment. Read it, and try again.`,
        { cause: error },
      );
    return error;
  };

  return {
    prefix,
    find,
    seek,
    until,
    caughtUp: async (accountId, { name, resourceVersion }, ms) => {
      const namespace = cells.getNamespace(accountId);
      const isKnown = () =>
        reflector.get(namespace, name) !== undefined || reflector.hasSeen(resourceVersion, namespace);
      return isKnown() || soon(isKnown, ms);
    },
    isKnown(accountId, id) {
      if (!cells.isReadable(accountId)) return true;
      return reflector.get(cells.getNamespace(accountId), id) !== undefined;
    },
    async load(accountId, id) {
      if (!OBJECT_NAME.test(id)) return;
      await loads.load(accountId, id, async () => {
        const namespace = cells.getNamespace(accountId);
        // Uses a list: a reflector has the right to list.
        const [found] = await kube.list(resource, { namespace, fieldSelector: `metadata.name=${id}` });
        if (found) reflector.upsert(found);
        return found !== undefined;
      });
    },
    listEvents: ({ metadata: { namespace = '', uid } }) =>
      kube.list(EVENTS, {
        namespace,
        fieldSelector: `involvedObject.kind=${resource.kind},involvedObject.uid=${uid}`,
      }),
    follow: (accountId, onChange) => followers.follow(objectKey(cells.getNamespace(accountId), accountId), onChange),
    earlier(accountId) {
      const name = currentIntent()?.nextId(prefix);
      return name === undefined ? undefined : find(accountId, name);
    },
    get(accountId, id) {
      const object = seek(accountId, id);
      if (!object) throw missing(id);
      return object;
    },
    list: (accountId) => byOwner.get(findOwner(accountId)),
    referring(accountId, index, value) {
      const owner = findOwner(accountId);
      return reflector.byIndex(index, value).filter((object) => readOwner(object) === owner);
    },
    page(accountId, args, show, where) {
      const all = select(accountId, args);
      const now = clock.now();
      return connect(
        prefix,
        where ? all.filter(where) : all,
        args,
        (object, by) => placeOf(list, by, now)(object),
        show,
      );
    },
    admit: (accountId) => writes.admit(accountId),
    async create(accountId, spec, { labels: asked = {}, ...metadata } = {}) {
      const labels = keepWithin(currentReach(), asked);
      await writes.admit(accountId);
      const intent = currentIntent();
      const name = intent?.newId(prefix) ?? newId(prefix);
      const namespace = cells.getNamespace(accountId);
      const object = {
        apiVersion: resource.group ? `${resource.group}/${resource.version}` : resource.version,
        kind: resource.kind,
        metadata: {
          name,
          namespace,
          ...metadata,
          labels: { ...toKubeLabels(labels), [ACCOUNT_LABEL]: accountId },
        },
        spec: spec(name),
      };
      try {
        const traced = annotateTrace(object, currentTraceparent());
        const created = await kube.create(resource, namespace, traced as unknown as T);
        writes.count(accountId, created);
        reflector.upsert(created);
        return created;
      } catch (error) {
        // An earlier try of the same request created it: no other request uses this name.
        if (intent === undefined || !(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
        await until(accountId, name, (made) => made !== undefined, SEEN_MS);
        const made = reflector.get(namespace, name);
        if (!made) throw error;
        return made;
      }
    },
    async patch(object, patch, options = {}) {
      const { subresource, completes = subresource !== undefined, takesAway = false, dryRun = false } = options;
      const { name, namespace = '', resourceVersion } = object.metadata;
      const accountId = readAccount(object) ?? '';
      if (!isVisible(object)) throw missing(name);
      keepReached(object, patch);
      if (!completes) await writes.admit(accountId, { takesAway });
      // A patch of the status changes nothing else.
      const traced = subresource ? patch : annotateTrace(patch as object, currentTraceparent());
      try {
        const how = { ...(subresource && { subresource }), ...(dryRun && { dryRun }) };
        const patched = await kube.mergePatch(resource, namespace, name, traced, how);
        if (dryRun) return patched;
        // Kubernetes writes nothing where nothing changes.
        if (patched.metadata.resourceVersion !== resourceVersion) writes.count(accountId, patched);
        reflector.upsert(patched);
        return patched;
      } catch (error) {
        throw translate(error, name);
      }
    },
    async delete(object) {
      const { name, namespace = '', uid } = object.metadata;
      if (!isVisible(object)) throw missing(name);
      try {
        const left = await kube.delete(resource, namespace, name, { uid });
        if (typeof left === 'boolean') reflector.forget(object);
        else reflector.upsert(left);
      } catch (error) {
        throw translate(error, name);
      }
    },
    async release({ metadata: { name, namespace = '' } }, finalizer) {
      const deleted = reflector.get(namespace, name);
      const { uid, resourceVersion, finalizers = [] } = deleted?.metadata ?? {};
      if (!deleted?.metadata.deletionTimestamp || !finalizers.includes(finalizer)) return;
      const left = finalizers.filter((one) => one !== finalizer);
      try {
        await kube.mergePatch(resource, namespace, name, { metadata: { uid, resourceVersion, finalizers: left } });
        if (left.length === 0) reflector.forget(deleted);
      } catch (error) {
        if (!hasReason(error, 'NotFound', 'Conflict')) throw translate(error, name);
      }
    },
  };
}
