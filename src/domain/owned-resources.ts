/**
 * Reads an account's resources of one kind from a reflector's cache, and writes them to Kubernetes. It is the only place that
 * restricts an account to objects with its label, and that makes a write visible to the next read.
 */
import { monotonicFactory } from 'ulid';
import type { Reflector } from '../kube/reflector.ts';
import { type Kube, KubeError, type KubeObject, type ObjectMeta, type Resource, type Stored } from '../kube/types.ts';
import { currentIntent } from '../lib/context.ts';
import { AppError, type ErrorCode } from '../lib/errors.ts';
import {
  type Connection,
  connect,
  inOrder,
  NEWEST_FIRST,
  nameKey,
  type Order,
  type PageArgs,
} from '../lib/paging/connection.ts';
import { createFollowers } from '../lib/paging/followers.ts';
import { createGroups } from '../lib/paging/groups.ts';
import { currentTraceparent } from '../lib/tracing/tracing.ts';
import { ACCOUNT_LABEL } from '../resources/common/names.ts';
import { annotateTrace } from '../resources/common/trace.ts';

/** Time for the watch to deliver an object that another server created. */
const SEEN_MS = 5_000;

export interface OwnedResourcesOptions<T extends KubeObject> {
  kube: Kube;
  resource: Resource<T>;
  /** Needs the indexes of `referring`. */
  reflector: Reflector<T>;
  namespace: string;
  prefix: string;
  /** Word for messages, e.g. `stream`. */
  noun: string;
  notFound: ErrorCode;
  /** Returns the display name; by default `spec.displayName`. */
  readName?: (object: Stored<T>) => string | undefined;
  /** Ends all waiting: a server that stops gets no more events. */
  stopping?: AbortSignal;
}

/** Names an object to read again; its new state is in the cache. */
export interface OwnedChange {
  id: string;
  change: 'created' | 'updated' | 'deleted';
}

/** `T` is the stored kind, e.g. LoopStream. */
export interface OwnedResources<T extends Stored<KubeObject>> {
  readonly namespace: string;
  /** Ids are `<prefix>-<ulid>`. */
  readonly prefix: string;
  find(accountId: string, id: string): T | undefined;
  /** Throws `<noun>_not_found`, also for an object of another account. */
  get(accountId: string, id: string): T;
  /** Lists all objects. Callers read them at once and do not change them. */
  list(accountId: string): readonly T[];
  /** Lists the objects that an index finds under `value`. */
  referring(accountId: string, index: string, value: string): T[];
  /** Returns a page of the objects that match `where` (by default all), newest first unless `args` says otherwise. */
  page<R>(accountId: string, args: PageArgs, show: (item: T) => R, where?: (item: T) => boolean): Connection<R>;
  /** Creates an object under a new id; a retried request finds the object that it already created. */
  create(
    accountId: string,
    spec: (id: string) => T['spec'],
    metadata?: Pick<ObjectMeta, 'annotations' | 'finalizers'>,
  ): Promise<T>;
  /** Returns the object that an earlier try of this request created, if `create` is the next call. */
  earlier(accountId: string): T | undefined;
  /** Applies a JSON merge patch to the object or its status. */
  patch(object: T, patch: unknown, options?: { subresource?: 'status' }): Promise<T>;
  /** Deletes an object: the next read does not find it, or finds it marked as deleted while a finalizer keeps it. */
  delete(object: T): Promise<void>;
  /**
   * Resolves with true as soon as `holds` is true for the object (undefined: it is gone). Resolves with false after `ms`, or when
   * `signal` aborts.
   */
  until(id: string, holds: (object: T | undefined) => boolean, ms: number, signal?: AbortSignal): Promise<boolean>;
  /** Resolves with true as soon as this server's cache contains a write of another server, or with false after `ms`. */
  caughtUp(written: { name: string; resourceVersion: string }, ms: number): Promise<boolean>;
  /** Returns whether the cache contains the id, in any account. Before the first list it throws, since an empty cache proves nothing. */
  isKnown(id: string): boolean;
  /** Reads an object from Kubernetes that another server may have created a moment ago. */
  load(id: string): Promise<void>;
  /** Reports each change of an account's objects from now on. Returns a function that ends it. */
  follow(accountId: string, onChange: (change: OwnedChange) => void): () => void;
}

const readAccount = (object: { metadata: ObjectMeta }): string | undefined => object.metadata.labels?.[ACCOUNT_LABEL];

/** All kinds have the display name in the same place. */
const readDisplayName = ({ spec }: { spec?: unknown }): string | undefined =>
  (spec as { displayName?: string }).displayName;

const ulid = monotonicFactory();

/** Returns a new public id: `str-01k…`. Later ids sort after earlier ones. */
export const newId = (prefix: string): string => `${prefix}-${ulid().toLowerCase()}`;

export function createOwnedResources<T extends KubeObject>(
  options: OwnedResourcesOptions<T>,
): OwnedResources<Stored<T>> {
  const { kube, resource, reflector, namespace, prefix, noun, notFound, stopping } = options;
  let synced = false;
  reflector.synced.then(
    () => {
      synced = true;
    },
    () => undefined,
  );

  const { readName = readDisplayName } = options;
  const place = (object: Stored<T>, by: Order['by'] = NEWEST_FIRST.by) => ({
    key: by === 'createdAt' ? object.metadata.creationTimestamp : nameKey(readName(object) ?? object.metadata.name),
    id: object.metadata.name,
  });
  const byAccount = createGroups<Stored<T>>(readAccount, (object) => place(object));
  reflector.onChange((_key, current, previous) => byAccount.change(current, previous), { replay: true });

  const missing = (id: string) => new AppError(notFound, `The account has no ${noun} ${id.slice(0, 100)}.`);

  const followers = createFollowers<OwnedChange>();
  reflector.onChange((_key, current, previous) => {
    const [now, before] = [current && readAccount(current), previous && readAccount(previous)];
    const id = (current ?? previous)?.metadata.name ?? '';
    if (now !== undefined) followers.notify(now, { id, change: now === before ? 'updated' : 'created' });
    if (before !== undefined && before !== now) followers.notify(before, { id, change: 'deleted' });
  });

  /** An empty cache would deny objects that exist. */
  const requireSynced = () => {
    if (!synced)
      throw new AppError(
        'upstream_unavailable',
        'Kubernetes has not responded since this server started. Try again later.',
      );
  };

  const find = (accountId: string, id: string) => {
    requireSynced();
    const object = reflector.get(namespace, id);
    return object && readAccount(object) === accountId ? object : undefined;
  };

  type Holds = (changed: { name: string; current: Stored<T> | undefined }) => boolean;

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
      const off = reflector.onChange((_key, current, previous) => {
        const name = (current ?? previous)?.metadata.name;
        if (name !== undefined && holds({ name, current })) end(true);
      });
    });
  };

  const until: OwnedResources<Stored<T>>['until'] = async (id, holds, ms, signal) =>
    holds(reflector.get(namespace, id)) || soon(({ name, current }) => name === id && holds(current), ms, signal);

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
    namespace,
    prefix,
    find,
    until,
    caughtUp: async ({ name, resourceVersion }, ms) => {
      const isKnown = () => reflector.get(namespace, name) !== undefined || reflector.hasSeen(resourceVersion);
      return isKnown() || soon(isKnown, ms);
    },
    isKnown: (id) => !synced || reflector.get(namespace, id) !== undefined,
    async load(id) {
      // Uses a list: a reflector has the right to list.
      const [found] = await kube.list(resource, { namespace, fieldSelector: `metadata.name=${id}` });
      if (found) reflector.upsert(found);
    },
    follow: followers.follow,
    earlier(accountId) {
      const name = currentIntent()?.nextId(prefix);
      return name === undefined ? undefined : find(accountId, name);
    },
    get(accountId, id) {
      const object = find(accountId, id);
      if (!object) throw missing(id);
      return object;
    },
    list(accountId) {
      requireSynced();
      return byAccount.get(accountId);
    },
    referring(accountId, index, value) {
      requireSynced();
      return reflector.byIndex(index, value).filter((object) => readAccount(object) === accountId);
    },
    page(accountId, args, show, where) {
      requireSynced();
      const all = byAccount.get(accountId);
      const found = where ? all.filter(where) : all;
      const { by } = args.orderBy ?? NEWEST_FIRST;
      const items = by === NEWEST_FIRST.by ? found : inOrder(found, (object) => place(object, by));
      return connect(prefix, items, args, place, show);
    },
    async create(accountId, spec, metadata) {
      const intent = currentIntent();
      const name = intent?.newId(prefix) ?? newId(prefix);
      const object = {
        apiVersion: resource.group ? `${resource.group}/${resource.version}` : resource.version,
        kind: resource.kind,
        metadata: {
          name,
          namespace,
          labels: { [ACCOUNT_LABEL]: accountId },
          ...metadata,
        },
        spec: spec(name),
      };
      try {
        const traced = annotateTrace(object, currentTraceparent());
        const created = await kube.create(resource, namespace, traced as unknown as T);
        reflector.upsert(created);
        return created;
      } catch (error) {
        // An earlier try of the same request created it: no other request uses this name.
        if (intent === undefined || !(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
        await until(name, (made) => made !== undefined, SEEN_MS);
        const made = reflector.get(namespace, name);
        if (!made) throw error;
        return made;
      }
    },
    async patch(object, patch, patchOptions) {
      const { name } = object.metadata;
      // A patch of the status changes nothing else.
      const traced = patchOptions?.subresource ? patch : annotateTrace(patch as object, currentTraceparent());
      try {
        const patched = await kube.mergePatch(resource, namespace, name, traced, patchOptions);
        reflector.upsert(patched);
        return patched;
      } catch (error) {
        throw translate(error, name);
      }
    },
    async delete(object) {
      const { name, uid } = object.metadata;
      try {
        const left = await kube.delete(resource, namespace, name, { uid });
        if (typeof left === 'boolean') reflector.forget(object);
        else reflector.upsert(left);
      } catch (error) {
        throw translate(error, name);
      }
    },
  };
}
