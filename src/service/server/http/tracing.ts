/** Begins a span for each request while tracing is on, and hands on the W3C Trace Context of a request while it is off. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { within } from '../../../core/lib/context.ts';
import type { Span } from '../../../core/lib/span.ts';
import { readTrace, type Trace } from '../../../core/lib/tracing/trace-context.ts';
import { startSpan, withinSpan } from '../../../core/lib/tracing/tracing.ts';
import type { ApiConfig } from '../setup/settings.ts';

const spans = new WeakMap<IncomingMessage, Span>();

/** Fields of each log line of a request. */
export function listTraceFields(request: IncomingMessage): { trace_id?: string; span_id?: string } {
  const span = spans.get(request);
  if (span) return { trace_id: span.traceId, span_id: span.spanId };
  const trace = readTrace(request.headers);
  return trace ? { trace_id: trace.traceId } : {};
}

/** Adds the first hook of requests: all that follows belongs to the request's span. */
export function traceRequests(app: FastifyInstance, config: Pick<ApiConfig, 'trustTraceparent'>): void {
  app.addHook('onRequest', (request, reply, done) => {
    const trace = readTrace(request.headers);
    const span = startRequest(request, trace, config);
    if (span) {
      spans.set(request.raw, span);
      // `close` fires for every response, also for one that the client abandoned.
      reply.raw.on('close', () => endRequest(span, request, reply));
      withinSpan(span, done);
    } else if (trace) within({ trace: trace.headers }, done);
    else done();
  });
}

/** The URL is not in it: a query may contain a secret. */
function startRequest(
  { method, protocol, id, routeOptions }: FastifyRequest,
  trace: Trace | undefined,
  { trustTraceparent }: Pick<ApiConfig, 'trustTraceparent'>,
): Span | undefined {
  const { url: route = '(none)', schema } = routeOptions;
  const { operationId } = (schema ?? {}) as { operationId?: string };
  return startSpan(`${method} ${route}`, {
    kind: 'server',
    parent: trace?.headers ?? 'none',
    isParentUntrusted: !trustTraceparent,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.scheme': protocol,
      'loopstream.request.id': id,
      'loopstream.operation': operationId,
    },
  });
}

function endRequest(span: Span, { principal }: FastifyRequest, { raw, statusCode }: FastifyReply): void {
  span.set({
    ...(raw.headersSent && { 'http.response.status_code': statusCode }),
    'loopstream.account.id': principal?.accountId,
  });
  if (!raw.writableFinished) span.fail('client_closed');
  else if (statusCode >= 500) span.fail(String(statusCode));
  span.end();
}
