/** Reads the pods of a stream as the API server has them at this moment, whatever the caches say. */

import { PODS, type Pod } from '../../kube/core.ts';
import { hasReason } from '../../kube/types.ts';
import { podNames } from '../../resources/common/names.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { isOwnedBy } from '../pods/security.ts';

export async function fetchPods({ kube }: Pick<ControllerDeps, 'kube'>, { metadata }: LoopStream): Promise<Pod[]> {
  const { namespace = '', name } = metadata;
  const fetchOne = async (podName: string): Promise<Pod[]> => {
    try {
      return [await kube.get(PODS, namespace, podName)];
    } catch (error) {
      if (hasReason(error, 'NotFound')) return [];
      throw error;
    }
  };
  return (await Promise.all(podNames(name).map(fetchOne))).flat().filter((pod) => isOwnedBy(pod, { metadata }));
}
