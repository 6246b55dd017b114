/** Reports the age of a response from the caches while Kubernetes is unavailable. */
import type { FastifyInstance } from 'fastify';
import { findOperation, type Operation } from '../operations/list.ts';
import { OPERATION_SCOPES } from '../operations/scopes.ts';

/** Returns whether an operation is served from the caches while Kubernetes is unavailable, with their age. */
export const isCached = (id: Operation, method: string): boolean =>
  /^(get|head)$/i.test(method) && OPERATION_SCOPES[id] !== null && !findOperation(id)?.isUncached;

/**
 * Sets `Age` (RFC 9111, section 5.1): seconds since the origin, here Kubernetes, last responded. A response without it is current.
 * In REST only reads use the caches; GraphQL queries come by POST.
 */
export function setAgeHeader(app: FastifyInstance, ageMs: (accountId: string) => number): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const age = request.principal ? ageMs(request.principal.accountId) : 0;
    if (age === 0 || reply.statusCode >= 500) return done(null, payload);
    const { config, schema } = request.routeOptions;
    if (config.perField || isCached(schema?.operationId as Operation, request.method))
      void reply.header('age', Math.ceil(age / 1000));
    done(null, payload);
  });
}
