/** Mounts the authorization server on Fastify. Each path of paths.ts applies its checks before the library sees a request. */
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AUTH_PATH, findOutsideFailure, readCookie } from '../../auth/addresses.ts';
import { parseBearer } from '../../auth/bearer.ts';
import type { ClientDocuments } from '../../auth/client-documents.ts';
import { type Programs, registrationForLibrary } from '../../auth/client-requests.ts';
import type { RequestSource } from '../../auth/concurrency.ts';
import { NETWORK_HEADER } from '../../auth/guesses.ts';
import { OIDC_CALLBACK_PATH } from '../../auth/oidc.ts';
import {
  completeAuthorization,
  completeTokenRequest,
  findFormRefusal,
  findPageProblem,
  readRegistration,
  refuseAuthorization,
} from '../../auth/requests.ts';
import { hideDuration } from '../../auth/timing.ts';
import { AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { readBody } from '../http/body.ts';
import { openToPages } from '../http/cors.ts';
import { answerError } from '../http/errors.ts';
import { type Counter, limitRate, type Quota, readAddress, readNetwork } from '../http/ratelimit.ts';
import { crossSite, isOwnPage, isSafe } from '../http/samesite.ts';
import { AUTH_PATHS, type AuthPath, type RateLimitKind } from './paths.ts';

const BODY_LIMIT = 64 * 1024;

export interface AuthLimits {
  /** Password attempts from one address for one account in ten minutes. */
  attempts: number;
  /** Client registrations from one address in an hour. */
  registrations: number;
  /** Mails to one mailbox in an hour, and requests for them from one address. */
  mails: number;
}

export interface AuthRoutes {
  publicUrl: string;
  scopePrefix: string;
  /** Name of the session cookie. */
  cookie: string;
  /** Rejects if too many requests run. */
  handler: (request: Request, asker: RequestSource) => Promise<Response>;
  programs: Programs;
  documents: ClientDocuments;
  /** Called when a user may have signed out, or disconnected a program. */
  onChange: () => void;
  rateLimit: Quota;
  authLimits: AuthLimits;
  bodyTimeoutMs: number;
  counter?: Counter | undefined;
}

/** OAuth clients read `error` and `error_description` (RFC 6749, section 5.2), also for requests rejected before the library. */
const OAUTH_ERRORS = {
  type: 'application/json',
  extend: ({ code, status, message }: { code: ErrorCode; status: number; message: string }) => ({
    error:
      status === 429 || status === 503 ? 'temporarily_unavailable' : status >= 500 ? 'server_error' : 'invalid_request',
    error_description: code === 'internal' ? ERRORS.internal.meaning : message,
  }),
};

/** Clients may cache our public keys for this time; a retired key stays listed for an hour. */
const KEYS_SECONDS = 300;
const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
/** A client that describes itself by a document counts as one that is registered. The limit of a network is this many times that of an address. */
const NETWORK = 4;
/** Paths whose request names a client that may have a document. */
const CLIENT_PATHS = ['/oauth2/authorize', '/oauth2/token', '/oauth2/public-client'];
/** Several users may share an address, such as an office: the limit of the address is this many times that of an account. */
const TOGETHER = 10;

interface Limits {
  /** Limit of an address, for all accounts together. */
  address: Quota;
  /** Limit of an address and one account. It locks out neither other users of the address nor the owner elsewhere. */
  account?: Quota;
}

function buildLimits({ rateLimit, authLimits }: AuthRoutes): Record<RateLimitKind, Limits> {
  const both = (requests: number, windowMs: number): Limits => ({
    address: { requests: TOGETHER * requests, windowMs },
    account: { requests, windowMs },
  });
  return {
    usual: { address: rateLimit },
    attempt: both(authLimits.attempts, TEN_MINUTES_MS),
    mail: both(authLimits.mails, HOUR_MS),
    // `limitRegistrations` counts new clients only.
    registration: { address: rateLimit },
  };
}

/** Serves the paths below /api/auth. The library writes OAuth errors; ours are those of requests rejected before it. */
export async function authRoutes(app: FastifyInstance, routes: AuthRoutes): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request: FastifyRequest, payload: Readable) =>
    readBody(payload, routes.bodyTimeoutMs, BODY_LIMIT),
  );
  app.addHook('onRequest', (_request, reply, done) => {
    // URLs contain authorization codes here, which must not leak to other sites (RFC 9700, section 4.2.4).
    void reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    done();
  });
  await limitRate(app, routes.rateLimit, routes.counter);
  const served = { ...routes, limits: buildLimits(routes), loadDocument: documentLoader(app, routes) };
  const programs = AUTH_PATHS.filter(({ visitor }) => visitor === 'program');
  await app.register(async (open) => {
    // Allows programs in pages of any origin (RFC 9700, section 2.6); cookies are ignored here.
    openToPages(open);
    open.setErrorHandler((error, request, reply) => answerError(error, request, reply, OAUTH_ERRORS));
    for (const authPath of programs) serve(open, authPath, served);
  });
  for (const authPath of AUTH_PATHS) if (authPath.visitor !== 'program') serve(app, authPath, served);
}

function serve(
  app: FastifyInstance,
  authPath: AuthPath,
  {
    limits,
    loadDocument,
    ...routes
  }: AuthRoutes & { limits: Record<RateLimitKind, Limits>; loadDocument: LoadDocument },
): void {
  const { rateLimit = 'usual', path, methods, evenTiming } = authPath;
  const { address, account } = limits[rateLimit];
  const limit = {
    max: address.requests,
    timeWindow: address.windowMs,
    keyGenerator: (request: FastifyRequest) => `${rateLimit} ${readAddress(request)}`,
  };
  const count = account && limitAccount(app, rateLimit, account, routes.cookie);
  const countRegistration = rateLimit === 'registration' ? limitRegistrations(app, routes.authLimits) : undefined;
  app.route({
    method: methods,
    url: `${AUTH_PATH}${path}`,
    // Fastify would answer HEAD by running GET, which would use up one-time tokens.
    exposeHeadRoute: false,
    schema: { hide: true } as object,
    config: { rateLimit: limit },
    handler: async (request, reply) => {
      if (authPath.visitor === 'page' && !isSafe(request.method)) admitPage(request, routes.publicUrl);
      await count?.(request, reply);
      const asked = toRequest(request, authPath, routes);
      if (asked instanceof Response) return send(reply, asked);
      if (CLIENT_PATHS.includes(path)) await loadDocument(request, reply, path);
      const ask = () =>
        hideDuration(
          () => routes.handler(asked, whoAsks(request, authPath, routes.cookie)),
          ({ ok }) => evenTiming === 'all' || (evenTiming === 'refusals' && !ok),
        );
      const answer = await answerProgram({ request, reply, authPath, routes, ask, countRegistration });
      if (authPath.path === OIDC_CALLBACK_PATH) tellFailure(answer, routes);
      if (authPath.path === '/oauth2/authorize') refuseInPlace(answer, request, routes);
      if (authPath.visitor === 'page' && !isSafe(request.method)) routes.onChange();
      if (authPath.path === '/jwks' && answer.ok)
        answer.headers.set('cache-control', `public, max-age=${KEYS_SECONDS}`);
      return send(reply, answer);
    },
  });
}

interface Asked {
  request: FastifyRequest;
  reply: FastifyReply;
  authPath: AuthPath;
  routes: AuthRoutes;
  /** Calls the library. */
  ask: () => Promise<Response>;
  countRegistration: ((request: FastifyRequest, reply: FastifyReply) => Promise<void>) | undefined;
}

/** Returns the library's response, with the additions of client-requests.ts for programs. */
function answerProgram({ request, reply, authPath, routes, ask, countRegistration }: Asked): Promise<Response> {
  const { programs } = routes;
  const { authorization } = request.headers;
  const form = { fields: new URLSearchParams(String(request.body ?? '')), authorization };
  if (authPath.path === '/oauth2/token') return programs.exchange(form, ask);
  if (authPath.path === '/oauth2/revoke') return programs.revoke(form, ask);
  if (authPath.path === '/oauth2/userinfo') return programs.readPerson(accessTokenIn(request), ask);
  const read = authPath.path === '/oauth2/register' ? readRegistration(readJson(request.body as Buffer)) : undefined;
  if (!read || 'refused' in read) return ask();
  const count = async () => countRegistration?.(request, reply);
  return programs.register(read.metadata, readAddress(request), { ask, count });
}

/** Redirects the browser to the client with an error in cases that the library would accept. */
function refuseInPlace({ headers }: Response, request: FastifyRequest, { publicUrl }: AuthRoutes): void {
  const given = request.method === 'POST' ? String(request.body ?? '') : request.url.split('?', 2)[1];
  const refused = refuseAuthorization(headers.get('location') ?? '', new URLSearchParams(given), publicUrl);
  if (refused !== undefined) headers.set('location', refused);
}

/** Reads an access token from the header or a form (RFC 6750, section 2); undefined for none, and for two. */
function accessTokenIn({ headers, body }: FastifyRequest): string | undefined {
  const inHeader = parseBearer(headers.authorization ?? '');
  const inForm = new URLSearchParams(String(body ?? '')).get('access_token');
  if (inForm === null) return inHeader;
  // A form may contain characters that no header can.
  return inHeader === undefined ? parseBearer(`Bearer ${inForm}`) : undefined;
}

/** Counts the clients that an address registers. Throws `rate_limited`. */
function limitRegistrations(app: FastifyInstance, { registrations }: AuthLimits) {
  const count = app.createRateLimit({
    max: registrations,
    timeWindow: HOUR_MS,
    keyGenerator: (request) => `registration ${readAddress(request)}`,
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const counted = await count(request);
    if (counted.isAllowed || !counted.isExceeded) return;
    const seconds = Math.ceil(counted.ttl / 1000);
    void reply.header('retry-after', seconds);
    throw new AppError(
      'rate_limited',
      `Too many clients were registered from this address. Try again in ${seconds} seconds.`,
    );
  };
}

type LoadDocument = (request: FastifyRequest, reply: FastifyReply, path: string) => Promise<void>;

/**
 * Returns the function that fetches the document of the client that a request names. It comes before the request takes its turn, since a
 * stranger's machine decides how long it takes. Counts documents that are not known yet. Throws `rate_limited`.
 */
function documentLoader(app: FastifyInstance, { documents, authLimits: { registrations } }: AuthRoutes): LoadDocument {
  const limit = (max: number, readKey: typeof readAddress) =>
    app.createRateLimit({ max, timeWindow: HOUR_MS, keyGenerator: (request) => `documents ${readKey(request)}` });
  const counts = [limit(registrations, readAddress), limit(NETWORK * registrations, readNetwork)];
  return async (request, reply, path) => {
    const { client_id: inQuery } = request.query as { client_id?: unknown };
    const clientId = new URLSearchParams(String(request.body ?? '')).get('client_id') ?? inQuery;
    if (typeof clientId !== 'string') return;
    const plan = documents.plan(clientId);
    if (plan === 'nothing') return;
    for (const count of plan === 'fetch' ? counts : []) {
      const counted = await count(request);
      if (counted.isAllowed || !counted.isExceeded) continue;
      // A known client continues with its stored registration.
      if (path !== '/oauth2/authorize') return;
      const seconds = Math.ceil(counted.ttl / 1000);
      void reply.header('retry-after', seconds);
      throw new AppError(
        'rate_limited',
        `Too many new clients that describe themselves were opened from this address. Try again in ${seconds} seconds.`,
      );
    }
    await documents.load(clientId, { address: readAddress(request), network: readNetwork(request) });
  };
}

/** Shows a failed sign-in on the sign-in page, in our words. */
function tellFailure({ headers }: Response, { publicUrl, cookie }: AuthRoutes): void {
  const isIn = headers.getSetCookie().some((set) => set.startsWith(`${cookie}=`));
  const failed = isIn ? undefined : findOutsideFailure(headers.get('location') ?? '', publicUrl);
  if (failed !== undefined) headers.set('location', failed);
}

/** Pages of other sites may send forms without a preflight, but not JSON (Fetch, CORS-safelisted request-header). */
function admitPage({ headers, body }: FastifyRequest, publicUrl: string): void {
  if (!isOwnPage(headers, publicUrl)) throw crossSite();
  const isJson = /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');
  if (!isJson && (body as Buffer | undefined)?.length)
    throw new AppError('unsupported_media_type', 'The body must be JSON, with the content type application/json.');
}

/** Returns the account that a request names, or its session. */
function accountIn({ body, headers }: Pick<FastifyRequest, 'body' | 'headers'>, cookie: string): string {
  const { email } = (readJson(body as Buffer | undefined) ?? {}) as { email?: unknown };
  if (typeof email === 'string') return email.trim().toLowerCase();
  return readCookie(headers.cookie ?? '', cookie) ?? '';
}

const whoAsks = (request: FastifyRequest, { waitsForProvider = false }: AuthPath, cookie: string): RequestSource => ({
  address: readAddress(request),
  account: accountIn(request, cookie),
  waitsForProvider,
});

/** Counts by the account that a request names, or by its session. Throws `rate_limited`. */
function limitAccount(app: FastifyInstance, rateLimit: RateLimitKind, { requests, windowMs }: Quota, cookie: string) {
  const count = app.createRateLimit({
    max: requests,
    timeWindow: windowMs,
    keyGenerator: (request) =>
      `${rateLimit} ${readAddress(request)} ${hash('sha256', accountIn(request as FastifyRequest, cookie), 'base64url')}`,
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const counted = await count(request);
    if (counted.isAllowed || !counted.isExceeded) return;
    const seconds = Math.ceil(counted.ttl / 1000);
    void reply.header('retry-after', seconds);
    throw new AppError('rate_limited', `Too many attempts from this address. Try again in ${seconds} seconds.`);
  };
}

function readJson(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(String(body ?? ''));
  } catch {
    return undefined;
  }
}

/** Builds the request for the library, with only the headers that it needs; or the response, if the library is not needed. */
function toRequest(request: FastifyRequest, authPath: AuthPath, routes: AuthRoutes): Request | Response {
  const { publicUrl } = routes;
  const [path = '', query = ''] = request.url.split('?', 2) as [string, string?];
  const url = new URL(path, publicUrl);
  const headers = new Headers({ accept: 'application/json', 'x-client-address': request.ip });
  headers.set(NETWORK_HEADER, readAddress(request));
  const copy = (...names: string[]) => {
    for (const name of names) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
  };
  copy('content-type', 'user-agent');
  const given = request.body as Buffer | undefined;
  let body: string | undefined = request.method === 'POST' ? String(given ?? '') : undefined;
  const isProgram = authPath.visitor === 'program';
  const problem = authPath.visitor === 'page' ? findPageProblem(body ?? '', query) : undefined;
  if (problem) throw new AppError(problem.code, problem.detail);
  const refused = isProgram && authPath.path !== '/oauth2/register' && findFormRefusal(body ?? query, authPath.path);
  if (refused) return Response.json(refused, { status: 400 });
  if (isProgram) copy('authorization');
  else {
    copy('cookie');
    // The URL must not choose the options of passkeys.
    url.search = authPath.path.startsWith('/passkey/') ? '' : query;
  }
  if (authPath.visitor === 'page') headers.set('origin', new URL(publicUrl).origin);
  // Without these headers the library takes a navigation for a `fetch` call, and returns JSON instead of a redirect.
  if (authPath.visitor === 'navigation') {
    headers.set('accept', 'text/html');
    headers.set('sec-fetch-mode', 'navigate');
  }
  if (authPath.path === '/oauth2/authorize') {
    url.search = completeAuthorization(query, routes);
    if (body !== undefined) body = completeAuthorization(body, routes);
  }
  if (authPath.path === '/oauth2/userinfo') {
    // The library reads only the header, whatever the method and the content type.
    headers.delete('content-type');
    headers.set('authorization', `Bearer ${accessTokenIn(request) ?? ''}`);
    return new Request(url, { headers });
  }
  if (authPath.path === '/oauth2/token') body = completeTokenRequest(body ?? '', publicUrl);
  if (authPath.path === '/oauth2/register') {
    const read = readRegistration(readJson(given));
    if ('refused' in read) return Response.json(read.refused, { status: 400 });
    headers.set('content-type', 'application/json');
    body = JSON.stringify(registrationForLibrary(read.metadata));
  }
  return new Request(url, { method: request.method, headers, ...(body === undefined ? {} : { body }) });
}

async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  reply.code(answer.status);
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') void reply.header(name, value);
  // Several cookies cannot share a header (RFC 6265, section 3).
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) void reply.header('set-cookie', cookies);
  return reply.send(answer.status === 204 ? undefined : Buffer.from(await answer.arrayBuffer()));
}
