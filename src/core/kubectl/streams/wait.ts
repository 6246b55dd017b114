/** Waits for an object to become as it should, by watching it. */
import { type Kube, KubeError, type KubeObject, type Resource, type Stored } from '../../kube/types.ts';

/** Resolves to the first state that `check` accepts; to undefined after `timeoutMs`, or when the object is deleted. */
export async function waitFor<T extends KubeObject, Found>(
  kube: Kube,
  resource: Resource<T>,
  { namespace, name, timeoutMs }: { namespace: string; name: string; timeoutMs: number },
  check: (object: Stored<T>) => Found | undefined,
): Promise<Found | undefined> {
  const signal = AbortSignal.timeout(timeoutMs);
  while (!signal.aborted) {
    const object = await kube.get(resource, namespace, name);
    const found = check(object);
    if (found !== undefined) return found;
    const { resourceVersion } = object.metadata;
    const options = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion, signal };
    try {
      for await (const event of kube.watch(resource, options)) {
        if (event.type === 'DELETED') return undefined;
        const seen = event.type === 'BOOKMARK' ? undefined : check(event.object);
        if (seen !== undefined) return seen;
      }
    } catch (error) {
      // A version that is too old, or a connection that broke: the object is read again.
      if (!(error instanceof KubeError) || (error.status !== 0 && error.status !== 410)) throw error;
    }
  }
  return undefined;
}
