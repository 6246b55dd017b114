/**
 * Exposes the numbers of requests to Kubernetes to Prometheus. Their names are those of client-go and
 * controller-runtime, so that queries, alerts and dashboards for other operators work here too.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { EVENT_TYPES, type EventType } from './events.ts';
import type { NamespaceWatch } from './namespace-watch.ts';
import type { QueueObserver, WorkQueue } from './queue.ts';
import type { Reflector } from './reflector.ts';
import type { OnRequest } from './transport.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const QUEUE_BUCKETS = [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

type Stats = Pick<Reflector<never>, 'stats'>;

/**
 * Counts and times each request of `createKube`. A request without an answer has the code `<error>`, as in client-go.
 */
export function requestMetrics(registry: Registry): OnRequest {
  const total = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the Kubernetes API server, by status.',
    labelNames: ['code', 'method'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time from a request to the Kubernetes API server to the headers of its response.',
    labelNames: ['verb'],
    buckets: REQUEST_BUCKETS,
    registers: [registry],
  });
  // From the start, so that the first failure is seen as a rise.
  for (const method of METHODS) total.inc({ code: '<error>', method }, 0);
  return ({ method, status, ms }) => {
    const verb = METHODS.has(method) ? method : 'other';
    total.inc({ code: status === 0 ? '<error>' : String(status), method: verb });
    seconds.observe({ verb }, ms / 1000);
  };
}

/** Counts the events that an event recorder drops: for `onDrop`. */
export function eventMetrics(registry: Registry): (type: EventType) => void {
  const dropped = new Counter({
    name: 'loopstream_events_dropped_total',
    help: 'Kubernetes events that were not written: too many, or refused by the API server.',
    labelNames: ['type'],
    registers: [registry],
  });
  for (const type of EVENT_TYPES) dropped.inc({ type }, 0);
  return (type) => dropped.inc({ type });
}

/** Shows each reflector under its name; called again it adds more of them. */
export function reflectorMetrics(registry: Registry): (reflectors: Record<string, Stats>) => void {
  const known = new Map<string, Stats>();
  type Read = (stats: ReturnType<Stats['stats']>) => number;
  const common = (name: string, help: string) => ({ name, help, labelNames: ['name'], registers: [registry] });
  const collect = (read: Read, set: (labels: { name: string }, value: number) => void) => {
    for (const [name, reflector] of known) set({ name }, read(reflector.stats()));
  };
  const counter = (name: string, help: string, read: Read) =>
    new Counter({
      ...common(name, help),
      collect() {
        this.reset();
        collect(read, (labels, value) => this.inc(labels, value));
      },
    });
  const gauge = (name: string, help: string, read: Read) =>
    new Gauge({
      ...common(name, help),
      collect() {
        collect(read, (labels, value) => this.set(labels, value));
      },
    });
  counter('reflector_lists_total', 'Full lists that were read to fill a cache.', (stats) => stats.lists);
  counter('reflector_watches_total', 'Watches that were started. Each lasts five seconds.', (stats) => stats.watches);
  counter('reflector_errors_total', 'Lists and watches that failed and were retried.', (stats) => stats.errors);
  gauge('reflector_objects', 'Objects in a cache.', (stats) => stats.objects);
  gauge(
    'reflector_staleness_seconds',
    'Time since the API server last confirmed or changed the content of a cache.',
    (stats) => stats.heardMs / 1000,
  );
  return (reflectors) => {
    for (const [name, reflector] of Object.entries(reflectors)) known.set(name, reflector);
  };
}

/** Shows of each listed namespace whether it can be watched, as the gauge `name`. */
export function namespaceMetrics(
  registry: Registry,
  { name, help }: { name: string; help: string },
): (states: NamespaceWatch['states']) => void {
  let read: NamespaceWatch['states'] = () => [];
  new Gauge({
    name,
    help,
    labelNames: ['namespace'],
    registers: [registry],
    collect() {
      for (const [namespace, isWatched] of read()) this.set({ namespace }, isWatched ? 1 : 0);
    },
  });
  return (states) => {
    read = states;
  };
}

/** The roles that read the resources of accounts share this gauge: 0 concerns the accounts of that namespace alone. */
export const ACCOUNT_NAMESPACE_WATCHED = {
  name: 'account_namespace_watched',
  help: '1 while the process can watch a namespace of accounts, 0 while it or the Role in it does not exist.',
};

export interface WorkqueueMetrics {
  /** For the queue's options; its numbers have the controller's name. */
  observer(controller: string): QueueObserver;
  watch(
    controller: string,
    queue: Pick<WorkQueue, 'depth' | 'delayed' | 'running' | 'runningMs'>,
    workers: number,
  ): void;
}

/** The label `controller` says the same as `name`, as in controller-runtime. */
export function workqueueMetrics(registry: Registry): WorkqueueMetrics {
  const labelNames = ['name', 'controller'];
  const common = { labelNames, registers: [registry] };
  const adds = new Counter({ ...common, name: 'workqueue_adds_total', help: 'Keys that were added to a queue.' });
  const retries = new Counter({ ...common, name: 'workqueue_retries_total', help: 'Keys that were retried.' });
  const histogram = (name: string, help: string) => new Histogram({ ...common, name, help, buckets: QUEUE_BUCKETS });
  const waited = histogram('workqueue_queue_duration_seconds', 'Time that a key waits for a worker.');
  const worked = histogram('workqueue_work_duration_seconds', 'Time that a worker processes a key.');
  type Watched = Parameters<WorkqueueMetrics['watch']>[1];
  const queues = new Map<string, { queue: Watched; workers: number }>();
  const gauge = (name: string, help: string, labels: string[], read: (queue: Watched, workers: number) => number) =>
    new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      collect() {
        for (const [controller, { queue, workers }] of queues) {
          this.set(labels.length > 1 ? { name: controller, controller } : { controller }, read(queue, workers));
        }
      },
    });
  gauge('workqueue_depth', 'Keys that wait for a worker.', labelNames, (queue) => queue.depth);
  gauge('workqueue_delayed', 'Keys that wait for their scheduled time.', labelNames, (queue) => queue.delayed);
  gauge('workqueue_unfinished_work_seconds', 'Sum of the durations of all current runs.', labelNames, (queue) =>
    queue.runningMs().reduce((sum, ms) => sum + ms / 1000, 0),
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'Duration of the longest current run.',
    labelNames,
    (queue) => Math.max(0, ...queue.runningMs()) / 1000,
  );
  gauge('controller_runtime_active_workers', 'Busy workers.', ['controller'], (queue) => queue.running);
  gauge('controller_runtime_max_concurrent_reconciles', 'All workers.', ['controller'], (_, workers) => workers);
  return {
    observer(controller) {
      const labels = { name: controller, controller };
      adds.inc(labels, 0);
      retries.inc(labels, 0);
      return {
        added: () => adds.inc(labels),
        started: (ms) => waited.observe(labels, ms / 1000),
        done: (ms) => worked.observe(labels, ms / 1000),
        retried: () => retries.inc(labels),
      };
    },
    watch: (controller, queue, workers) => void queues.set(controller, { queue, workers }),
  };
}
