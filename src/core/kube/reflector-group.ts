/**
 * Keeps one cache equal to a collection in several namespaces: a reflector for each, since rights are granted by namespace. One that
 * cannot be read holds up none of the others.
 */

import type { Reflector } from './reflector.ts';
import type { KubeObject, Stored } from './types.ts';

/** The reflector of one namespace. */
export interface GroupMember<T extends KubeObject> {
  reflector: Reflector<T>;
  /** Resolves when a list was refused for the first time. */
  refused: Promise<void>;
  /** Whether the last one was refused. */
  isRefused(): boolean;
}

/** Joins the reflectors of namespaces, by namespace. `synced` resolves when each has been tried, and one at least was listed. */
export function joinReflectors<T extends KubeObject>(members: ReadonlyMap<string, GroupMember<T>>): Reflector<T> {
  const [only] = members.values();
  if (only && members.size === 1) return only.reflector;
  const all = [...members.values()].map(({ reflector }) => reflector);
  const find = (namespace: string | undefined): Reflector<T> | undefined => members.get(namespace ?? '')?.reflector;
  /** The reflector of one namespace, which may be none, or those of all. */
  const listMembers = (namespace: string | undefined): Reflector<T>[] =>
    namespace === undefined ? all : [find(namespace) ?? []].flat();
  const sum = (read: (stats: ReturnType<Reflector<T>['stats']>) => number): number =>
    all.reduce((total, reflector) => total + read(reflector.stats()), 0);
  const tried = [...members.values()].map(({ reflector, refused }) => Promise.race([reflector.synced, refused]));
  const synced = Promise.all(tried).then(() => Promise.any(all.map((reflector) => reflector.synced)));
  // Nobody may be waiting for it when the process stops early.
  synced.catch(() => {});
  return {
    start: (signal) => {
      for (const reflector of all) reflector.start(signal);
    },
    synced,
    get: (namespace, name) => find(namespace)?.get(namespace, name),
    list: () => all.flatMap((reflector) => reflector.list()),
    byIndex: (index, value) => all.flatMap((reflector) => reflector.byIndex(index, value)),
    has: (index, value) => all.some((reflector) => reflector.has(index, value)),
    values: (index) => [...new Set(all.flatMap((reflector) => reflector.values(index)))],
    hasSeen: (resourceVersion, namespace) =>
      listMembers(namespace).every((reflector) => reflector.hasSeen(resourceVersion)),
    upsert: (object) => find(object.metadata.namespace)?.upsert(object),
    forget: (object: Stored<T>) => find(object.metadata.namespace)?.forget(object),
    onChange: (handler, options) => {
      const removers = all.map((reflector) => reflector.onChange(handler, options));
      return () => {
        for (const remove of removers) remove();
      };
    },
    ageMs: (namespace) => Math.max(0, ...listMembers(namespace).map((reflector) => reflector.ageMs())),
    stats: () => ({
      objects: sum(({ objects }) => objects),
      lists: sum(({ lists }) => lists),
      watches: sum(({ watches }) => watches),
      errors: sum(({ errors }) => errors),
      // One that may not be read says nothing of the API server.
      heardMs: Math.max(
        0,
        ...[...members.values()].map(({ reflector, isRefused }) => (isRefused() ? 0 : reflector.stats().heardMs)),
      ),
    }),
  };
}
