/** Records when the objects of a local system change, by watches of our own on kube-apiserver: where the time of a start goes. */

import { createKube } from '../../../src/core/kube/client.ts';
import { JOBS, PODS, type PodStatus } from '../../../src/core/kube/core.ts';
import { createReflector } from '../../../src/core/kube/reflector.ts';
import type { KubeObject, Resource, Stored } from '../../../src/core/kube/types.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import type { System } from '../../kit/system/system.ts';

export interface Mark {
  /** Milliseconds of performance.now(). */
  at: number;
  /** The kind and the name, e.g. `Job upl-1-import`. */
  object: string;
  state: string;
}

export interface Timeline {
  /** Returns the changes since then of objects whose name begins with one of these. */
  since(at: number, names: readonly string[]): Mark[];
  /** Returns the UIDs of all pods whose name began with this, also of those that are gone. */
  podUids(name: string): string[];
  /** Rejects when the upload fails; otherwise pending until the signal aborts, and then it resolves. */
  rejectOnFailure(upload: string, signal: AbortSignal): Promise<void>;
}

function describePod(status: PodStatus | undefined): string {
  const states = (status?.containerStatuses ?? []).map(({ state }) => state);
  if (states.some((state) => state?.running)) return 'runs';
  if (states.length > 0 && states.every((state) => state?.terminated)) return 'ended';
  return 'waits';
}

export async function watchSystem({ facts }: System, stack: AsyncDisposableStack): Promise<Timeline> {
  const kube = createKube({ kubeconfig: facts.kubeconfig });
  stack.defer(() => kube.close());
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const marks: Mark[] = [];
  const uids = new Map<string, string>();
  const failed = new Map<string, (message: string) => void>();
  const watch = async <T extends KubeObject>(resource: Resource<T>, describe: (object: Stored<T>) => string) => {
    const log = createLogger('bench', 'silent');
    const reflector = createReflector(kube, resource, { namespace: NAMESPACE, log });
    reflector.onChange((_key, current, previous) => {
      const object = `${resource.kind} ${(current ?? previous)?.metadata.name}`;
      const state = current ? describe(current) : 'deleted';
      if (previous && current && describe(previous) === state) return;
      marks.push({ at: performance.now(), object, state });
    });
    reflector.start(stop.signal);
    await reflector.synced;
  };
  await Promise.all([
    watch(UPLOADS, ({ metadata, status }) => {
      if (status?.phase === 'failed') failed.get(metadata.name)?.(status.error?.message ?? 'no message');
      const renditions = (status?.renditions ?? []).map(({ profile, state }) => `, ${profile} ${state}`);
      return `${status?.phase ?? 'new'}${renditions.join('')}`;
    }),
    watch(JOBS, ({ status }) => (status?.succeeded ? 'succeeded' : status?.failed ? 'failed' : 'there')),
    watch(PODS, ({ metadata, status }) => {
      uids.set(metadata.uid, metadata.name);
      return describePod(status);
    }),
    watch(LOOPSTREAMS, ({ status }) => status?.phase ?? 'new'),
  ]);
  return {
    since: (from, names) =>
      marks.filter(({ at, object }) => at >= from && names.some((name) => object.split(' ')[1]?.startsWith(name))),
    podUids: (name) => [...uids].filter(([, pod]) => pod.startsWith(name)).map(([uid]) => uid),
    rejectOnFailure: (upload, signal) =>
      new Promise((resolve, reject) => {
        failed.set(upload, (message) => reject(new Error(`the upload ${upload} failed: ${message}`)));
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
}
