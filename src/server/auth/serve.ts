/** The authorization server's paths: those of the auth library, and the documents that say where they are. */
import type { FastifyInstance } from 'fastify';
import {
  OPENID_METADATA_PATH,
  PROTECTED_RESOURCE_PATHS,
  SERVER_METADATA_PATH,
  sessionCookieName,
  type TokenResource,
} from '../../auth/addresses.ts';
import { AUTH_CONNECTIONS, type Auth } from '../../auth/better-auth.ts';
import { createConcurrencyLimit } from '../../auth/concurrency.ts';
import { resourceMetadata, serverMetadata } from '../../auth/documents.ts';
import type { AuthMetrics } from '../../auth/metrics.ts';
import type { Programs } from '../../auth/programs.ts';
import { openToPages } from '../http/cors.ts';
import type { Methods } from '../http/methods.ts';
import { type Counter, limitRate } from '../http/ratelimit.ts';
import type { ApiConfig } from '../settings.ts';
import { authRoutes } from './mount.ts';

/**
 * The library asks the database within a transaction and beside it at once. If as many were at work as there are connections,
 * each could hold one and wait for another for ever. A quarter of them may be, so that there are enough for each.
 */
const AT_WORK = AUTH_CONNECTIONS / 4;
/**
 * One source address has half of these places, so that somebody else's sign-in begins at once while a flood of them waits. An
 * office behind one address may have so many in line; the longest wait is shorter than browsers and proxies have patience.
 */
const TURNS = { places: AT_WORK, perAddress: AT_WORK / 2, waiting: 400, waitingPerAddress: 100, waitMs: 30_000 };
/** Clients may keep the documents for so long. */
const MAX_AGE_SECONDS = 300;

export interface AuthServer {
  library: () => Promise<Pick<Auth, 'handler'>>;
  /** Has all that is known of sessions and consents looked up anew. */
  forgetPeople: () => void;
  /** Whether a refresh token was exchanged, or given back, before. */
  wasUsed: (refreshToken: string) => Promise<boolean>;
  programs: Programs;
}

export interface ServeDeps {
  config: Pick<ApiConfig, 'publicUrl' | 'scopePrefix' | 'rateLimit' | 'authLimits' | 'timeouts'>;
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
      onChange: server.forgetPeople,
      bodyTimeoutMs: config.timeouts.bodyMs,
      counter,
    });
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
