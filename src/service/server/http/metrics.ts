/** Exposes the API server's metrics to Prometheus: rate, errors and duration of requests, incoming and outgoing. */
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import {
  ACCOUNT_NAMESPACE_WATCHED,
  namespaceMetrics,
  reflectorMetrics,
  requestMetrics,
} from '../../../core/kube/metrics.ts';
import type { OnRequest } from '../../../core/kube/transport.ts';
import { type AuthMetrics, authMetrics } from '../../auth/metrics.ts';
import type { EventOutcome } from '../../billing/cards/events.ts';
import { poolMetrics } from '../../db/metrics.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** nginx's status for a client that closed the connection before the response. */
const CLIENT_CLOSED = '499';

/** Result of a tool's call: an agent can fix `refused`, not `failed`; the client left a `cancelled` call. */
export type ToolOutcome = 'ok' | 'refused' | 'failed' | 'cancelled';

export interface HttpMetrics {
  registry: Registry;
  onRequest: OnRequest;
  onUncounted(): void;
  showReflectors: ReturnType<typeof reflectorMetrics>;
  showNamespaces: ReturnType<typeof namespaceMetrics>;
  showPools(pools: Parameters<typeof poolMetrics>[1]): void;
  observe(app: FastifyInstance): void;
  /** Metrics of the authorization server. */
  auth: AuthMetrics;
  /** Counts a mail as accepted by its server, or as failed after all attempts. */
  mail(taken: boolean): void;
  /** Counts an event of the payment provider. */
  webhook(outcome: EventOutcome | 'forged' | 'failed'): void;
  /** Counts a call of a tool: all share one route, and most return 200. `ms` is its duration. */
  tool(name: string, outcome: ToolOutcome, ms: number): void;
  /** Counts an operation of GraphQL: all share one route and return 200. `ms` is its duration. */
  graphql(type: 'query' | 'mutation' | 'invalid', ok: boolean, ms: number): void;
}

export function createHttpMetrics(): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to the end of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests whose response has not ended, including previews and feeds.',
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'graphql_operation_duration_seconds',
    help: 'Duration of a GraphQL operation. `invalid` counts requests that are no valid operation.',
    labelNames: ['type', 'result'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const calls = new Histogram({
    name: 'mcp_tool_duration_seconds',
    help: 'Duration of a tool call of an agent, including its wait. The agent can correct `refused` calls, but not `failed` ones.',
    labelNames: ['tool', 'outcome'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const failures = new Counter({
    name: 'graphql_operation_errors_total',
    help: 'GraphQL operations that returned an error.',
    labelNames: ['type'],
    registers: [registry],
  });
  const uncounted = new Counter({
    name: 'rate_limit_uncounted_total',
    help: 'Requests that the rate limit did not count, because Redis did not respond.',
    registers: [registry],
  });
  const mails = new Counter({
    name: 'mails_total',
    help: 'Mails to users, by whether the mail server accepted them after all attempts.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const webhooks = new Counter({
    name: 'stripe_webhook_events_total',
    help: 'Events of the payment provider. `ignored` events do not concern top-ups, `forged` ones lack a valid signature, and `failed` ones are sent again.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['settled', 'ignored', 'forged', 'failed']) webhooks.inc({ outcome }, 0);
  for (const outcome of ['sent', 'failed']) mails.inc({ outcome }, 0);
  for (const type of ['query', 'mutation', 'invalid']) failures.inc({ type }, 0);
  return {
    registry,
    onRequest: requestMetrics(registry),
    onUncounted: () => uncounted.inc(),
    showReflectors: reflectorMetrics(registry),
    showNamespaces: namespaceMetrics(registry, ACCOUNT_NAMESPACE_WATCHED),
    showPools: (pools) => poolMetrics(registry, pools),
    graphql(type, ok, ms) {
      seconds.observe({ type, result: ok ? 'ok' : 'error' }, ms / 1000);
      if (!ok) failures.inc({ type });
    },
    auth: authMetrics(registry),
    webhook: (outcome) => webhooks.inc({ outcome }),
    mail: (taken) => mails.inc({ outcome: taken ? 'sent' : 'failed' }),
    tool: (tool, outcome, ms) => calls.observe({ tool, outcome }, ms / 1000),
    observe: (app) => {
      app.addHook('onRequest', (request, reply, done) => {
        const since = performance.now();
        inFlight.inc();
        // `close` fires for every response, also for one that the client abandoned.
        reply.raw.on('close', () => {
          inFlight.dec();
          const ms = performance.now() - since;
          // The path's pattern, since each id would create a series.
          const route = request.is404 ? '(none)' : (request.routeOptions.url ?? '(none)');
          const method = METHODS.has(request.method) ? request.method : 'other';
          const status = reply.raw.writableFinished ? String(reply.statusCode) : CLIENT_CLOSED;
          duration.observe({ method, route, status }, ms / 1000);
          request.log.debug({ method, route, status, tookMs: Math.round(ms) }, 'request');
        });
        done();
      });
    },
  };
}
