/** Tells whether a namespace is being deleted, and reads what is left in it. */
import { NAMESPACES } from './core.ts';
import { hasReason, type Kube, type KubeObject, type Resource, type Stored } from './types.ts';

/** `unknown`: without the right to look. Rejects with any other KubeError. */
export async function readNamespaceState(
  kube: Pick<Kube, 'get'>,
  namespace: string,
): Promise<'active' | 'ending' | 'gone' | 'unknown'> {
  try {
    const { metadata } = await kube.get(NAMESPACES, '', namespace);
    return metadata.deletionTimestamp === undefined ? 'active' : 'ending';
  } catch (error) {
    if (hasReason(error, 'NotFound')) return 'gone';
    if (hasReason(error, 'Forbidden')) return 'unknown';
    throw error;
  }
}

/**
 * Reads an object by a patch that changes nothing: the right to patch in the whole cluster removes finalizers where the Roles of a
 * namespace are gone already, and nobody needs to read in the whole cluster for that. Undefined when the object is gone.
 */
export async function readByPatch<T extends KubeObject>(
  { metadata: { name, namespace = '', uid } }: Stored<T>,
  kube: Pick<Kube, 'mergePatch'>,
  resource: Resource<T>,
): Promise<Stored<T> | undefined> {
  try {
    return await kube.mergePatch(resource, namespace, name, { metadata: { uid } });
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
