/** Idempotency-Key on POST (draft-ietf-httpapi-idempotency-key-header); what it does is in keyed.ts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Intent, within } from '../../lib/context.ts';
import { isOperation, takesIdempotencyKey } from '../operations/scopes.ts';
import { createKeyed, type Held, isHeld, type KeptAnswer, type KeyedDeps } from './keyed.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that this request holds while it works. */
    held: Held | null;
  }
}

/** Of an answer's headers those that say something of what was made. */
const KEPT_HEADERS = ['content-type', 'location', 'upload-expires', 'upload-offset'];

interface IdempotencyOptions extends KeyedDeps {
  /** Whether a request failed on our side with nothing done, where its status does not tell. */
  mayRetry?: (request: FastifyRequest) => boolean;
}

export function idempotency(app: FastifyInstance, { mayRetry, ...deps }: IdempotencyOptions): void {
  app.decorateRequest('held', null);
  const keyed = createKeyed(deps);

  /** What to do now; undefined when the request has been answered with what is kept. */
  const begin = async (request: FastifyRequest, reply: FastifyReply, key: string): Promise<Intent | undefined> => {
    const { method, url, body, principal } = request;
    const begun = await keyed.begin({
      accountId: principal.accountId,
      key,
      request: `${method} ${url}\n${JSON.stringify(body) ?? ''}`,
      path: '/Idempotency-Key',
    });
    if (isHeld(begun)) {
      request.held = begun;
      return begun.intent;
    }
    await reply.code(begun.status).headers(begun.headers).send(begun.body);
    return undefined;
  };

  app.addHook('preHandler', (request, reply, done) => {
    const key = request.headers['idempotency-key'];
    if (request.method !== 'POST' || key === undefined || !request.principal) return done();
    const id = request.routeOptions.schema?.operationId;
    if (isOperation(id) && !takesIdempotencyKey(id, 'post')) return done();
    begin(request, reply, String(key)).then((intent) => intent && within({ intent }, done), done);
  });

  const keep = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> => {
    const { held } = request;
    if (held === null) return;
    request.held = null;
    try {
      // What failed on our side may be tried again with the same key.
      const failed = reply.statusCode >= 500 || mayRetry?.(request);
      await held.end(failed ? undefined : buildAnswer(reply, payload));
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

const buildAnswer = (reply: FastifyReply, payload: unknown): KeptAnswer => ({
  status: reply.statusCode,
  headers: Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = reply.getHeader(name);
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  ),
  body: typeof payload === 'string' ? payload : '',
});
