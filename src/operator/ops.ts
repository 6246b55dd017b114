/** The operator's own port, never public: is it alive, are its caches filled, what has it done. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Queue } from '../kube/queue.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Reconcile } from './control.ts';

export interface Metrics {
  registry: Registry;
  /** Counts and times each run of a controller. */
  observe(controller: string, reconcile: Reconcile): Reconcile;
  /** Shows how many keys wait for a controller. */
  watchQueue(controller: string, queue: Pick<Queue, 'depth' | 'delayed'>): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const common = { labelNames: ['controller'] as const, registers: [registry] };
  const total = new Counter({ ...common, name: 'loopstream_reconcile_total', help: 'Runs of a controller.' });
  const errors = new Counter({
    ...common,
    name: 'loopstream_reconcile_errors_total',
    help: 'Runs of a controller that failed and are tried again.',
  });
  const seconds = new Histogram({
    ...common,
    name: 'loopstream_reconcile_duration_seconds',
    help: 'How long a run of a controller takes.',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
  });
  const queues = new Map<string, Pick<Queue, 'depth' | 'delayed'>>();
  const depth = (name: string, help: string, of: 'depth' | 'delayed') =>
    new Gauge({
      ...common,
      name,
      help,
      collect() {
        for (const [controller, queue] of queues) this.set({ controller }, queue[of]);
      },
    });
  depth('loopstream_queue_depth', 'Keys that wait for a worker.', 'depth');
  depth('loopstream_queue_delayed', 'Keys that wait for their time.', 'delayed');
  return {
    registry,
    observe: (controller, reconcile) => async (key) => {
      const end = seconds.startTimer({ controller });
      total.inc({ controller });
      try {
        return await reconcile(key);
      } catch (error) {
        errors.inc({ controller });
        throw error;
      } finally {
        end();
      }
    },
    watchQueue: (controller, queue) => void queues.set(controller, queue),
  };
}

/** Serves /healthz, /readyz and /metrics; answers the port it listens on. */
export async function serveOps(
  options: { host: string; port: number; ready: () => boolean; registry: Registry },
  lifecycle: Lifecycle,
): Promise<number> {
  const { host, port, ready, registry } = options;
  const server = createServer((request, response) => {
    const send = (status: number, body: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type }).end(body);
    const path = request.url?.split('?')[0];
    if (path === '/healthz') send(200, 'ok\n');
    else if (path === '/readyz') send(ready() ? 200 : 503, ready() ? 'ok\n' : 'not ready\n');
    else if (path === '/metrics') {
      registry.metrics().then(
        (text) => send(200, text, registry.contentType),
        () => send(500, 'the metrics could not be collected\n'),
      );
    } else send(404, 'not found\n');
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, host, resolve);
  await promise;
  lifecycle.defer('ops server', async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}
