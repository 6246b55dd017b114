/**
 * Leaving without a request lost. First the server tells only the load balancer (`leaving`), and answers as before, since
 * requests come until that has been heard. Then (`stopping`) it answers 503 to what comes, until nothing is at work any
 * more; only then it stops to listen.
 */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../lib/errors.ts';

export interface Stopping {
  leaving: AbortSignal;
  stopping: AbortSignal;
}

/** Before any other hook, so that what is refused costs nothing. */
export function stopGracefully(app: FastifyInstance, { leaving, stopping }: Stopping): void {
  let atWork = 0;
  const idle = Promise.withResolvers<void>();
  app.addHook('onRequest', (_request, reply, done) => {
    if (stopping.aborted) return done(new AppError('shutting_down', 'This server is stopping. Try again.'));
    atWork += 1;
    // It comes for every answer, also for one that nobody waited for.
    reply.raw.on('close', () => {
      atWork -= 1;
      if (atWork === 0 && stopping.aborted) idle.resolve();
    });
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    // The client's next request is to go over another connection, which leads to another server.
    if (leaving.aborted || stopping.aborted) void reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => {
    if (stopping.aborted && atWork > 0) await idle.promise;
  });
}
