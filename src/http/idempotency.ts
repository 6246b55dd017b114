/**
 * Idempotency-Key on POST (draft-ietf-httpapi-idempotency-key-header): the first request with a key does the work, and
 * every later one with the same body gets the same answer for 24 hours, also when they come at the same moment.
 *
 * A server may die, or not hear from Kubernetes, between the effect and the answer. So what a request sets out to do is
 * written down before it begins, and every id that it makes follows from that (`Intent`): the next try of it finds what the
 * one before has made, instead of making another. The key is held by a lease that the server renews while the request is at
 * work. When it ends with no answer kept, the next request with the key goes on with the same intent.
 */
import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ulid } from 'ulid';
import { sleep } from '../clock.ts';
import { type Intent, within } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { AppError, validationFailed } from '../errors.ts';
import { claim, findAnswer, keepAnswer, LEASE_SECONDS, release, renew } from './store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that this request holds while it works; `stop` ends the renewing. */
    held: { key: string; stop: () => void } | null;
  }
}

const KEY = /^[\x21-\x7e]{1,255}$/;
/** Of an answer's headers those that say something of what was made. */
const KEPT_HEADERS = ['content-type', 'location', 'upload-expires', 'upload-offset'];
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 500;
/** How long a request waits for another one with its key; `?wait` allows a minute. */
const WAIT_MS = 65_000;

interface IdempotencyOptions {
  db: Db;
  secret: string;
  /** Whether a request failed on our side with nothing done, where its status does not tell. */
  mayRetry?: (request: FastifyRequest) => boolean;
}

export function idempotency(app: FastifyInstance, { db, secret, mayRetry }: IdempotencyOptions): void {
  app.decorateRequest('held', null);
  const keyed = (text: string): Buffer => createHmac('sha256', secret).update(text).digest();

  // Bodies may hold a stream key, so what is kept of one is keyed with a secret of ours.
  const fingerprintOf = ({ method, url, body }: FastifyRequest): string =>
    keyed(`${method} ${url}\n${JSON.stringify(body) ?? ''}`).toString('base64url');

  const intentOf = (since: Date, accountId: string, key: string, fingerprint: string): Intent => {
    let made = 0;
    const idOf = (prefix: string, number: number): string => {
      const bytes = keyed(JSON.stringify(['id', accountId, key, fingerprint, since, prefix, number]));
      let next = 0;
      return `${prefix}-${ulid(since.getTime(), () => (bytes[next++] ?? 0) / 256).toLowerCase()}`;
    };
    return { since, newId: (prefix) => idOf(prefix, made++), nextId: (prefix) => idOf(prefix, made) };
  };

  /** What to do now; undefined when the request has been answered with what is kept. */
  const begin = async (request: FastifyRequest, reply: FastifyReply, key: string): Promise<Intent | undefined> => {
    if (!KEY.test(key))
      throw validationFailed([{ path: '/Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }]);
    const { accountId } = request.principal;
    const fingerprint = fingerprintOf(request);
    const deadline = performance.now() + WAIT_MS;
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(MAX_POLL_MS, pause * 1.5)) {
      const since = await claim(db, accountId, key, fingerprint);
      if (since) {
        const again = () => void renew(db, accountId, key).catch(() => undefined);
        const timer = setInterval(again, (LEASE_SECONDS * 1000) / 3);
        request.held = { key, stop: () => clearInterval(timer) };
        return intentOf(since, accountId, key, fingerprint);
      }
      const answer = await findAnswer(db, accountId, key);
      if (answer && answer.fingerprint !== fingerprint)
        throw new AppError('idempotency_key_reused', 'This Idempotency-Key was sent with another request before.');
      if (answer && answer.status !== null) {
        await reply
          .code(answer.status)
          .headers(answer.headers)
          .send(answer.body ?? '');
        return undefined;
      }
      if (performance.now() > deadline)
        throw new AppError('idempotency_key_reused', 'Another request with this Idempotency-Key is still at work.');
      await sleep(pause);
    }
  };

  app.addHook('preHandler', (request, reply, done) => {
    const key = request.headers['idempotency-key'];
    if (request.method !== 'POST' || key === undefined || !request.principal) return done();
    begin(request, reply, String(key)).then((intent) => intent && within({ intent }, done), done);
  });

  const keep = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> => {
    const { held, principal } = request;
    if (held === null) return;
    request.held = null;
    held.stop();
    try {
      // What failed on our side may be tried again with the same key.
      if (reply.statusCode >= 500 || mayRetry?.(request)) await release(db, principal.accountId, held.key);
      else await keepAnswer(db, principal.accountId, held.key, answerOf(reply, payload));
    } catch (error) {
      // The work is done and its answer stands; whoever repeats it goes on with its intent.
      request.log.warn({ err: error }, 'an answer could not be kept for its Idempotency-Key');
    }
  };
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.held === null) return done(null, payload);
    void keep(request, reply, payload).then(() => done(null, payload));
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
