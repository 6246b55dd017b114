/** Installs the definitions in the cluster of the local system. */
import type { Kube } from '../../src/core/kube/types.ts';
import { applyCrds } from '../../src/core/resources/crd/install.ts';
import { OLD_VERSION, OldVersionError } from '../../src/core/resources/crd/old-version.ts';
import { ConfigError } from '../../src/core/settings/settings.ts';

/** Resolves when the definitions are served. Rejects with ConfigError where an earlier checkout has stored objects in `dir`. */
export async function installDefinitions(kube: Kube, dir: string): Promise<void> {
  try {
    await applyCrds(kube);
  } catch (error) {
    if (!(error instanceof OldVersionError)) throw error;
    throw new ConfigError(
      `${dir} is of an earlier checkout, whose streams and uploads Kubernetes stores as ${OLD_VERSION}. ` +
        'Nothing was changed. To delete them, and all else of the local system, run make reset. ' +
        'To keep them, see docs/upgrade.md, "From v1alpha1".',
      { cause: error },
    );
  }
}
