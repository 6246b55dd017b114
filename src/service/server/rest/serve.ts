/** Mounts REST: responses are not cached, POST takes an Idempotency-Key, and unknown paths are counted and return a problem. */
import type { FastifyInstance } from 'fastify';
import { answerError } from '../http/errors.ts';
import { idempotency } from '../http/idempotency.ts';
import type { IdempotencyDeps } from '../http/idempotency-keys.ts';
import type { Methods } from '../http/methods.ts';
import type { ApiConfig } from '../setup/settings.ts';
import { nounRoutes, type RouteDeps } from './routes.ts';

interface RestDeps extends Omit<RouteDeps, 'scopePrefix'>, Pick<IdempotencyDeps, 'db' | 'quotas'> {
  config: Pick<ApiConfig, 'authSecret' | 'scopePrefix'>;
  methods: Methods;
}

/** Serves all operations below /v1, with the hooks of every request. */
export async function serveRest(v1: FastifyInstance, deps: RestDeps): Promise<void> {
  const { config, methods } = deps;
  v1.addHook('onSend', (_request, reply, payload, done) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
    done(null, payload);
  });
  idempotency(v1, { db: deps.db, secret: config.authSecret, quotas: deps.quotas });
  // Unknown paths count too, and fail before the body is read.
  const count = v1.rateLimit();
  v1.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 && !methods.isOther(request)) return done();
    const refuse = () => done(methods.nothingAt(request, reply));
    count.call(v1, request as never, reply as never).then(refuse, done);
  });
  // Fastify runs the hooks of this prefix only with a not-found handler of its own.
  v1.setNotFoundHandler((request, reply) => answerError(methods.nothingAt(request, reply), request, reply));
  await nounRoutes(v1, { ...deps, scopePrefix: config.scopePrefix });
}
