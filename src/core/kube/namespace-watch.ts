/**
 * Makes the caches of the watched namespaces: one watch of a kind for the whole cluster, or one for each listed namespace. Says which
 * namespaces cannot be read, and holds back their objects until all kinds of them are known.
 */

import type { Logger } from '../lib/log.ts';
import { createReflector, type Reflector, type ReflectorObserver, type ReflectorOptions } from './reflector.ts';
import { type GroupMember, joinReflectors } from './reflector-group.ts';
import type { Kube, KubeError, KubeObject, Resource } from './types.ts';

/** The namespaces that one process watches. */
export type Watched = readonly string[] | 'all';

type CacheOptions<T extends KubeObject> = Omit<ReflectorOptions<T>, 'namespace' | 'observer' | 'log'>;

export interface NamespaceWatch {
  createCache<T extends KubeObject>(resource: Resource<T>, options?: CacheOptions<T>): Reflector<T>;
  /**
   * Whether all kinds of a namespace have been listed. From a part of them, a pod that is not known yet would seem to be missing.
   */
  isFilled(namespace: string): boolean;
  /** Calls the handler with each namespace that becomes filled from now on. */
  onFilled(handler: (namespace: string) => void): void;
  /** Each listed namespace, and whether it can be read at this moment. */
  states(): [namespace: string, isWatched: boolean][];
}

/** The kinds of a listed namespace, by their plural, that are not listed yet, and those that were refused last. */
interface Access {
  missing: Set<string>;
  refused: Set<string>;
}

export function watchNamespaces(kube: Kube, watched: Watched, log: Logger): NamespaceWatch {
  const accesses = new Map<string, Access>();
  if (watched !== 'all')
    for (const namespace of watched) accesses.set(namespace, { missing: new Set(), refused: new Set() });
  const handlers = new Set<(namespace: string) => void>();

  const noteListed = (namespace: string, { missing, refused }: Access, kind: string): void => {
    if (refused.delete(kind) && refused.size === 0) log.info({ namespace }, 'the namespace is watched');
    if (missing.delete(kind) && missing.size === 0) for (const handler of handlers) handler(namespace);
  };

  const noteRefused = (namespace: string, { refused }: Access, kind: string, err: KubeError): void => {
    if (refused.size === 0)
      log.warn(
        { namespace, err },
        'the namespace cannot be watched: it does not exist, or the Role and RoleBinding of this process in it do not; it is retried',
      );
    refused.add(kind);
  };

  const createMember = <T extends KubeObject>(
    namespace: string,
    access: Access,
    resource: Resource<T>,
    options: CacheOptions<T>,
  ): GroupMember<T> => {
    const kind = resource.plural;
    access.missing.add(kind);
    const { promise: refused, resolve: markRefused } = Promise.withResolvers<void>();
    const observer: ReflectorObserver = {
      listed: () => noteListed(namespace, access, kind),
      refused: (error) => {
        markRefused();
        noteRefused(namespace, access, kind, error);
      },
      cleared: () => access.missing.add(kind),
    };
    const members = log.child({ namespace });
    const reflector = createReflector(kube, resource, { ...options, namespace, observer, log: members });
    return { reflector, refused, isRefused: () => access.refused.has(kind) };
  };

  return {
    createCache: (resource, options = {}) => {
      if (watched === 'all') return createReflector(kube, resource, { ...options, log });
      const members = [...accesses].map(
        ([namespace, access]) => [namespace, createMember(namespace, access, resource, options)] as const,
      );
      return joinReflectors(new Map(members));
    },
    isFilled: (namespace) => (accesses.get(namespace)?.missing.size ?? 0) === 0,
    onFilled: (handler) => void handlers.add(handler),
    states: () => [...accesses].map(([namespace, { refused }]) => [namespace, refused.size === 0]),
  };
}
