/**
 * Stops the server without losing a request. First it only notifies the load balancer (`leaving`) and serves requests as before,
 * since they come until the notice takes effect. Then (`stopping`) it returns 503 to new requests until the running ones end, and
 * closes its port.
 */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../lib/errors.ts';

export interface Stopping {
  leaving: AbortSignal;
  stopping: AbortSignal;
}

/** Runs before any other hook, so that a rejection costs nothing. */
export function stopGracefully(app: FastifyInstance, { leaving, stopping }: Stopping): void {
  let atWork = 0;
  const idle = Promise.withResolvers<void>();
  app.addHook('onRequest', (_request, reply, done) => {
    if (stopping.aborted) return done(new AppError('shutting_down'));
    atWork += 1;
    // `close` fires for every response, also for one that the client abandoned.
    reply.raw.on('close', () => {
      atWork -= 1;
      if (atWork === 0 && stopping.aborted) idle.resolve();
    });
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    // The client's next request should use a new connection, which leads to another server.
    if (leaving.aborted || stopping.aborted) void reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => {
    if (stopping.aborted && atWork > 0) await idle.promise;
  });
}
