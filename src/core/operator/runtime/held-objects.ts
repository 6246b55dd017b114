/** Removes the finalizer of a deleted object once its dependents are deleted. */
import { readNamespaceState } from '../../kube/namespace.ts';
import { hasReason, type Kube, type KubeObject, type Resource, type Stored } from '../../kube/types.ts';

/**
 * Deletes the dependents of an object. The Role may be gone before the object where its namespace is being deleted, which takes the
 * dependents along.
 */
export async function deleteDependents(
  kube: Pick<Kube, 'get'>,
  { metadata }: KubeObject,
  deleteThem: () => Promise<unknown>,
): Promise<void> {
  try {
    await deleteThem();
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error;
    const state = await readNamespaceState(kube, metadata.namespace ?? '');
    if (state === 'active' || state === 'unknown') throw error;
  }
}

/** Fails with Conflict where there is a newer version of the object. */
export async function removeFinalizer<T extends KubeObject>(
  kube: Pick<Kube, 'mergePatch'>,
  resource: Resource<T>,
  { metadata }: Stored<T>,
  finalizer: string,
): Promise<void> {
  const { name, namespace = '', uid, resourceVersion, finalizers = [] } = metadata;
  const left = finalizers.filter((one) => one !== finalizer);
  try {
    await kube.mergePatch(resource, namespace, name, { metadata: { uid, resourceVersion, finalizers: left } });
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error;
  }
}
