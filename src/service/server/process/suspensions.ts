/** Takes the streams of suspended accounts off air, and returns the check for a suspended account. */
import { createSuspensions } from '../../billing/audit/admin/suspensions.ts';
import type { Db } from '../../db/pool.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';

interface SuspensionsDeps {
  db: Db;
  resources: Resources;
}

export function startSuspensions({ lifecycle, log }: ProcessContext, { db, resources }: SuspensionsDeps) {
  const { byName, streams } = resources;
  const suspensions = createSuspensions({ db, log, streams: byName.streams.list, patch: streams.patch });
  lifecycle.defer('suspensions', () => suspensions.stop());
  suspensions.start();
  return suspensions.isSuspended;
}
