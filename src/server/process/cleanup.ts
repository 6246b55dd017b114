/** Deletes expired data once an hour: idempotency keys, sessions and clients, counts of mails, incomplete uploads. */
import { forgetOld } from '../../domain/idempotency/store.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { ApiConfig } from '../settings.ts';
import type { Identity } from './identity.ts';
import type { Resources } from './kubernetes.ts';

const HOUR_MS = 3_600_000;

interface CleanupDeps {
  config: ApiConfig;
  identity: Identity;
  resources: Resources;
  uploads: UploadService;
  lifecycle: Lifecycle;
  log: Logger;
}

export function startCleanup({ config, identity, resources, uploads, lifecycle, log }: CleanupDeps): void {
  const { auth, db, mails } = identity;
  const timer = setInterval(() => {
    forgetOld(db).catch((err) => log.warn({ err }, 'expired idempotency keys could not be deleted'));
    auth
      .forgetOld(config.unusedClientDays)
      .catch((err) => log.warn({ err }, 'expired sessions and unused clients could not be deleted'));
    mails?.forgetOld().catch((err) => log.warn({ err }, 'old counts of mails could not be deleted'));
    uploads.incoming
      ?.expire(resources.byName.uploads.list(), new Date())
      .catch((err) => log.warn({ err }, 'incomplete uploads could not be deleted'));
  }, HOUR_MS);
  lifecycle.defer('cleanup', () => clearInterval(timer));
}
