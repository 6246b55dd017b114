/** Serves the authorization server: the paths of the auth library, and the discovery documents. */
import type { FastifyInstance } from 'fastify';
import {
  OPENID_METADATA_PATH,
  PROTECTED_RESOURCE_PATHS,
  SERVER_METADATA_PATH,
  sessionCookieName,
  type TokenResource,
} from '../../auth/addresses.ts';
import { AUTH_CONNECTIONS, type Auth } from '../../auth/better-auth.ts';
import type { ClientDocuments } from '../../auth/client-documents.ts';
import type { Programs } from '../../auth/client-requests.ts';
import { createConcurrencyLimit } from '../../auth/concurrency.ts';
import { resourceMetadata, serverMetadata } from '../../auth/documents.ts';
import type { AuthMetrics } from '../../auth/metrics.ts';
import type { AuthService } from '../../auth/service.ts';
import { openToPages } from '../http/cors.ts';
import type { Methods } from '../http/methods.ts';
import { type Counter, limitRate } from '../http/ratelimit.ts';
import type { ApiConfig } from '../setup/settings.ts';
import { serveKeySession } from './key-session.ts';
import { authRoutes } from './mount.ts';

/**
 * The library queries the database inside and outside of a transaction at once. With as many requests as connections, each could
 * hold one and wait for another forever. A quarter of them may run, so that there are enough for each.
 */
const AT_WORK = AUTH_CONNECTIONS / 4;
/**
 * One source address has half of these places, so that other users sign in at once during a flood, and so have sign-ins that wait for
 * the server of another provider. The queue allows for an office behind one address. The longest wait is shorter than the time limits
 * of browsers and proxies.
 */
const TURNS = {
  places: AT_WORK,
  perAddress: AT_WORK / 2,
  perProvider: AT_WORK / 2,
  waiting: 400,
  waitingPerAddress: 100,
  waitMs: 30_000,
};
/** Clients may cache the documents for this time. */
const MAX_AGE_SECONDS = 300;

export interface AuthServer {
  library: () => Promise<Pick<Auth, 'handler'>>;
  /** Drops all cached sessions and consents. */
  forgetCredentials: () => void;
  /** Returns whether a refresh token was exchanged or revoked before. */
  wasUsed: (refreshToken: string) => Promise<boolean>;
  programs: Programs;
  documents: ClientDocuments;
}

export interface ServeDeps {
  config: Pick<ApiConfig, 'publicUrl' | 'scopePrefix' | 'rateLimit' | 'authLimits' | 'timeouts'>;
  auth: Pick<AuthService, 'authenticate'>;
  counter?: Counter | undefined;
  methods: Methods;
  metrics?: { auth: AuthMetrics } | undefined;
}

export async function serveAuth(app: FastifyInstance, server: AuthServer, deps: ServeDeps): Promise<void> {
  const { config, counter, methods, metrics } = deps;
  methods.watch(app);
  const inTurn = createConcurrencyLimit(TURNS);
  const cookie = sessionCookieName(config.publicUrl);
  await app.register(async (auth) => {
    metrics?.auth.observe(auth, { cookie, wasUsed: server.wasUsed });
    await authRoutes(auth, {
      ...config,
      cookie,
      handler: (request, owners) => inTurn(owners, async () => (await server.library()).handler(request)),
      programs: server.programs,
      documents: server.documents,
      onChange: server.forgetCredentials,
      bodyTimeoutMs: config.timeouts.bodyMs,
      counter,
    });
  });
  await app.register(async (keys) => {
    await limitRate(keys, config.rateLimit, counter);
    serveKeySession(keys, { auth: deps.auth, publicUrl: config.publicUrl });
  });
  await app.register(async (documents) => {
    openToPages(documents);
    await limitRate(documents, config.rateLimit, counter);
    const at = (path: string, document: object) =>
      documents.get(path, { schema: { hide: true } as object }, async (_request, reply) =>
        reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`).send(document),
      );
    const metadata = serverMetadata(config);
    at(SERVER_METADATA_PATH, metadata);
    at(OPENID_METADATA_PATH, metadata);
    for (const [resource, path] of Object.entries(PROTECTED_RESOURCE_PATHS) as [TokenResource, string][])
      at(path, resourceMetadata(config, resource));
    const agents = resourceMetadata(config, 'agents');
    at(`${PROTECTED_RESOURCE_PATHS.agents}/`, { ...agents, resource: `${agents.resource}/` });
  });
}
