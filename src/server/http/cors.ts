/** Lets pages of other origins use the API (https://fetch.spec.whatwg.org/#http-cors-protocol), where a setting says so. */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

const MAX_AGE_SECONDS = 600;

/** Before the guards: a browser asks whether it may with neither key nor token. Without origins nobody may. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    // Keys and tokens stand in headers. As cookies are never taken, any header may be sent, and `*` means all that are told.
    exposedHeaders: '*',
    maxAge: MAX_AGE_SECONDS,
    strictPreflight: false,
    preflightContinue: true,
  });
  // Only what asks for a method is a preflight; another OPTIONS may be a tus client that asks what is possible.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return done();
    void reply.code(204).header('content-length', '0').send();
  });
}

/** For paths that answer everybody alike, and look at no cookie: pages of all origins may read them. */
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
