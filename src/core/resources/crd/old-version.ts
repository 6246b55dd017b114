/** Finds definitions of a cluster whose objects may be stored as v1alpha1, which nothing here reads or converts. */
import { CRDS } from '../../kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../kube/types.ts';
import { DEFINITION_NAMES } from '../common/names.ts';

export const OLD_VERSION = 'v1alpha1';

type Definition = KubeObject<unknown, { storedVersions?: string[] }>;

/** Where objects of ours may be stored as v1alpha1. Its message says the way on. */
export class OldVersionError extends Error {
  override readonly name = 'OldVersionError';
  readonly code = 'objects_in_old_version';

  constructor(definitions: readonly string[]) {
    super(
      `Kubernetes may hold objects of ${definitions.join(', ')} as ${OLD_VERSION}, which loopstream does not read any more. ` +
        'Migrate or delete them first: see docs/upgrade.md, "From v1alpha1".',
    );
  }
}

/**
 * Rejects with OldVersionError. A missing or unreadable definition counts as current: whatever needs it fails by
 * itself.
 */
export async function refuseOldVersion(kube: Pick<Kube, 'get'>): Promise<void> {
  const found = await Promise.all(
    DEFINITION_NAMES.map((name) => kube.get(CRDS as Resource<Definition>, '', name).catch(() => undefined)),
  );
  const old = found.filter((definition) => definition?.status?.storedVersions?.includes(OLD_VERSION));
  if (old.length > 0) throw new OldVersionError(old.flatMap((definition) => definition?.metadata.name ?? []));
}
