/** Takes the streams of suspended accounts off air, and returns the check for a suspended account. */
import { createSuspensions } from '../../billing/audit/admin/suspensions.ts';
import type { Db } from '../../db/pool.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { Resources } from './kubernetes.ts';

export function startSuspensions(db: Db, resources: Resources, lifecycle: Lifecycle, log: Logger) {
  const { byName, streams } = resources;
  const suspensions = createSuspensions({ db, log, streams: byName.streams.list, patch: streams.patch });
  lifecycle.defer('suspensions', () => suspensions.stop());
  suspensions.start();
  return suspensions.isSuspended;
}
