/**
 * Deletes expired data once an hour: idempotency keys, sessions and clients, counts of mails, old events, deliveries and changes of streams,
 * incomplete uploads.
 */
import { deleteOldFacts } from '../../domain/as-run/store.ts';
import { deleteOldDeliveries } from '../../domain/endpoints/store.ts';
import { deleteOldEvents } from '../../domain/events/store.ts';
import { deleteOldKeys } from '../../domain/idempotency/store.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import { deleteOldAirChanges } from '../../domain/uptime/store.ts';
import type { AuthParts } from './auth.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';

const HOUR_MS = 3_600_000;

interface CleanupDeps {
  auth: AuthParts;
  resources: Resources;
  uploads: UploadService;
}

export function startCleanup(
  { config, lifecycle, log }: ProcessContext,
  { auth, resources, uploads }: CleanupDeps,
): void {
  const { service, db, mails } = auth;
  const timer = setInterval(() => {
    deleteOldKeys(db).catch((err) => log.warn({ err }, 'expired idempotency keys could not be deleted'));
    service
      .forgetOld(config.unusedClientDays)
      .catch((err) => log.warn({ err }, 'expired sessions and unused clients could not be deleted'));
    mails?.forgetOld().catch((err) => log.warn({ err }, 'old counts of mails could not be deleted'));
    deleteOldEvents(db).catch((err) => log.warn({ err }, 'old events could not be deleted'));
    deleteOldAirChanges(db).catch((err) => log.warn({ err }, 'old changes of streams could not be deleted'));
    deleteOldFacts(db).catch((err) => log.warn({ err }, 'old records of what streams played could not be deleted'));
    deleteOldDeliveries(db).catch((err) => log.warn({ err }, 'old deliveries could not be deleted'));
    uploads.incoming
      ?.expire(resources.byName.uploads.list(), new Date())
      .catch((err) => log.warn({ err }, 'incomplete uploads could not be deleted'));
  }, HOUR_MS);
  lifecycle.defer('cleanup', () => clearInterval(timer));
}
