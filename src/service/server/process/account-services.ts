/** Opens the services of an account's owner, and continues deletions that another server began. */

import type { Kube } from '../../../core/kube/types.ts';
import { OIDC_PROVIDER_ID } from '../../auth/oidc.ts';
import { createAccessService } from '../../domain/accounts/access.ts';
import { deleteAccountFacts } from '../../domain/as-run/store.ts';
import { deleteAccountEndpoints } from '../../domain/endpoints/store.ts';
import { deleteAccountEvents } from '../../domain/events/store.ts';
import type { Quotas } from '../../domain/limits/quotas.ts';
import { deleteAccountAirChanges } from '../../domain/uptime/store.ts';
import { deleteResources } from '../account/delete-resources.ts';
import { createDeletions } from '../account/deletion.ts';
import { createExport } from '../account/export.ts';
import type { AccountOwnerServices } from '../rest/routes.ts';
import type { Services } from '../setup/services.ts';
import type { AuthParts } from './auth.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';

interface AccountServicesDeps {
  kube: Kube;
  auth: AuthParts;
  resources: Resources;
  services: Services;
  quotas: Quotas;
}

export function openAccountServices(context: ProcessContext, deps: AccountServicesDeps): AccountOwnerServices {
  const { config, lifecycle, log } = context;
  const { kube, resources, services, quotas } = deps;
  const { service: auth, db, mails } = deps.auth;
  const access = createAccessService({
    db,
    auth,
    quotas,
    sendNotice: async (userId, notice) => mails?.notice((await auth.user(userId)).email, notice),
  });
  const deletions = createDeletions({
    db,
    auth,
    log,
    clear: async (accountId) => {
      await resources.cells.load(accountId);
      const isGone = await deleteResources(kube, resources, accountId);
      if (isGone) {
        await deleteAccountEvents(db, accountId);
        await deleteAccountAirChanges(db, accountId);
        await deleteAccountFacts(db, accountId);
        await deleteAccountEndpoints(db, accountId);
      }
      return isGone;
    },
    sendMail: (email) => mails?.accountDeleted(email),
  });
  lifecycle.defer('deletions', () => deletions.stop());
  // Before the caches are filled, an account would seem empty.
  void resources.ready.then(
    () => deletions.start(),
    () => undefined,
  );
  return {
    access,
    deletions,
    exportAccount: createExport({ ...services, access }),
    signInOptions: {
      signUp: mails !== undefined && config.signUp,
      passwordReset: mails !== undefined,
      providers: config.outside ? [{ id: OIDC_PROVIDER_ID, name: config.outside.name }] : [],
      publicUrl: config.publicUrl,
      supportUrl: config.supportUrl ?? null,
    },
  };
}
