/** Tells whether a namespace is being deleted. */
import { NAMESPACES } from './core.ts';
import { hasReason, type Kube } from './types.ts';

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
