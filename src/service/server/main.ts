/** Runs the API server: opens its parts from the bottom up. The lifecycle closes them in reverse. */

import type { Lifecycle } from '../../core/lib/lifecycle.ts';
import type { Logger } from '../../core/lib/log.ts';
import { createAccountClasses } from '../billing/ledger/account-class.ts';
import { createWriteLimit } from '../domain/limits/writes.ts';
import { createFeedPlaces } from './events/changes.ts';
import { createHttpMetrics } from './http/metrics.ts';
import { openAccountServices } from './process/account-services.ts';
import { openAuthParts } from './process/auth.ts';
import { openBillingServices } from './process/billing-services.ts';
import { openChanges } from './process/changes.ts';
import { startCleanup } from './process/cleanup.ts';
import type { ProcessContext } from './process/context.ts';
import { openDomainServices } from './process/domain-services.ts';
import { openEvents } from './process/events.ts';
import { openHttpServer } from './process/http-server.ts';
import { openKube, openResources } from './process/kubernetes.ts';
import { openOpsServer } from './process/ops-server.ts';
import { openQuotas } from './process/quotas.ts';
import { openRequestCounter } from './process/request-counter.ts';
import { startSuspensions } from './process/suspensions.ts';
import type { ApiConfig } from './setup/settings.ts';

export interface RunningApi {
  /** Address of the server, for callers that asked for any free port. */
  url: string;
  opsUrl: string;
  /** Resolves when the caches are filled and the server is ready. */
  ready: Promise<void>;
}

/** Listens at once; requests that need Kubernetes get 502 until its resources have been read. */
export async function runApi(config: ApiConfig, lifecycle: Lifecycle, log: Logger): Promise<RunningApi> {
  const context: ProcessContext = { config, lifecycle, log, metrics: createHttpMetrics() };

  const kube = openKube(context);
  const auth = openAuthParts(context);
  const findClass = createAccountClasses({ db: auth.db, enabled: config.billing });
  const writes = createWriteLimit({ limits: config.limits, findClass });
  const resources = openResources(context, { kube, db: auth.db, writes });
  const limits = openQuotas({ config, db: auth.db, findClass, resources });
  const { quotas } = limits;

  const billing = await openBillingServices(context, { auth, resources });
  const { stats, ...domain } = await openDomainServices(context, { kube, auth, resources, limits, writes });
  const feedPlaces = createFeedPlaces(config.feedsPerServer);
  const changes = openChanges(context, resources, feedPlaces);
  const told = openEvents(context, { db: auth.db, leases: limits.leases, resources, services: domain });
  const services = { ...billing, ...domain, stats, ...told };
  const accountOwner = openAccountServices(context, { kube, auth, resources, services, quotas });
  const isSuspended = startSuspensions(context, { db: auth.db, resources });

  const ops = await openOpsServer(context, { kube, db: auth.db, isSynced: resources.isSynced });
  const counter = await openRequestCounter(context);
  const parts = {
    auth,
    resources,
    quotas,
    services,
    stats,
    changes,
    feedPlaces,
    accountOwner,
    isSuspended,
    ops,
    counter,
  };
  const server = await openHttpServer(context, parts);
  startCleanup(context, { auth, resources, uploads: services.uploads });

  const url = await server.listen({ host: config.host, port: config.port });
  ops.markListening();
  log.info({ url, opsPort: ops.port }, 'the API listens');
  return { url, opsUrl: ops.url, ready: resources.ready };
}
