/** The one place where errors become answers. */
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify';
import { AppError } from '../errors.ts';
import { PROBLEM_TYPE, toAppError, toProblem } from './problem.ts';

const RETRY_SECONDS = 5;

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toAppError(error);
  if (known.status >= 500) {
    // Shutting down is no failure of anything.
    const level = known.code === 'shutting_down' ? 'debug' : 'error';
    request.log[level]({ err: known.cause ?? known, code: known.code }, 'a request failed');
    if (known.code !== 'internal') void reply.header('retry-after', RETRY_SECONDS);
  }
  if (known.status === 401) void reply.header('www-authenticate', 'ApiKey realm="loopstream"');
  return reply
    .code(known.status)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(toProblem(known)));
}

/** Errors, and paths that do not exist; `before` runs ahead of the latter. */
export function handleErrors(app: FastifyInstance, options: { before?: preHandlerHookHandler } = {}): void {
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    answerError(new AppError('route_not_found', `There is nothing at ${pathOf(request)}.`), request, reply);
  if (options.before) app.setNotFoundHandler({ preHandler: options.before }, notFound);
}

const pathOf = ({ url }: FastifyRequest): string => (url.split('?')[0] ?? '').slice(0, 200);

/** Requests that come after stopping began; those at work may finish. */
export function refuseWhileStopping(app: FastifyInstance, stopping: AbortSignal): void {
  app.addHook('onRequest', async (_request, reply) => {
    if (!stopping.aborted) return;
    void reply.header('connection', 'close');
    throw new AppError('shutting_down', 'This server is stopping; try again.');
  });
}
