/** The sessions of a stream out of what is known of its pods, and the pods whose time is written down let go. */

import { PODS, type Pod } from '../../kube/core.ts';
import { POD_FINALIZER } from '../../resources/common/names.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { BY_STREAM } from '../caches/caches.ts';
import { isOwnedBy } from '../pods/security.ts';
import { isOver } from '../pods/status.ts';
import { isReason, keyIn } from '../runtime/controller.ts';
import { accountOf, type Book, bookOf } from './sessions.ts';
import type { StreamTools } from './tools.ts';

/** The pods of a stream as far as the cache knows them. */
export const cachedPods = ({ caches }: Pick<StreamTools, 'caches'>, stream: LoopStream): Pod[] => {
  const { namespace, name } = stream.metadata;
  return caches.pods.byIndex(BY_STREAM, keyIn(namespace, name)).filter((pod) => isOwnedBy(pod, stream));
};

export function bookFor(
  { caches, onAir, metered }: Pick<StreamTools, 'caches' | 'onAir' | 'metered'>,
  stream: LoopStream,
  now: Date,
): Book {
  const accounts = cachedPods({ caches }, stream).map((pod) => {
    const news = onAir.newsOf(pod.metadata.uid);
    return accountOf(pod, news?.runs, news?.reportsTooLittle);
  });
  return bookOf(stream, accounts, metered, now);
}

/** UIDs of the pods of a stream that are over. */
export const overPods = ({ caches }: Pick<StreamTools, 'caches'>, streamKey: string): ReadonlySet<string> =>
  new Set(
    caches.pods
      .byIndex(BY_STREAM, streamKey)
      .filter(isOver)
      .map(({ metadata }) => metadata.uid),
  );

/**
 * Lets pods of a stream go that are over. What they told and what they played stands in the status by now, if they were
 * `over` when that was decided; of a stream that there is no more it is of no use to anybody.
 */
export async function letGo(
  { caches, kube }: Pick<StreamTools, 'caches' | 'kube'>,
  streamKey: string,
  over: ReadonlySet<string>,
): Promise<undefined> {
  for (const pod of caches.pods.byIndex(BY_STREAM, streamKey)) {
    const { name, namespace = '', uid, finalizers = [], resourceVersion } = pod.metadata;
    if (!finalizers.includes(POD_FINALIZER) || !over.has(uid)) continue;
    const left = finalizers.filter((finalizer) => finalizer !== POD_FINALIZER);
    try {
      await kube.mergePatch(PODS, namespace, name, { metadata: { uid, resourceVersion, finalizers: left } });
    } catch (error) {
      // Somebody has written it meanwhile, which will be seen.
      if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}
