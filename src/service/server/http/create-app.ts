/** Creates the HTTP server without routes: limits, timeouts, parser, and request ids. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type onRequestHookHandler,
} from 'fastify';
import type { Logger } from '../../../core/lib/log.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { ApiConfig } from '../setup/settings.ts';
import { acceptJson } from './body.ts';
import { createClientErrors } from './clienterror.ts';
import { answerError } from './errors.ts';
import { overrideMethod } from './method-override.ts';
import { parseQuery } from './query.ts';
import { RequestLog } from './requestlog.ts';
import { listTraceFields } from './tracing.ts';
import { compileBody, compileParameters, compileQuery } from './validation.ts';

/** Compilers by the part of a request that a schema describes. */
const COMPILERS: Record<string, typeof compileBody> = { body: compileBody, querystring: compileQuery };
const REQUEST_ID = /^[\w.-]{1,64}$/;

interface AppDeps {
  config: Pick<ApiConfig, 'timeouts' | 'trustProxy'>;
  log: Logger;
}

export function createApp({ log, config }: AppDeps): FastifyInstance {
  const { timeouts, trustProxy } = config;
  const clientErrors = createClientErrors();
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestID' }),
    routerOptions: { maxParamLength: 512, querystringParser: parseQuery },
    trustProxy,
    // The last moment before routing.
    rewriteUrl: (request) => {
      overrideMethod(request);
      return request.url ?? '/';
    },
    // We return 503 as a problem document until all requests have ended (graceful-stop.ts).
    return503OnClosing: false,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionTimeout: timeouts.connectionMs,
    http: {
      headersTimeout: timeouts.headersMs,
      // Node checks its connections every 30 s by default, which would delay a shorter timeout.
      connectionsCheckingInterval: Math.ceil(timeouts.headersMs / 4),
      // Node would respond with a bare status line; `identify` returns a problem.
      requireHostHeader: false,
    },
    clientErrorHandler: clientErrors.answer,
    // No hook has seen the request by then.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.header('x-request-id', request.id)),
    childLoggerFactory: (parent, bindings, _options, request) =>
      new RequestLog(parent as Logger, () => ({ ...bindings, ...listTraceFields(request) })),
    genReqId: (request: IncomingMessage) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  clientErrors.watch(app.server);
  app.setValidatorCompiler(({ schema, httpPart }) => (COMPILERS[httpPart ?? ''] ?? compileParameters)(schema as never));
  // Services return exactly what the schemas declare; a serializer that drops fields would hide a violation.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  acceptJson(app as unknown as FastifyInstance, timeouts.bodyMs);
  app.addHook('onRequest', identify);
  // No text of ours may have U+0000, and Postgres and ffmpeg take none.
  app.addHook('onRequest', ({ url }, _reply, done) => {
    if (!url.includes('%00')) return done();
    done(validationFailed([{ path: '', message: 'has the character U+0000 (%00) in its URL; leave it out' }]));
  });
  return app as unknown as FastifyInstance;
}

/** Sets the response's request id, and rejects a request without a host (RFC 9112, section 3.2). */
const identify: onRequestHookHandler = ({ id, raw, headers }, reply, done) => {
  void reply.header('x-request-id', id);
  if (headers.host !== undefined || raw.httpVersion === '1.0') return done();
  void reply.header('connection', 'close');
  done(new AppError('malformed_request', 'The request has no header Host.'));
};
