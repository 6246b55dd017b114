/**
 * Removes the finalizers of our objects and of streams’ pods where no operator is left to do so: otherwise the objects and their
 * namespace could not be deleted. A stream on air stays on air, and the next operator adds the finalizers again.
 */

import { PODS } from '../../kube/core.ts';
import { readNamespaceState } from '../../kube/namespace.ts';
import { hasReason, type Kube, type KubeObject, type Resource, type Stored } from '../../kube/types.ts';
import { sleep } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import {
  COMPONENT_LABEL,
  COUNT_FINALIZER,
  FINALIZER,
  POD_FINALIZER,
  SECRET_FINALIZER,
  UPLOAD_FINALIZER,
  VERSIONS_FINALIZER,
} from '../../resources/common/names.ts';
import { DESTINATIONS } from '../../resources/destination/resource.ts';
import { PLAYLISTS } from '../../resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../resources/stream/resource.ts';
import { UPLOADS } from '../../resources/upload/resource.ts';
import type { OperatorConfig } from '../runtime/settings.ts';

const OURS: ReadonlySet<string> = new Set([
  FINALIZER,
  COUNT_FINALIZER,
  POD_FINALIZER,
  SECRET_FINALIZER,
  UPLOAD_FINALIZER,
  VERSIONS_FINALIZER,
]);
/** Kinds of objects that have them, and the labels of those among others. */
const HELD: readonly [resource: Resource, labelSelector?: string][] = [
  [LOOPSTREAMS],
  [PODS, `${COMPONENT_LABEL}=streamer`],
  [UPLOADS],
  [PLAYLISTS],
  [DESTINATIONS],
];
/** Patches at the same time. */
const AT_ONCE = 16;
/** A stopping process may add one again, so removal ends when two reads, this far apart, find none. */
const REQUEUE_MS = 2_000;

/** The finalizers that remain; undefined where none of ours is among them. */
export function listFinalizersLeft({ metadata }: KubeObject): string[] | undefined {
  const { finalizers = [] } = metadata;
  const left = finalizers.filter((finalizer) => !OURS.has(finalizer));
  return left.length < finalizers.length ? left : undefined;
}

/**
 * Removes our finalizers from all objects in a namespace, or in the whole cluster; none is there where the namespace is gone. Resolves
 * to how many objects lost some. Rejects with KubeError, or when `signal` aborts.
 */
export async function removeFinalizers(
  kube: Pick<Kube, 'list' | 'mergePatch'>,
  namespace: string | undefined,
  { signal, againMs = REQUEUE_MS }: { signal?: AbortSignal; againMs?: number } = {},
): Promise<number> {
  let removed = 0;
  for (let clean = 0; ; await sleep(againMs, signal)) {
    let found = 0;
    for (const [resource, labelSelector] of HELD) found += await removeFrom(kube, resource, namespace, labelSelector);
    removed += found;
    clean = found === 0 ? clean + 1 : 0;
    if (clean === 2) return removed;
  }
}

async function removeFrom<T extends KubeObject>(
  kube: Pick<Kube, 'list' | 'mergePatch'>,
  resource: Resource<T>,
  namespace: string | undefined,
  labelSelector?: string,
): Promise<number> {
  const all = await kube.list(resource, { ...(namespace && { namespace }), ...(labelSelector && { labelSelector }) });
  const held = all.filter((object) => listFinalizersLeft(object));
  const remove = async (object: Stored<T>) => {
    const { name, namespace: found = '', uid, resourceVersion } = object.metadata;
    try {
      const metadata = { uid, resourceVersion, finalizers: listFinalizersLeft(object) };
      await kube.mergePatch(resource, found, name, { metadata });
    } catch (error) {
      // Somebody wrote or deleted it meanwhile, which the next look finds.
      if (!hasReason(error, 'NotFound', 'Conflict')) throw error;
    }
  };
  const failures: unknown[] = [];
  for (let at = 0; at < held.length; at += AT_ONCE) {
    // An object of a namespace without our Role holds up none of the others.
    const results = await Promise.allSettled(held.slice(at, at + AT_ONCE).map(remove));
    failures.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
  }
  if (failures.length > 0) throw failures[0];
  return held.length;
}

/** Within the time that Kubernetes gives the operator to stop (terminationGracePeriodSeconds in the chart). */
export const FAREWELL_MS = 30_000;

/**
 * Removes the finalizers when the operator's own namespace is being deleted, for it has no successor then. The deletion of a
 * namespace begins with its pods, and waits for them: until then this operator has the rights that it needs.
 */
export async function removeFinalizersForGood(
  kube: Kube,
  { operatorNamespace, namespace, watched }: Pick<OperatorConfig, 'operatorNamespace' | 'namespace' | 'watched'>,
  log: Logger,
): Promise<void> {
  const state = await readNamespaceState(kube, operatorNamespace ?? namespace);
  // Without the right to look, nobody knows, and the answer is no.
  if (state !== 'ending' && state !== 'gone') return;
  const signal = AbortSignal.timeout(FAREWELL_MS);
  const remove = async (one: string | undefined) => {
    try {
      const removed = await removeFinalizers(kube, one, { signal });
      log.info(
        { namespace: one, removed },
        'the namespace of the operator is being deleted: removed the finalizers of its objects',
      );
    } catch (err) {
      // The others are not kept waiting by one that is gone, or whose Role is.
      log.warn({ namespace: one, err }, 'the finalizers of objects could not be removed');
    }
  };
  await Promise.all((watched === 'all' ? [undefined] : watched).map(remove));
}
