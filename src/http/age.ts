/** How old an answer is that was given from the caches while Kubernetes is away. */
import type { FastifyInstance } from 'fastify';

/**
 * `Age` (RFC 9111, section 5.1): seconds since the origin, here Kubernetes, was last heard of. Without it the answer is as
 * Kubernetes has it now. Of REST only reads are from the caches; a query of GraphQL comes by POST.
 */
export function tellAge(app: FastifyInstance, ageMs: () => number): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const age = ageMs();
    const isRead = request.method === 'GET' || request.method === 'HEAD' || request.routeOptions.config.perField;
    if (age > 0 && isRead) void reply.header('age', Math.ceil(age / 1000));
    done(null, payload);
  });
}
