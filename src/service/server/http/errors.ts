/** Converts errors to responses, in one place. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { buildChallenge } from '../../auth/challenge.ts';
import type { AppError } from '../../lib/errors.ts';
import { findResource } from './guard.ts';
import { logProblem, PROBLEM_TYPE, toAppError, toProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Address of the service as clients see it. */
    publicUrl: string;
  }
}

const RETRY_SECONDS = 5;

/** Form of errors in a protocol with its own: `extend` adds its members to the problem document. */
export interface ErrorForm {
  type: string;
  extend: (error: AppError) => object;
}

const PROBLEMS: ErrorForm = { type: PROBLEM_TYPE, extend: () => ({}) };

export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { type, extend }: ErrorForm = PROBLEMS,
): FastifyReply {
  const known = toAppError(error);
  logProblem(request.log, known, 'a request failed');
  if (known.status >= 500 && known.code !== 'internal') void reply.header('retry-after', RETRY_SECONDS);
  // The rate limit has set its exact time already.
  if (known.status === 429 && !reply.hasHeader('retry-after'))
    void reply.header('retry-after', Number(known.extras.retryAfterSeconds ?? RETRY_SECONDS));
  // RFC 9110, section 12.5.3: names the accepted encodings of a body.
  if (known.status === 415) void reply.header('accept-encoding', 'identity');
  const challenge = buildChallenge(known, {
    publicUrl: request.server.publicUrl,
    resource: findResource(request),
    path: request.url,
    hadToken: /^bearer /i.test(request.headers.authorization ?? ''),
  });
  if (challenge) void reply.header('www-authenticate', challenge);
  return reply
    .code(known.status)
    .type(type)
    .send(JSON.stringify({ ...toProblem(known), ...extend(known) }));
}

/** Handles every error between a request and its response. `publicUrl` is the address in challenges. */
export function handleErrors(app: FastifyInstance, publicUrl: string): void {
  app.decorate('publicUrl', publicUrl);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
}
