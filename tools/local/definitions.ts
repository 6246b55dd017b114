/** Installs the definitions in the cluster of the local system, which serves v1beta1 alone, without a webhook. */
import { CRDS } from '../../src/kube/core.ts';
import { type Kube, KubeError, type KubeObject, type Resource } from '../../src/kube/types.ts';
import type { Logger } from '../../src/lib/log.ts';
import { DEFINITION_NAMES } from '../../src/resources/common/names.ts';
import { applyCrds } from '../../src/resources/crd/install.ts';

type Definition = KubeObject<unknown, { storedVersions?: string[] }>;

/** Whether objects may be stored as v1alpha1. */
async function hasOldObjects(kube: Kube): Promise<boolean> {
  const stored = await Promise.all(
    DEFINITION_NAMES.map((name) =>
      kube.get(CRDS as Resource<Definition>, '', name).then(
        ({ status }) => status?.storedVersions ?? [],
        (error: unknown) => {
          if (error instanceof KubeError && error.status === 404) return [];
          throw error;
        },
      ),
    ),
  );
  return stored.flat().includes('v1alpha1');
}

/** Resolves when the definitions are served. Objects of an earlier checkout are migrated, with a key that is below `dir` meanwhile. */
export async function installDefinitions(
  kube: Kube,
  { dir, log, onProgress = () => {} }: { dir: string; log: Logger; onProgress?: (step: string) => void },
): Promise<void> {
  if (!(await hasOldObjects(kube))) return applyCrds(kube);
  onProgress('migrating the stored objects');
  // Nearly no start needs this, and it takes time to load.
  const { migrateStoredObjects } = await import('./stored-objects.ts');
  await migrateStoredObjects(kube, { dir, log });
}
