/** Calls the Kubernetes API: plain JSON in and out, over one pool of connections (transport.ts). */
import { type ClusterAccess, loadAccess } from './kubeconfig.ts';
import { stripManagedFields } from './parse-object.ts';
import { buildSelectors, collectionPath, formatApiVersion, formatQuery, objectPath } from './paths.ts';
import { createTransport, errorCode, type TransportOptions } from './transport.ts';
import {
  type Kube,
  KubeError,
  type KubeObject,
  type ListPage,
  type Resource,
  type Stored,
  type WatchEvent,
} from './types.ts';
import { lines, parseEvent } from './watch.ts';

const PAGE_SIZE = 500;
const WATCH_SECONDS = 290;
/** An idle watch gets a bookmark about once a minute, so half as long again without one means a dead connection. */
const STALL_MS = 90_000;
/** A watch ends at the latest this long after its time-out, unless the connection is dead or everything crawls. */
export const WATCH_GRACE_MS = 1_500;

const formatDryRun = (dryRun: boolean): string => formatQuery(dryRun ? { dryRun: 'All' } : {});

interface RawList<T extends KubeObject> {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: Stored<T>[] | null;
}

/**
 * `kubeconfig` is a path (several are joined by ':'); without it the pod's service account is used, or else
 * ~/.kube/config. Throws ConfigError when there is no way to a cluster in them; nothing is sent before the first call.
 */
export function createKube(
  options: {
    kubeconfig?: string | undefined;
    context?: string | undefined;
    /** The way to the cluster, where `loadAccess` has found it already. */
    access?: ClusterAccess | undefined;
  } & TransportOptions = {},
): Kube {
  const http = createTransport(options.access ?? loadAccess(options), options);

  const page: Kube['page'] = async <T extends KubeObject>(
    resource: Resource<T>,
    { namespace, limit, continue: token, timeoutMs, ...rest }: Parameters<Kube['page']>[1],
  ): Promise<ListPage<T>> => {
    const path = `${collectionPath(resource, namespace)}${formatQuery({ ...buildSelectors(rest), limit, continue: token })}`;
    const list = await http.json<RawList<T>>('GET', path, timeoutMs === undefined ? {} : { timeoutMs });
    // The items of built-in kinds come without kind and apiVersion; every reader may rely on them all the same.
    const apiVersion = formatApiVersion(resource);
    const items = (list.items ?? []).map((item) => stripManagedFields({ ...item, apiVersion, kind: resource.kind }));
    return {
      items,
      resourceVersion: list.metadata?.resourceVersion ?? '',
      continue: list.metadata?.continue || undefined,
    };
  };

  const list: Kube['list'] = async (resource, listOptions = {}) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const first = await page(resource, { ...listOptions, limit: PAGE_SIZE });
        const items = first.items;
        for (let token = first.continue; token; ) {
          const next = await page(resource, { ...listOptions, limit: PAGE_SIZE, continue: token });
          items.push(...next.items);
          token = next.continue;
        }
        return items;
      } catch (error) {
        // The rest of a list that took too long would be of another moment than its beginning: start over, once.
        if (attempt > 1 || !(error instanceof KubeError) || error.status !== 410) throw error;
      }
    }
  };

  async function* watch<T extends KubeObject>(
    resource: Resource<T>,
    watchOptions: Parameters<Kube['watch']>[1],
  ): AsyncGenerator<WatchEvent<T>> {
    const { namespace, resourceVersion, signal } = watchOptions;
    const { timeoutSeconds = WATCH_SECONDS, graceMs = WATCH_GRACE_MS, stallMs = STALL_MS } = watchOptions;
    const from =
      resourceVersion === undefined
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
        : { resourceVersion };
    const params = { watch: true, allowWatchBookmarks: true, ...from, timeoutSeconds };
    const path = `${collectionPath(resource, namespace)}${formatQuery({ ...buildSelectors(watchOptions), ...params })}`;
    const overdue = new AbortController();
    const timer = setTimeout(() => overdue.abort(new Error('overdue')), timeoutSeconds * 1000 + graceMs);
    const stop = () => overdue.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      const body = await http.open(path, { stallMs, signal: overdue.signal });
      // Leaving the loop early destroys the body; nobody waits for its late errors any more.
      body.on('error', () => {});
      for await (const line of lines(body)) {
        const event = parseEvent<T>(line);
        if (event) yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (overdue.signal.aborted) {
        const message = `The watch of ${resource.plural} did not end in time: the connection is blocked or too slow.`;
        throw new KubeError(0, 'Unreachable', message, { cause: error });
      }
      if (error instanceof KubeError) throw error;
      const message = `The watch of ${resource.plural} was interrupted (${errorCode(error)}).`;
      throw new KubeError(0, 'Unreachable', message, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  return {
    get: async (resource, namespace, name) =>
      stripManagedFields(await http.json('GET', objectPath(resource, namespace, name))),
    list,
    page,
    watch,
    create: async (resource, namespace, object, { dryRun = false } = {}) => {
      const path = `${collectionPath(resource, namespace)}${formatDryRun(dryRun)}`;
      return stripManagedFields(await http.json('POST', path, { body: object }));
    },
    replace: async (resource, namespace, object, { fieldManager, subresource } = {}) => {
      const path = objectPath(resource, namespace, object.metadata.name, subresource);
      return stripManagedFields(await http.json('PUT', `${path}${formatQuery({ fieldManager })}`, { body: object }));
    },
    mergePatch: async (resource, namespace, name, patch, { subresource, dryRun = false, fieldManager } = {}) => {
      const query = formatQuery({ fieldManager, ...(dryRun && { dryRun: 'All' }) });
      return stripManagedFields(
        await http.json('PATCH', `${objectPath(resource, namespace, name, subresource)}${query}`, {
          body: patch,
          headers: { 'content-type': 'application/merge-patch+json' },
        }),
      );
    },
    apply: async (resource, namespace, object, { fieldManager, subresource }) => {
      const path = objectPath(resource, namespace, object.metadata.name, subresource);
      return stripManagedFields(
        await http.json('PATCH', `${path}${formatQuery({ fieldManager, force: true })}`, {
          body: object,
          // JSON is YAML, so what we send needs no other encoder.
          headers: { 'content-type': 'application/apply-patch+yaml' },
        }),
      );
    },
    delete: async <T extends KubeObject>(
      resource: Resource<T>,
      namespace: string,
      name: string,
      { uid, resourceVersion, ...deleteOptions }: Parameters<Kube['delete']>[3] = {},
    ) => {
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...deleteOptions,
        ...(uid || resourceVersion ? { preconditions } : {}),
      };
      try {
        const left = await http.json<Stored<T>>('DELETE', objectPath(resource, namespace, name), { body });
        return left.kind === 'Status' ? true : stripManagedFields(left);
      } catch (error) {
        const gone =
          error instanceof KubeError &&
          (error.status === 404 || (error.status === 409 && (uid ?? resourceVersion) !== undefined));
        if (gone) return false;
        throw error;
      }
    },
    raw: (method, path, body, headers) =>
      http.send(method, path, { ...(body === undefined ? {} : { body }), ...(headers ? { headers } : {}) }),
    open: (path, { signal } = {}) => http.open(path, { stallMs: 0, signal }),
    close: () => http.close(),
  };
}

/** Reports whether the API server says that it is ready. Rejects when it does not respond. */
export const isKubeReady = async (kube: Pick<Kube, 'raw'>): Promise<boolean> =>
  (await kube.raw('GET', '/readyz')).status === 200;
