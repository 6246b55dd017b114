/** How old an answer is that was given from the caches while Kubernetes is away. */
import type { FastifyInstance } from 'fastify';
import { findOperation, type Operation } from '../operations/list.ts';
import { OPERATION_SCOPES } from '../operations/scopes.ts';

/** Whether an operation goes on from the caches while Kubernetes is away, and says how old they are. */
export const isCached = (id: Operation, method: string): boolean =>
  /^(get|head)$/i.test(method) && OPERATION_SCOPES[id] !== null && !findOperation(id)?.isUncached;

/**
 * `Age` (RFC 9111, section 5.1): seconds since the origin, here Kubernetes, was last heard of. Without it the answer is as
 * Kubernetes has it now. Of REST only reads are from the caches; a query of GraphQL comes by POST.
 */
export function tellAge(app: FastifyInstance, ageMs: () => number): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const age = ageMs();
    if (age === 0 || reply.statusCode >= 500) return done(null, payload);
    const { config, schema } = request.routeOptions;
    if (config.perField || isCached(schema?.operationId as Operation, request.method))
      void reply.header('age', Math.ceil(age / 1000));
    done(null, payload);
  });
}
