/**
 * Guards every route of the API in one place: authentication, rate limit, scopes. A route without a declared operation cannot be
 * registered.
 */
import type { FastifyInstance, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import type { TokenResource } from '../../auth/addresses.ts';
import { verifyToken, verifyTokens } from '../../auth/bearer.ts';
import type { AuthService } from '../../auth/service.ts';
import type { Cells } from '../../domain/cells/cells.ts';
import { withinReach } from '../../lib/reach.ts';
import type { Principal } from '../../lib/scopes.ts';
import { isOperation, OPERATION_SCOPES, requireScope } from '../operations/scopes.ts';
import { type Counter, limitRate, type Quota, readClientAddress } from './ratelimit.ts';
import { crossSite, isOwnPage, isSafe } from './samesite.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Caller; only in operations that need authentication. */
    principal: Principal;
    /** Failed authentication; thrown only if the operation needs it. */
    refusal: unknown;
    /** Repeats the authentication, for connections that outlive a key or a session. Rejects with `unauthenticated`. */
    authenticateAgain(): Promise<Principal>;
  }
  interface FastifyContextConfig {
    /** True for GraphQL, whose fields each check their own operation. */
    perField?: boolean;
    /** Required audience of tokens; the API by default. */
    resource?: TokenResource;
  }
  interface FastifySchema {
    operationId?: string;
  }
}

/** Without `known`, every request is authenticated asynchronously. */
export type Authentication = Pick<AuthService, 'authenticate'> & Partial<Pick<AuthService, 'known' | 'tokenRules'>>;

export interface GuardOptions {
  auth: Authentication;
  scopePrefix: string;
  /** Only pages of this address may change something with a session's cookie. */
  publicUrl: string;
  rateLimit: Quota;
  /** Returns whether staff suspended the account; by default never. */
  isSuspended?: ((accountId: string) => boolean) | undefined;
  /** Where the owner of a suspended account asks for the reason. */
  supportUrl?: string | undefined;
  /** Loads the namespace of an account before its requests are served. */
  cells?: Pick<Cells, 'hasLoaded' | 'load'> | undefined;
  counter?: Counter | undefined;
}

const header = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

const readCredentials = (request: FastifyRequest) => ({
  apiKey: header(request, 'x-api-key'),
  authorization: header(request, 'authorization'),
  cookie: request.headers.cookie,
});

/** Adds the data for verifying credentials that are not cached. */
const readVerifiable = (request: FastifyRequest) => ({
  ...readCredentials(request),
  address: readClientAddress(request),
  verify: 'jwtVerify' in request ? () => verifyToken(request) : undefined,
});

export const findResource = ({ routeOptions }: FastifyRequest): TokenResource => routeOptions.config?.resource ?? 'api';

/** Guards all routes registered on `app`, or inside of it, from now on. */
export async function guard(app: FastifyInstance, options: GuardOptions): Promise<void> {
  const { auth, scopePrefix, publicUrl, isSuspended = () => false, supportUrl, cells } = options;
  const suspended = { isSuspended: true, ...(supportUrl !== undefined && { supportUrl }) };
  const marked = (principal: Principal): Principal =>
    isSuspended(principal.accountId) ? { ...principal, ...suspended } : principal;
  app.decorateRequest('principal', null as unknown as Principal);
  app.decorateRequest('refusal', null);
  if (auth.tokenRules) await verifyTokens(app, auth.tokenRules);
  app.decorateRequest('authenticateAgain', async function () {
    return marked(await auth.authenticate(readVerifiable(this), { resource: findResource(this) }));
  });

  app.addHook('onRequest', (request, _reply, done) => {
    const credentials = readCredentials(request);
    const accept = (principal: Principal) => {
      const isByCookie = principal.via === 'session' || principal.isKeyCookie === true;
      if (isByCookie && !isSafe(request.method) && !isOwnPage(request.headers, publicUrl))
        request.refusal = crossSite();
      else request.principal = marked(principal);
    };
    const refuse = (error: unknown) => {
      request.refusal = error;
    };
    const proceed = () => {
      const { principal, log } = request;
      if (!cells || !principal || cells.hasLoaded(principal.accountId)) return done();
      // Operations on resources fail by themselves where the namespace is not known; others need none.
      const warn = (err: unknown) => log.warn({ err }, 'the namespace of an account could not be read');
      cells.load(principal.accountId).catch(warn).finally(done);
    };
    // Most credentials are cached, and need no wait.
    const known = auth.known?.(credentials);
    const resource = findResource(request);
    if (!known)
      return void auth.authenticate(readVerifiable(request), { resource }).then(accept, refuse).finally(proceed);
    accept(known);
    proceed();
  });

  // Counts before any rejection: every response reports the rest of the limit, and guesses of keys are limited too.
  await limitRate(app, options.rateLimit, options.counter);

  // The last moment before the handler: what reads a body in between loses the context.
  app.addHook('preHandler', (request, _reply, done) => withinReach(request.principal?.reach, done));

  app.addHook('onRoute', (route: RouteOptions) => {
    const id = route.schema?.operationId;
    if (route.config?.perField) return append(route, authenticated);
    if (!isOperation(id))
      throw new Error(`The route ${String(route.method)} ${route.url} belongs to no declared operation.`);
    if (OPERATION_SCOPES[id] === null) return;
    append(route, (request) => requireScope(authenticated(request), id, scopePrefix));
  });
}

function authenticated(request: FastifyRequest): Principal {
  if (request.refusal) throw request.refusal;
  return request.principal;
}

/** `check` throws to reject. It runs after the existing hooks, one of which is the rate limit. */
function append(route: RouteOptions, check: (request: FastifyRequest) => unknown): void {
  const before = route.onRequest === undefined ? [] : [route.onRequest].flat();
  const hook: onRequestHookHandler = (request, _reply, done) => {
    try {
      check(request);
    } catch (error) {
      return done(error as Error);
    }
    done();
  };
  route.onRequest = [...before, hook];
}
