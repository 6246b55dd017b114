/**
 * Idempotency-Key on POST (draft-ietf-httpapi-idempotency-key-header): the first request with a key does the work, and
 * every later one with the same body gets the same answer for 24 hours, also when they come at the same moment.
 */
import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sleep } from '../clock.ts';
import type { Db } from '../db/pool.ts';
import { AppError, validationFailed } from '../errors.ts';
import { claim, findAnswer, keepAnswer, release } from './store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that this request holds while it works. */
    idempotencyKey: string | null;
  }
}

const KEY = /^[\x21-\x7e]{1,255}$/;
const KEPT_HEADERS = ['content-type', 'location'];
const POLL_MS = 50;
/** How long a request waits for another one with its key; `?wait` allows a minute. */
const WAIT_MS = 65_000;

interface IdempotencyOptions {
  db: Db;
  secret: string;
  /** Whether a request failed on our side with nothing done, where its status does not tell. */
  mayRetry?: (request: FastifyRequest) => boolean;
}

export function idempotency(app: FastifyInstance, { db, secret, mayRetry }: IdempotencyOptions): void {
  app.decorateRequest('idempotencyKey', null);

  // Bodies may hold a stream key, so what is kept of one is keyed with a secret of ours.
  const fingerprintOf = ({ method, url, body }: FastifyRequest): string =>
    createHmac('sha256', secret)
      .update(`${method} ${url}\n${JSON.stringify(body) ?? ''}`)
      .digest('base64url');

  app.addHook('preHandler', async (request, reply) => {
    const key = request.headers['idempotency-key'];
    if (request.method !== 'POST' || key === undefined || !request.principal) return;
    if (typeof key !== 'string' || !KEY.test(key))
      throw validationFailed([{ path: '/Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }]);
    const { accountId } = request.principal;
    const fingerprint = fingerprintOf(request);
    const deadline = performance.now() + WAIT_MS;
    while (!(await claim(db, accountId, key, fingerprint))) {
      const answer = await findAnswer(db, accountId, key);
      if (answer && answer.fingerprint !== fingerprint)
        throw new AppError('idempotency_key_reused', 'This Idempotency-Key was sent with another request before.');
      if (answer && answer.status !== null)
        return reply
          .code(answer.status)
          .headers(answer.headers)
          .send(answer.body ?? '');
      if (performance.now() > deadline)
        throw new AppError('idempotency_key_reused', 'Another request with this Idempotency-Key is still at work.');
      await sleep(POLL_MS);
    }
    request.idempotencyKey = key;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const { idempotencyKey: key, principal } = request;
    if (key === null) return;
    request.idempotencyKey = null;
    try {
      // What failed on our side may be tried again with the same key.
      if (reply.statusCode >= 500 || mayRetry?.(request)) await release(db, principal.accountId, key);
      else await keepAnswer(db, principal.accountId, key, answerOf(reply, payload));
    } catch (error) {
      // The work is done and its answer stands; only a repetition of it cannot be answered from memory.
      request.log.warn({ err: error }, 'an answer could not be kept for its Idempotency-Key');
    }
  });
}

const answerOf = (reply: FastifyReply, payload: unknown) => ({
  status: reply.statusCode,
  headers: Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = reply.getHeader(name);
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  ),
  body: typeof payload === 'string' ? payload : '',
});
