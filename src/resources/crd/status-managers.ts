/**
 * Gives statuses back to server-side apply, by which releases before v1beta1 write them. The operator writes them by PUT, and a field that
 * such a release leaves out would stay for ever: Kubernetes removes one only when no other manager has written it.
 */
import pMap from 'p-map';
import { formatApiVersion, objectPath } from '../../kube/paths.ts';
import { toKubeError } from '../../kube/transport.ts';
import { hasReason, type Kube, type KubeObject, type Resource, type Stored } from '../../kube/types.ts';
import { FIELD_MANAGER_OPERATOR } from '../common/names.ts';
import { retryConflicts } from './conflicts.ts';

interface Entry {
  manager: string;
  operation: 'Apply' | 'Update';
  subresource?: string;
}

/** Writes at the same time. */
const AT_ONCE = 8;

const isPut = ({ manager, operation, subresource }: Entry): boolean =>
  manager === FIELD_MANAGER_OPERATOR && operation === 'Update' && subresource === 'status';

/** Resolves to how many objects were changed. Rejects with KubeError. May be interrupted, and run again. */
export async function returnStatuses(kube: Kube, resource: Resource): Promise<number> {
  const objects = await kube.list(resource);
  const results = await pMap(objects, (object) => returnStatus(kube, resource, object), { concurrency: AT_ONCE });
  return results.filter(Boolean).length;
}

/** Resolves to false where there was nothing to give back, or the object is gone. */
async function returnStatus(kube: Kube, resource: Resource, { metadata }: Stored<KubeObject>): Promise<boolean> {
  const { name, namespace = '' } = metadata;
  let isChanged = false;
  try {
    await retryConflicts(async () => {
      const { uid, resourceVersion, status, managedFields } = await readWithManagers(kube, resource, namespace, name);
      if (!managedFields.some(isPut)) return;
      const applied = { name, namespace, uid, resourceVersion };
      const identity = { apiVersion: formatApiVersion(resource), kind: resource.kind };
      const options = { fieldManager: FIELD_MANAGER_OPERATOR, subresource: 'status' } as const;
      // It is applied first: a field without a manager would stay too.
      await kube.apply(resource, namespace, { ...identity, metadata: applied, status }, options);
      const next = await readWithManagers(kube, resource, namespace, name);
      const left = next.managedFields.filter((entry) => !isPut(entry));
      const patch = { metadata: { resourceVersion: next.resourceVersion, managedFields: left } };
      await kube.mergePatch(resource, namespace, name, patch);
      isChanged = true;
    });
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error;
  }
  return isChanged;
}

async function readWithManagers(kube: Kube, resource: Resource, namespace: string, name: string) {
  const answer = await kube.raw('GET', objectPath(resource, namespace, name));
  if (answer.status >= 400) throw toKubeError(answer, `GET ${name}`);
  const { metadata, status } = JSON.parse(answer.text) as Stored<KubeObject>;
  const { uid, resourceVersion, managedFields = [] } = metadata as typeof metadata & { managedFields?: Entry[] };
  return { uid, resourceVersion, status, managedFields };
}
