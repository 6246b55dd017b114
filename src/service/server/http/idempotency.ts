/** Handles Idempotency-Key on POST (draft-ietf-httpapi-idempotency-key-header) with idempotency-keys.ts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Intent, within } from '../../../core/lib/context.ts';
import { SCOPES } from '../../lib/scopes.ts';
import { isOperation, takesIdempotencyKey } from '../operations/scopes.ts';
import {
  type ClaimedKey,
  createIdempotencyKeys,
  type IdempotencyDeps,
  isClaimed,
  type KeptResponse,
  mayPass,
} from './idempotency-keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Key that this request holds while it runs. */
    held: ClaimedKey | null;
  }
}

/** Stored headers of a response: those that describe the created object. */
const KEPT_HEADERS = ['content-type', 'location', 'upload-expires', 'upload-offset'];

interface IdempotencyOptions extends IdempotencyDeps {
  /** Returns whether a request may be tried again, if its status does not tell. */
  mayRetry?: (request: FastifyRequest) => boolean;
}

export function idempotency(app: FastifyInstance, { mayRetry, ...deps }: IdempotencyOptions): void {
  app.decorateRequest('held', null);
  const keys = createIdempotencyKeys(deps);

  /** Claims the key; undefined if the request was answered with the stored response. */
  const begin = async (request: FastifyRequest, reply: FastifyReply, key: string): Promise<Intent | undefined> => {
    const { method, url, body, principal } = request;
    const begun = await keys.begin({
      accountId: principal.accountId,
      key,
      request: `${method} ${url}\n${JSON.stringify(body) ?? ''}${nameAccess(request)}`,
      path: '/Idempotency-Key',
    });
    if (isClaimed(begun)) {
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
      const failed = mayPass(reply.statusCode) || mayRetry?.(request);
      await held.end(failed ? undefined : buildAnswer(reply, payload));
    } catch (error) {
      // The work is done and its response stands; a retry continues with its intent.
      request.log.warn({ err: error }, 'a response could not be stored for its Idempotency-Key');
    }
  };
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.held === null) return done(null, payload);
    void keep(request, reply, payload).then(() => done(null, payload));
  });
}

/**
 * A credential that may do less is not given the response of another one: fields of GraphQL have scopes of their own, and a key may be
 * limited to some objects.
 */
const nameAccess = ({ principal: { scopes, reach }, routeOptions }: FastifyRequest): string => {
  const named = routeOptions.config?.perField && scopes.size < SCOPES.length ? `\n${[...scopes].sort()}` : '';
  return reach ? `${named}\n${reach.selector}` : named;
};

const buildAnswer = (reply: FastifyReply, payload: unknown): KeptResponse => ({
  status: reply.statusCode,
  headers: Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = reply.getHeader(name);
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  ),
  body: typeof payload === 'string' ? payload : '',
});
