/** Opens the services of an account's owner, and continues deletions that another server began. */
import { OIDC_PROVIDER_ID } from '../../auth/oidc.ts';
import { createAccessService } from '../../domain/accounts/access.ts';
import type { Quotas } from '../../domain/limits/quotas.ts';
import type { Kube } from '../../kube/types.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import { deleteResources } from '../account/delete-resources.ts';
import { createDeletions } from '../account/deletion.ts';
import { createExport } from '../account/export.ts';
import type { AccountOwnerServices } from '../rest/routes.ts';
import type { Services } from '../services.ts';
import type { ApiConfig } from '../settings.ts';
import type { AuthParts } from './auth.ts';
import type { openResources } from './kubernetes.ts';

interface PeopleDeps {
  config: ApiConfig;
  kube: Kube;
  resources: ReturnType<typeof openResources>;
  services: Services;
  identity: AuthParts;
  quotas: Quotas;
  lifecycle: Lifecycle;
  log: Logger;
}

export function openAccountServices(deps: PeopleDeps): AccountOwnerServices {
  const { config, kube, resources, services, identity, quotas, lifecycle, log } = deps;
  const { auth, db, mails } = identity;
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
    clear: (accountId) => deleteResources(kube, resources, accountId),
    tell: (email) => mails?.accountDeleted(email),
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
    },
  };
}
