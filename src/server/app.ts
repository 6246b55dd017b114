/** The API server: routes of all nouns, and around them what every request goes through. Wires, no rules. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type onRequestHookHandler,
} from 'fastify';
import { AUTH_PATH } from '../auth/addresses.ts';
import type { Db } from '../db/pool.ts';
import type { StatsService } from '../domain/stats/service.ts';
import { within } from '../lib/context.ts';
import { AppError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { type AuthServer, serveAuth } from './auth/serve.ts';
import type { ChangeService } from './events/changes.ts';
import { GRAPHQL, graphqlRoutes } from './graphql/routes.ts';
import { tellAge } from './http/age.ts';
import { acceptJson } from './http/body.ts';
import { createClientErrors } from './http/clienterror.ts';
import { allowOrigins } from './http/cors.ts';
import { serveDashboard } from './http/dashboard.ts';
import { answerError, handleErrors } from './http/errors.ts';
import { errorPageHeaders, secureHeaders } from './http/headers.ts';
import { idempotency } from './http/idempotency.ts';
import type { KeyedDeps } from './http/keyed.ts';
import { overrideMethod } from './http/method-override.ts';
import { createMethods, type Methods } from './http/methods.ts';
import type { HttpMetrics } from './http/metrics.ts';
import { type Learners, learnNewcomers } from './http/newcomers.ts';
import { type Authentication, type GuardOptions, guard } from './http/operations.ts';
import { parseQuery } from './http/query.ts';
import type { Counter } from './http/ratelimit.ts';
import { RequestLog } from './http/requestlog.ts';
import { type Stopping, stopGracefully } from './http/stopping.ts';
import { traceOf } from './http/trace.ts';
import { compileBody, compileParameters, compileQuery } from './http/validation.ts';
import { agentRoutes, MCP } from './mcp/routes.ts';
import type { OpenApi } from './openapi/document.ts';
import { errorDocsOf } from './openapi/errordocs.ts';
import { errorIndex, errorPage } from './openapi/errorpages.ts';
import { completeOpenApi, OPENAPI } from './openapi/openapi.ts';
import type { MetaServices } from './operations/meta.ts';
import { V1 } from './rest/adapter.ts';
import { nounRoutes, type PersonServices, type RouteDeps } from './rest/routes.ts';
import type { Services } from './services.ts';
import type { ApiConfig } from './settings.ts';

const DOCS = '/docs';
/** By the part of a request that a schema is of. */
const COMPILERS: Record<string, typeof compileBody> = { body: compileBody, querystring: compileQuery };
const REQUEST_ID = /^[\w.-]{1,64}$/;

export interface ServerDeps extends Pick<MetaServices, 'health' | 'version'>, Stopping {
  config: Pick<
    ApiConfig,
    | 'publicUrl'
    | 'rateLimit'
    | 'authLimits'
    | 'scopePrefix'
    | 'authSecret'
    | 'dashboardDir'
    | 'trustProxy'
    | 'corsOrigins'
    | 'timeouts'
  >;
  auth: Authentication;
  /** Without it there is neither signing in nor OAuth. */
  authServer?: AuthServer | undefined;
  db: Db;
  quotas: KeyedDeps['quotas'];
  services: Services;
  stats: StatsService;
  changes: ChangeService;
  people: PersonServices;
  onWebhook?: RouteDeps['onWebhook'];
  isSuspended?: GuardOptions['isSuspended'];
  learners?: Learners;
  /** Counts requests for all replicas together; without it this one counts its own. */
  counter?: Counter | undefined;
  /** How old the caches of Kubernetes' resources may be, in milliseconds; 0 while it is heard of. */
  ageMs: () => number;
  metrics?: HttpMetrics;
  log: Logger;
}

/** Ready to listen or to be injected into; nothing is sent or listened to yet. */
export async function buildServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { config } = deps;
  const app = createApp(deps);
  handleErrors(app, config.publicUrl);
  stopGracefully(app, deps);
  deps.metrics?.observe(app);
  secureHeaders(app, {
    api: [V1, GRAPHQL, MCP, AUTH_PATH, '/.well-known'],
    docs: DOCS,
    overTls: config.publicUrl.startsWith('https:'),
  });

  await app.register(swagger, OPENAPI);
  let description: OpenApi | undefined;
  const openApi = (): OpenApi => {
    description ??= completeOpenApi(app.swagger(), config.scopePrefix);
    return description;
  };
  await app.register(swaggerUi, { routePrefix: DOCS, transformSpecification: openApi });
  errorDocs(app, openApi);

  const methods = createMethods();
  await app.register(async (api) => {
    await allowOrigins(api, config.corsOrigins);
    methods.watch(api);
    api.addHook('onRequest', ({ headers }, _reply, done) => {
      const trace = traceOf(headers)?.headers;
      if (trace) within({ trace }, done);
      else done();
    });
    await guard(api, { auth: deps.auth, counter: deps.counter, isSuspended: deps.isSuspended, ...config });
    learnNewcomers(api, deps.learners ?? {});
    await api.register(async (graphql) => {
      tellAge(graphql, deps.ageMs);
      graphqlRoutes(graphql, { ...deps, ...config, secret: config.authSecret, observe: deps.metrics?.graphql });
    });
    await api.register(async (agents) => {
      tellAge(agents, deps.ageMs);
      agentRoutes(agents, { ...deps, ...config, secret: config.authSecret, observe: deps.metrics?.tool });
    });
    await api.register(async (v1) => restRoutes(v1, deps, { methods, openApi }), { prefix: V1 });
  });

  const { authServer } = deps;
  if (authServer) await app.register(async (auth) => serveAuth(auth, authServer, { ...deps, methods }));
  await serveDashboard(app, config.dashboardDir, methods);
  await app.ready();
  return app;
}

function createApp({ log, config }: Pick<ServerDeps, 'log' | 'config'>): FastifyInstance {
  const { timeouts, trustProxy } = config;
  const clientErrors = createClientErrors();
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { maxParamLength: 512, querystringParser: parseQuery },
    trustProxy,
    // The last moment before a request is routed.
    rewriteUrl: (request) => {
      overrideMethod(request);
      return request.url ?? '/';
    },
    // We answer 503 ourselves, as a problem document, until nothing is at work (stopping.ts).
    return503OnClosing: false,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionTimeout: timeouts.connectionMs,
    http: {
      headersTimeout: timeouts.headersMs,
      // Node looks at its connections every 30 s unless told, which would make a shorter time-out as long.
      connectionsCheckingInterval: Math.ceil(timeouts.headersMs / 4),
      // Node would answer with a status line and no more; `identify` refuses it with a problem.
      requireHostHeader: false,
    },
    clientErrorHandler: clientErrors.answer,
    // No hook has seen the request by then.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.header('x-request-id', request.id)),
    childLoggerFactory: (parent, bindings, _options, { headers }) =>
      new RequestLog(parent as Logger, () => ({ ...bindings, traceId: traceOf(headers)?.traceId })),
    genReqId: (request: IncomingMessage) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  clientErrors.watch(app.server);
  app.setValidatorCompiler(({ schema, httpPart }) => (COMPILERS[httpPart ?? ''] ?? compileParameters)(schema as never));
  // Services answer exactly what the schemas say; a serializer that cuts fields would hide it when they do not.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  acceptJson(app as unknown as FastifyInstance, timeouts.bodyMs);
  app.addHook('onRequest', identify);
  return app as unknown as FastifyInstance;
}

/** Says which request an answer is to, and refuses what does not say whom it asks (RFC 9112, section 3.2). */
const identify: onRequestHookHandler = ({ id, raw, headers }, reply, done) => {
  void reply.header('x-request-id', id);
  if (headers.host !== undefined || raw.httpVersion === '1.0') return done();
  void reply.header('connection', 'close');
  done(new AppError('malformed_request', 'The header Host is missing.'));
};

interface Shared {
  methods: Methods;
  openApi: () => OpenApi;
}

async function restRoutes(v1: FastifyInstance, deps: ServerDeps, { methods, openApi }: Shared): Promise<void> {
  v1.addHook('onSend', (_request, reply, payload, done) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
    done(null, payload);
  });
  idempotency(v1, { db: deps.db, secret: deps.config.authSecret, quotas: deps.quotas });
  // What is not there is counted as well, and said before anybody looks at a body.
  const count = v1.rateLimit();
  v1.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 && !methods.isOther(request)) return done();
    const refuse = () => done(methods.nothingAt(request, reply));
    count.call(v1, request as never, reply as never).then(refuse, done);
  });
  // Without one of its own, the hooks of this prefix would not be asked.
  v1.setNotFoundHandler((request, reply) => answerError(methods.nothingAt(request, reply), request, reply));
  await nounRoutes(v1, { ...deps, scopePrefix: deps.config.scopePrefix, openApi });
}

function errorDocs(app: FastifyInstance, openApi: () => OpenApi): void {
  const hidden = { schema: { hide: true } as object, onRequest: errorPageHeaders };
  app.get(`${DOCS}/errors`, hidden, async (_request, reply) =>
    reply.type('text/html').send(errorIndex(errorDocsOf(openApi()))),
  );
  app.get(`${DOCS}/errors/:code`, hidden, async (request, reply) => {
    const { code } = request.params as { code: string };
    const found = errorDocsOf(openApi()).find((doc) => doc.code === code);
    return found ? reply.type('text/html').send(errorPage(found)) : reply.callNotFound();
  });
}
