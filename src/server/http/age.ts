/** How old an answer is that was given from the caches while Kubernetes is away. */
import type { FastifyInstance } from 'fastify';
import { findOperation } from '../operations/list.ts';
import { OPERATION_SCOPES, type Operation } from '../operations/scopes.ts';

/** Nothing of them is from Kubernetes. */
const OWN: readonly Operation[] = ['getMe'];

/**
 * Of these only the name of what is asked about is in the caches. Events and old versions are many and seldom asked for, so
 * they are read when they are: while Kubernetes is away the answer is 502. A preview comes from the pod as it is sent, or from
 * the media storage, and the feed of changes tells no content.
 */
const DIRECT: readonly Operation[] = ['watchChanges'];

/** Whether an operation goes on from the caches while Kubernetes is away, and says how old they are. */
export const isCached = (id: Operation, method: string): boolean =>
  !findOperation(id)?.isUncached &&
  /^(get|head)$/i.test(method) &&
  OPERATION_SCOPES[id] !== null &&
  !OWN.includes(id) &&
  !DIRECT.includes(id);

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
