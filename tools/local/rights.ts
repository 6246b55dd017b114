/**
 * Creates the namespace and its rights from manifests/rbac.yaml as it stands, so that our servers have the rights of a
 * real cluster, and no more. Each calls the API server with a certificate in its ServiceAccount's name.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Kube, ObjectMeta, Resource } from '../../src/core/kube/types.ts';
import { PROJECT_ROOT } from '../process/root.ts';

export const NAMESPACE = 'loopstream';

/** The user name that Kubernetes gives a ServiceAccount of our namespace. */
export const serviceAccountUser = (name: string): string => `system:serviceaccount:${NAMESPACE}:${name}`;

const rbac = (kind: string, plural: string, namespaced = true): Resource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural,
  namespaced,
});

const RESOURCES: readonly Resource[] = [
  { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  { group: '', version: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true },
  rbac('Role', 'roles'),
  rbac('RoleBinding', 'rolebindings'),
  rbac('ClusterRole', 'clusterroles', false),
  rbac('ClusterRoleBinding', 'clusterrolebindings', false),
  { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', namespaced: true },
];

type Manifest = { apiVersion: string; kind: string; metadata: ObjectMeta };

/** Applies the manifest, the namespace first; what is there already stays as it is. */
export async function applyRights(kube: Kube): Promise<void> {
  const text = await readFile(resolve(PROJECT_ROOT, 'manifests/rbac.yaml'), 'utf8');
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  for (const resource of RESOURCES) {
    const ofKind = manifests.filter((manifest) => manifest.kind === resource.kind);
    await Promise.all(
      ofKind.map((manifest) =>
        kube.apply(resource, manifest.metadata.namespace ?? '', manifest, { fieldManager: 'loopstream-local' }),
      ),
    );
  }
}
