/** Collects the metrics of the role `platform` for Prometheus, named as in controller-runtime where that has the same. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { namespaceMetrics, reflectorMetrics, requestMetrics, workqueueMetrics } from '../kube/metrics.ts';
import { leadingMetrics, reconcileMetrics } from '../operator/metrics/metrics.ts';
import { PLATFORM_KINDS } from '../resources/destination/platform.ts';

export function createPlatformMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let count: (kind: (typeof PLATFORM_KINDS)[number]) => number = () => 0;
  new Gauge({
    name: 'loopstream_platform_watched_destinations',
    help: 'Destinations whose view this process looks at, by the kind of their platform. 0 while another process leads.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const kind of PLATFORM_KINDS) this.set({ kind }, count(kind));
    },
  });
  return {
    registry,
    onRequest: requestMetrics(registry),
    queues: workqueueMetrics(registry),
    showReflectors: reflectorMetrics(registry),
    showLeading: leadingMetrics(registry),
    showNamespaces: namespaceMetrics(registry, {
      name: 'loopstream_platform_namespace_watched',
      help: '1 while the process can watch a listed namespace, 0 while it or the Role in it does not exist.',
    }),
    observe: reconcileMetrics(registry),
    showTargets(read: typeof count) {
      count = read;
    },
    text: async () => [await registry.metrics()],
  };
}
