/** Builds the API server: the routes of all transports and the hooks of every request. */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../../core/lib/log.ts';
import { AUTH_PATH } from '../../auth/addresses.ts';
import type { Db } from '../../db/pool.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import type { FairSlots } from '../../lib/fair-slots.ts';
import { type AuthServer, serveAuth } from '../auth/serve.ts';
import type { ChangeService } from '../events/changes.ts';
import { GRAPHQL, graphqlRoutes } from '../graphql/routes.ts';
import { setAgeHeader } from '../http/age-header.ts';
import { allowOrigins, openPaths } from '../http/cors.ts';
import { createApp } from '../http/create-app.ts';
import { explainToBrowsers, serveDashboard } from '../http/dashboard.ts';
import { handleErrors } from '../http/errors.ts';
import { type Stopping, stopGracefully } from '../http/graceful-stop.ts';
import { type Authentication, type GuardOptions, guard } from '../http/guard.ts';
import { secureHeaders } from '../http/headers.ts';
import type { IdempotencyDeps } from '../http/idempotency-keys.ts';
import { createMethods } from '../http/methods.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { Counter } from '../http/ratelimit.ts';
import { loadRecentObjects, type ObjectLoaders } from '../http/recent-objects.ts';
import { traceRequests } from '../http/tracing.ts';
import { DOCS, isExplained } from '../http/visits.ts';
import { agentRoutes, MCP } from '../mcp/routes.ts';
import type { OpenApi } from '../openapi/document.ts';
import { serveErrorPages } from '../openapi/error-routes.ts';
import { completeOpenApi, OPENAPI } from '../openapi/openapi.ts';
import type { MetaServices } from '../operations/meta.ts';
import { V1 } from '../rest/adapter.ts';
import type { AccountOwnerServices, RouteDeps } from '../rest/routes.ts';
import { serveRest } from '../rest/serve.ts';
import type { Services } from '../setup/services.ts';
import type { ApiConfig } from '../setup/settings.ts';

export interface ServerDeps extends Pick<MetaServices, 'health' | 'version'>, Stopping {
  config: Pick<
    ApiConfig,
    | 'publicUrl'
    | 'rateLimit'
    | 'authLimits'
    | 'scopePrefix'
    | 'authSecret'
    | 'dashboardDir'
    | 'trustProxy'
    | 'corsOrigins'
    | 'timeouts'
    | 'trustTraceparent'
  > &
    Partial<Pick<ApiConfig, 'supportUrl'>>;
  auth: Authentication;
  /** Without it there is neither sign-in nor OAuth. */
  authServer?: AuthServer | undefined;
  db: Db;
  quotas: IdempotencyDeps['quotas'];
  services: Services;
  stats: StatsService;
  changes: ChangeService;
  feedPlaces: FairSlots;
  accountOwner: AccountOwnerServices;
  onWebhook?: RouteDeps['onWebhook'];
  isSuspended?: GuardOptions['isSuspended'];
  cells?: GuardOptions['cells'];
  loaders?: ObjectLoaders;
  /** Counts requests of all replicas together; without it each replica counts its own. */
  counter?: Counter | undefined;
  /** Age of the caches of an account's resources in milliseconds; 0 while Kubernetes responds. */
  ageMs: (accountId: string) => number;
  metrics?: HttpMetrics;
  log: Logger;
}

/** Returns a server that does not listen yet. */
export async function buildServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { config } = deps;
  const app = createApp(deps);
  handleErrors(app, config.publicUrl);
  stopGracefully(app, deps);
  deps.metrics?.observe(app);
  secureHeaders(app, {
    api: [V1, GRAPHQL, MCP, AUTH_PATH, '/.well-known'],
    docs: DOCS,
    isPage: config.dashboardDir === undefined ? () => false : isExplained,
    overTls: config.publicUrl.startsWith('https:'),
  });

  explainToBrowsers(app, config.dashboardDir);
  await app.register(swagger, OPENAPI);
  let description: OpenApi | undefined;
  const openApi = (): OpenApi => {
    description ??= completeOpenApi(app.swagger(), config.scopePrefix);
    return description;
  };
  serveErrorPages(app, openApi);

  const methods = createMethods();
  await app.register(async (api) => {
    openPaths(api, `${V1}/public/`);
    await allowOrigins(api, config.corsOrigins);
    methods.watch(api);
    traceRequests(api, config);
    const { auth, counter, isSuspended, cells } = deps;
    await guard(api, { auth, counter, isSuspended, cells, ...config });
    loadRecentObjects(api, deps.loaders ?? {});
    await api.register(async (graphql) => {
      setAgeHeader(graphql, deps.ageMs);
      graphqlRoutes(graphql, { ...deps, ...config, secret: config.authSecret, observe: deps.metrics?.graphql });
    });
    await api.register(async (agents) => {
      setAgeHeader(agents, deps.ageMs);
      agentRoutes(agents, { ...deps, ...config, secret: config.authSecret, observe: deps.metrics?.tool });
    });
    await api.register(async (v1) => serveRest(v1, { ...deps, methods, openApi }), { prefix: V1 });
  });

  const { authServer } = deps;
  if (authServer) await app.register(async (auth) => serveAuth(auth, authServer, { ...deps, methods }));
  await serveDashboard(app, config.dashboardDir, methods);
  await app.ready();
  return app;
}
