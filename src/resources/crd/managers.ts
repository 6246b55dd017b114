/** Converts the managed fields of stored objects to a version (versions/managed-fields.ts). */
import pMap from 'p-map';
import { objectPath } from '../../kube/paths.ts';
import { toKubeError } from '../../kube/transport.ts';
import { hasReason, type Kube, type KubeObject, type Resource, type Stored } from '../../kube/types.ts';
import { convertManagedFields, type ManagedFieldsEntry } from '../versions/managed-fields.ts';
import type { Kind, Version } from '../versions/names.ts';
import { retryConflicts } from './conflicts.ts';

/** Writes at the same time. */
const AT_ONCE = 8;

/** Resolves to how many objects of a kind were changed. Rejects with KubeError. May be interrupted, and run again. */
export async function convertManagers(kube: Kube, resource: Resource, to: Version): Promise<number> {
  const objects = await kube.list(resource);
  const results = await pMap(objects, (object) => convertOne(kube, resource, object, to), { concurrency: AT_ONCE });
  return results.filter(Boolean).length;
}

/** Resolves to false where nothing was to be changed, or the object is gone. */
async function convertOne(kube: Kube, resource: Resource, object: Stored<KubeObject>, to: Version): Promise<boolean> {
  const { namespace = '', name } = object.metadata;
  const path = objectPath(resource, namespace, name);
  let isChanged = false;
  try {
    await retryConflicts(async () => {
      const answer = await kube.raw('GET', path);
      if (answer.status >= 400) throw toKubeError(answer, `GET ${path}`);
      const { metadata } = JSON.parse(answer.text) as Stored<KubeObject>;
      const { resourceVersion, managedFields = [] } = metadata as typeof metadata & {
        managedFields?: ManagedFieldsEntry[];
      };
      const converted = convertManagedFields(resource.kind as Kind, managedFields, to);
      if (converted === managedFields) return;
      await kube.mergePatch(resource, namespace, name, { metadata: { resourceVersion, managedFields: converted } });
      isChanged = true;
    });
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error;
  }
  return isChanged;
}
