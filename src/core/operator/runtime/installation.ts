/** Reads which installation of loopstream this is: the UID of the namespace kube-system, which no restore into another cluster copies. */
import { NAMESPACES } from '../../kube/core.ts';
import { hasReason, type Kube } from '../../kube/types.ts';
import { sleep } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';

const RETRY_MS = 1_000;

/** Retries until Kubernetes responds. Undefined without the right to look. Rejects when `signal` aborts. */
export async function readInstallation(
  kube: Pick<Kube, 'get'>,
  signal: AbortSignal,
  log: Logger,
): Promise<string | undefined> {
  for (;;) {
    try {
      return (await kube.get(NAMESPACES, '', 'kube-system')).metadata.uid;
    } catch (err) {
      if (hasReason(err, 'Forbidden', 'Unauthorized', 'NotFound')) {
        log.warn(
          { err },
          'the operator may not read the namespace kube-system: uploads get no record in the storage, so a restored upload does not find its source again. Grant get on namespaces (rbac.finalizers in the chart)',
        );
        return undefined;
      }
      log.debug({ err }, 'the installation cannot be read yet');
    }
    await sleep(RETRY_MS, signal);
  }
}
