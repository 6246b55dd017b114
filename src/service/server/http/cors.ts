/** Allows pages of other origins to use the API (https://fetch.spec.whatwg.org/#http-cors-protocol), as configured. */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

const MAX_AGE_SECONDS = 600;

/** Runs before the guards: a browser's preflight carries neither key nor token. Without origins nothing is allowed. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    // Keys and tokens are in headers. Cookies are never accepted, so any header may be sent, and `*` exposes all of them.
    exposedHeaders: '*',
    maxAge: MAX_AGE_SECONDS,
    strictPreflight: false,
    preflightContinue: true,
  });
  // A preflight names a method; another OPTIONS may be a tus client that reads the server's capabilities.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return done();
    void reply.code(204).header('content-length', '0').send();
  });
}

/**
 * Allows pages of all origins to read the paths that begin with `prefix`, whatever origins are configured. Runs before the guards, as
 * `allowOrigins` does.
 */
export function openPaths(app: FastifyInstance, prefix: string): void {
  const allowed = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag, Retry-After' };
  const preflight = {
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': 'If-None-Match',
    'access-control-max-age': MAX_AGE_SECONDS,
    'content-length': '0',
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.url.startsWith(prefix)) return done();
    void reply.headers(allowed);
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return done();
    void reply.code(204).headers(preflight).send();
  });
}

/** Allows pages of all origins to read paths that respond alike to everybody, and ignore cookies. */
export function openToPages(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': 'WWW-Authenticate' });
    done();
  });
  const preflight = {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
    'access-control-max-age': MAX_AGE_SECONDS,
  };
  app.addHook('onRoute', ({ url, method }) => {
    if (['OPTIONS', 'HEAD'].includes(String(method))) return;
    app.options(url, { schema: { hide: true } as object }, (_request, reply) =>
      reply.code(204).headers(preflight).send(),
    );
  });
}
