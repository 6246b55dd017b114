/** Opens the HTTP server with all transports on the parts of the process. The caller lets it listen. */
import type { FastifyInstance } from 'fastify';
import { buildServer, type ServerDeps } from '../app/app.ts';
import type { AuthParts } from './auth.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';
import type { OpsServer } from './ops-server.ts';

/** Time limit of running requests: deleting a stream takes the longest. */
const DRAIN_MS = 28_000;

interface HttpServerDeps
  extends Pick<
    ServerDeps,
    'quotas' | 'services' | 'stats' | 'changes' | 'feedPlaces' | 'accountOwner' | 'isSuspended' | 'counter'
  > {
  auth: AuthParts;
  resources: Resources;
  ops: OpsServer;
}

export async function openHttpServer(context: ProcessContext, deps: HttpServerDeps): Promise<FastifyInstance> {
  const { config, lifecycle, metrics, log } = context;
  const { auth, resources, ops, ...parts } = deps;
  const { service, library, documents, db } = auth;
  const { forgetCredentials, wasUsed, programs } = service;
  const server = await buildServer({
    ...parts,
    config,
    auth: service,
    authServer: { library, documents, forgetCredentials, wasUsed, programs },
    db,
    health: ops.health,
    version: ops.version,
    leaving: ops.leaving,
    stopping: lifecycle.signal,
    ageMs: resources.ageMs,
    cells: resources.cells,
    loaders: resources.loaders,
    metrics,
    onWebhook: metrics.webhook,
    log,
  });
  lifecycle.defer('server', () => server.close(), DRAIN_MS);
  return server;
}
