/** The API server: routes of all nouns, and around them what every request goes through. Wires, no rules. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { AuthService } from '../auth/service.ts';
import type { Db } from '../db/pool.ts';
import { graphqlRoutes } from '../graphql/routes.ts';
import type { Services } from '../graphql/schema.ts';
import type { Logger } from '../log.ts';
import type { StatsService } from '../stats/service.ts';
import { serveDashboard } from './dashboard.ts';
import type { OpenApi } from './document.ts';
import { errorDocsOf } from './errordocs.ts';
import { errorIndex, errorPage } from './errorpages.ts';
import { answerError, handleErrors, refuseWhileStopping } from './errors.ts';
import { errorPageHeaders, secureHeaders } from './headers.ts';
import { idempotency } from './idempotency.ts';
import type { HttpMetrics } from './metrics.ts';
import { completeOpenApi, OPENAPI } from './openapi.ts';
import { answerOtherMethods, guard } from './operations.ts';
import { nounRoutes, V1 } from './routes.ts';
import type { StatusDeps } from './status.ts';
import { compileBody, compileParameters } from './validation.ts';

const DOCS = '/docs';
const BODY_LIMIT = 1024 * 1024;
const REQUEST_ID = /^[\w.-]{1,64}$/;

export interface ServerDeps extends StatusDeps {
  config: {
    publicUrl: string;
    rateLimitPerMinute: number;
    scopePrefix: string;
    authSecret: string;
    dashboardDir?: string | undefined;
  };
  auth: Pick<AuthService, 'authenticate'>;
  db: Db;
  services: Services;
  stats: StatsService;
  /** Aborts when the server stops: new requests get 503, previews end. */
  stopping: AbortSignal;
  metrics?: HttpMetrics;
  log: Logger;
}

/** Ready to listen or to be injected into; nothing is sent or listened to yet. */
export async function buildServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { config, stopping } = deps;
  const app = createApp(deps.log);
  handleErrors(app);
  refuseWhileStopping(app, stopping);
  deps.metrics?.observe(app);
  await secureHeaders(app, { docs: DOCS, overTls: config.publicUrl.startsWith('https:') });

  await app.register(swagger, OPENAPI);
  let description: OpenApi | undefined;
  const openApi = (): OpenApi => {
    description ??= completeOpenApi(app.swagger(), config.scopePrefix);
    return description;
  };
  await app.register(swaggerUi, { routePrefix: DOCS, transformSpecification: openApi });
  errorDocs(app, openApi);

  await app.register(async (api) => {
    await guard(api, { auth: deps.auth, ...config });
    await api.register(async (graphql) => {
      graphqlRoutes(graphql, { ...deps, ...config, secret: config.authSecret, observe: deps.metrics?.graphql });
      answerOtherMethods(graphql, new Map([['/graphql', new Set(['GET', 'HEAD', 'POST'])]]));
    });
    await api.register(async (v1) => restRoutes(v1, deps, openApi), { prefix: V1 });
  });

  await serveDashboard(app, config.dashboardDir);
  await app.ready();
  return app;
}

function createApp(log: Logger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: 512 },
    // We answer 503 ourselves, as a problem document (refuseWhileStopping).
    return503OnClosing: false,
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
    genReqId: (request: IncomingMessage) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body' ? compileBody(schema as never) : compileParameters(schema as never),
  );
  // Services answer exactly what the schemas say; a serializer that cuts fields would hide it when they do not.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    // `start` and `stop` have no body; clients that always send the content type are welcome all the same.
    if (body === '') return done(null, undefined);
    try {
      done(null, JSON.parse(body as string));
    } catch (error) {
      done(Object.assign(error as Error, { code: 'FST_ERR_CTP_INVALID_JSON_BODY' }));
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
  });
  return app as unknown as FastifyInstance;
}

async function restRoutes(v1: FastifyInstance, deps: ServerDeps, openApi: () => OpenApi): Promise<void> {
  const routes = new Map<string, Set<string>>();
  v1.addHook('onRoute', ({ method, url, config }) => {
    if (config?.methodNotAllowed) return;
    // Fastify hands over the whole path, and wants one without the prefix.
    const path = url.slice(V1.length);
    const methods = routes.get(path) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    routes.set(path, methods);
  });
  v1.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
  });
  idempotency(v1, { db: deps.db, secret: deps.config.authSecret });
  handleErrors(v1, { before: v1.rateLimit() });
  await nounRoutes(v1, { ...deps, openApi });
  answerOtherMethods(v1, routes);
}

function errorDocs(app: FastifyInstance, openApi: () => OpenApi): void {
  const hidden = { schema: { hide: true } as object, helmet: errorPageHeaders };
  app.get(`${DOCS}/errors`, hidden, async (_request, reply) =>
    reply.type('text/html').send(errorIndex(errorDocsOf(openApi()))),
  );
  app.get(`${DOCS}/errors/:code`, hidden, async (request, reply) => {
    const { code } = request.params as { code: string };
    const found = errorDocsOf(openApi()).find((doc) => doc.code === code);
    return found ? reply.type('text/html').send(errorPage(found)) : reply.callNotFound();
  });
}
