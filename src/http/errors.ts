/** The one place where errors become answers. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
  // How a body may be encoded: RFC 9110, section 12.5.3.
  if (known.status === 415) void reply.header('accept-encoding', 'identity');
  if (known.status === 401) void reply.header('www-authenticate', 'ApiKey realm="loopstream"');
  return reply
    .code(known.status)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(toProblem(known)));
}

/** Every error that is thrown on the way of a request to its answer. */
export const handleErrors = (app: FastifyInstance): void =>
  void app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
