/** Runs the API server: opens its parts, and closes them again in reverse. */
import { readFile } from 'node:fs/promises';
import type { Lifecycle } from '../lib/lifecycle.ts';
import type { Logger } from '../lib/log.ts';
import { buildServer } from './app.ts';
import { createChangeService } from './events/changes.ts';
import { createHttpMetrics } from './http/metrics.ts';
import { openAccountServices } from './process/account-services.ts';
import { openAuthParts } from './process/auth.ts';
import { followBillingChanges, openBillingServices } from './process/billing-services.ts';
import { startCleanup } from './process/cleanup.ts';
import { openDomainServices } from './process/domain-services.ts';
import { openKube, openResources } from './process/kubernetes.ts';
import { openOps } from './process/ops-server.ts';
import { openQuotas } from './process/quotas.ts';
import { openCounter } from './process/request-counter.ts';
import { startSuspensions } from './process/suspensions.ts';
import type { ApiConfig } from './settings.ts';

/** Time limit of running requests: deleting a stream takes the longest. */
const DRAIN_MS = 28_000;

export interface RunningApi {
  /** Address of the server, for callers that asked for any free port. */
  url: string;
  opsUrl: string;
  /** Resolves when the caches are filled and the server is ready. */
  ready: Promise<void>;
}

/** Listens at once; requests that need Kubernetes get 502 until its resources have been read. */
export async function runApi(config: ApiConfig, lifecycle: Lifecycle, log: Logger): Promise<RunningApi> {
  const metrics = createHttpMetrics();
  const kube = openKube(config, lifecycle, metrics);
  const identity = openAuthParts(config, lifecycle, metrics, log);
  const { auth, db } = identity;
  const resources = openResources(kube, config, lifecycle, metrics, log);
  const limits = openQuotas({ db, config, resources });
  const { quotas } = limits;
  const money = await openBillingServices(config, identity, resources, log);
  const nouns = await openDomainServices({ config, kube, resources, limits, auth, lifecycle });
  const services = { ...nouns, ...money };
  const moneyNews = followBillingChanges(config, log, lifecycle.signal);
  const people = openAccountServices({ config, kube, resources, services, identity, quotas, lifecycle, log });
  const isSuspended = startSuspensions(db, resources, lifecycle, log);
  const ops = await openOps({ config, kube, db, isSynced: resources.isSynced, metrics, lifecycle });
  const counter = await openCounter(config, lifecycle, metrics, log);

  const server = await buildServer({
    config,
    auth,
    authServer: {
      library: identity.library,
      forgetCredentials: auth.forgetCredentials,
      wasUsed: auth.wasUsed,
      programs: auth.programs,
    },
    db,
    quotas,
    services,
    stats: nouns.stats,
    changes: createChangeService({ ...resources.byNoun, ...moneyNews }, config.feedsPerServer),
    people,
    isSuspended,
    health: ops.health,
    version: await readVersion(),
    metrics,
    onWebhook: metrics.webhook,
    stopping: lifecycle.signal,
    leaving: ops.leaving,
    counter,
    ageMs: resources.ageMs,
    loaders: resources.loaders,
    log,
  });
  lifecycle.defer('server', () => server.close(), DRAIN_MS);
  startCleanup({ config, identity, resources, uploads: services.uploads, lifecycle, log });

  const url = await server.listen({ host: config.host, port: config.port });
  ops.markListening();
  log.info({ url, opsPort: ops.port }, 'the API listens');
  return { url, opsUrl: ops.url, ready: resources.ready };
}

/** Reads the version from package.json beside src/ (the image has it there too). */
async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { version?: string }).version ?? '0.0.0';
}
