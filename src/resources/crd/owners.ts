/**
 * Lets objects name their owners by a version that is served. Kubernetes' garbage collector finds an owner by the version in the reference:
 * where that is no longer served, it deletes nothing, not even the Secret of a destination that is gone.
 */
import pMap from 'p-map';
import { CONTROLLER_REVISIONS, JOBS, PODS, SECRETS } from '../../kube/core.ts';
import {
  hasReason,
  type Kube,
  type KubeObject,
  type OwnerReference,
  type Resource,
  type Stored,
} from '../../kube/types.ts';
import { GROUP, MANAGED_BY, MANAGED_BY_LABEL, PLAYLIST_LABEL } from '../common/names.ts';
import { retryConflicts } from './conflicts.ts';

const MANAGED = `${MANAGED_BY_LABEL}=${MANAGED_BY}`;
/** Kinds of objects that belong to ours, and the labels that ours have. */
const DEPENDENTS: readonly [resource: Resource, labelSelector: string][] = [
  [PODS, MANAGED],
  [JOBS, MANAGED],
  [SECRETS, MANAGED],
  [CONTROLLER_REVISIONS, PLAYLIST_LABEL],
];
/** Writes at the same time. */
const AT_ONCE = 8;

/** Resolves to how many objects were changed. Rejects with KubeError. May be interrupted, and run again. */
export async function renameOwners(kube: Kube, to: string): Promise<number> {
  let changed = 0;
  for (const [resource, labelSelector] of DEPENDENTS) {
    const all = await kube.list(resource, { labelSelector });
    const others = all.filter((object) => rename(object, to) !== undefined);
    const results = await pMap(others, (object) => change(kube, resource, object, to), { concurrency: AT_ONCE });
    changed += results.filter(Boolean).length;
  }
  return changed;
}

/** Returns the references with the version; undefined where they have it already. */
function rename({ metadata }: KubeObject, version: string): OwnerReference[] | undefined {
  const apiVersion = `${GROUP}/${version}`;
  const isOther = (owner: OwnerReference) =>
    owner.apiVersion.startsWith(`${GROUP}/`) && owner.apiVersion !== apiVersion;
  if (!metadata.ownerReferences?.some(isOther)) return undefined;
  return metadata.ownerReferences.map((owner) => (isOther(owner) ? { ...owner, apiVersion } : owner));
}

/** Resolves to false where the object is gone. */
async function change(kube: Kube, resource: Resource, read: Stored<KubeObject>, to: string): Promise<boolean> {
  const { namespace = '', name } = read.metadata;
  let object = read;
  try {
    await retryConflicts(async () => {
      const { resourceVersion } = object.metadata;
      const ownerReferences = rename(object, to);
      try {
        await kube.mergePatch(resource, namespace, name, { metadata: { resourceVersion, ownerReferences } });
      } catch (error) {
        if (hasReason(error, 'Conflict')) object = await kube.get(resource, namespace, name);
        throw error;
      }
    });
    return true;
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false;
    throw error;
  }
}
