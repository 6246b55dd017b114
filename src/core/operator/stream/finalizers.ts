/** Adds the finalizers of streams and of their pods, and removes them. */

import { PODS, type Pod } from '../../kube/core.ts';
import { hasReason } from '../../kube/types.ts';
import { FINALIZER, POD_FINALIZER } from '../../resources/common/names.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { BY_STREAM } from '../caches/caches.ts';
import type { StreamControllerDeps } from './controller-deps.ts';
import { fetchPods } from './fetch-pods.ts';
import type { Observation } from './observation.ts';
import { isLoose, listCachedPods } from './observe.ts';

/** Sets the finalizers of exactly this version of the stream; fails with Conflict where there is a newer one. */
const setFinalizers = ({ kube }: StreamControllerDeps, stream: LoopStream, finalizers: string[]) => {
  const { name, namespace = '', resourceVersion } = stream.metadata;
  return kube.mergePatch(LOOPSTREAMS, namespace, name, { metadata: { resourceVersion, finalizers } });
};

/**
 * Adds the finalizer of a stream. It comes before any pod, so that a stream is never gone while something of it may be on air.
 * Returns the stream as it is then, which differs in nothing else: the next write is of that version.
 */
export async function addFinalizer(deps: StreamControllerDeps, stream: LoopStream): Promise<LoopStream> {
  const finalizers = stream.metadata.finalizers ?? [];
  if (finalizers.includes(FINALIZER)) return stream;
  const written = await setFinalizers(deps, stream, [...finalizers, FINALIZER]);
  deps.caches.streams.upsert(written);
  return written;
}

/**
 * The pods that keep a deleted stream. The API server is asked, not the cache: a pod whose creation the cache has not seen yet
 * counts too. Where our Role was deleted before the stream, as when a namespace is deleted, no pod can be made any more, and the
 * cache knows all that are left.
 */
async function findPodsLeft(deps: StreamControllerDeps, stream: LoopStream): Promise<Pod[]> {
  try {
    return await fetchPods(deps, stream);
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error;
    return listCachedPods(deps, stream);
  }
}

/** Removes the finalizer of a deleted stream; returns false while the stream has pods. */
export async function removeFinalizer(deps: StreamControllerDeps, stream: LoopStream): Promise<boolean> {
  const pods = await findPodsLeft(deps, stream);
  for (const pod of pods) deps.caches.pods.upsert(pod);
  if (pods.length > 0) return false;
  const left = (stream.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  try {
    await setFinalizers(deps, stream, left);
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error;
  }
  return true;
}

/** Adds the finalizers again that are missing from a stream on air and its pods. The caches have them at once. */
export async function restoreFinalizers(
  deps: StreamControllerDeps,
  { stream, pod, other }: Observation,
): Promise<void> {
  const pods = [pod, other].filter((one) => one !== undefined);
  for (const { metadata } of pods.filter(isLoose)) {
    const { name, namespace = '', uid, resourceVersion, finalizers = [] } = metadata;
    const patch = { metadata: { uid, resourceVersion, finalizers: [...finalizers, POD_FINALIZER] } };
    deps.caches.pods.upsert(await deps.kube.mergePatch(PODS, namespace, name, patch));
  }
  await addFinalizer(deps, stream);
}

/**
 * Removes the finalizers of a stream's `ended` pods: their sessions and programs are in the status by now. A deleted
 * stream needs neither.
 */
export async function removePodFinalizers(
  { caches, kube }: Pick<StreamControllerDeps, 'caches' | 'kube'>,
  streamKey: string,
  ended: ReadonlySet<string>,
): Promise<undefined> {
  for (const pod of caches.pods.byIndex(BY_STREAM, streamKey)) {
    const { name, namespace = '', uid, finalizers = [], resourceVersion } = pod.metadata;
    if (!finalizers.includes(POD_FINALIZER) || !ended.has(uid)) continue;
    const left = finalizers.filter((finalizer) => finalizer !== POD_FINALIZER);
    try {
      await kube.mergePatch(PODS, namespace, name, { metadata: { uid, resourceVersion, finalizers: left } });
    } catch (error) {
      // A newer version of the pod comes with an event of its own.
      if (!hasReason(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}
