/** Numbers of the API server for Prometheus. */
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface HttpMetrics {
  registry: Registry;
  observe(app: FastifyInstance): void;
}

export function createHttpMetrics(): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'loopstream_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  return {
    registry,
    observe: (app) => {
      app.addHook('onResponse', async (request, reply) => {
        // The pattern of the path, not the path: ids would make a series each.
        const route = request.is404 ? '(none)' : (request.routeOptions.url ?? '(none)');
        const labels = { method: request.method, route, status: String(reply.statusCode) };
        duration.observe(labels, reply.elapsedTime / 1000);
        request.log.debug({ ...labels, ms: Math.round(reply.elapsedTime) }, 'request');
      });
    },
  };
}
