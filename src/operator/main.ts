/**
 * The operator: caches, queues and controllers. Stopping it stops looking; what is on air stays on air. Started again it
 * finds everything as it is and writes nothing. Of several one leads; the others keep their caches filled and wait.
 */

import { createKube } from '../kube/client.ts';
import { createEventRecorder } from '../kube/events.ts';
import { createQueue } from '../kube/queue.ts';
import type { Kube } from '../kube/types.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Lifecycle } from '../lib/lifecycle.ts';
import type { Logger } from '../lib/log.ts';
import { COMPONENT_LABEL } from '../resources/common/names.ts';
import { type Caches, createCaches, createNodeCache, type Enqueue, wire } from './caches/caches.ts';
import type { Tools } from './caches/tools.ts';
import { reconcileDestination } from './destination/reconcile.ts';
import { isEnding, removeFinalizers } from './finalizers/remove.ts';
import { createMetrics } from './metrics/metrics.ts';
import { clockHealth } from './runtime/clock-health.ts';
import type { Reconcile } from './runtime/controller.ts';
import { createLeadership } from './runtime/leader-election.ts';
import { serveOps } from './runtime/ops.ts';
import type { OperatorConfig } from './runtime/settings.ts';
import { isOutdated } from './stream/handover.ts';
import { reconcileStream } from './stream/reconcile.ts';
import { Rollout } from './stream/rollout.ts';
import { findViewToken } from './stream/secret.ts';
import { createStreamers, FOLLOW, type FollowOptions } from './stream/streamers.ts';
import { Admission } from './upload/admission.ts';
import { type Fractions, followProgress } from './upload/follow.ts';
import { reconcileUpload } from './upload/reconcile.ts';
import { Sweeper, type SweepOptions, sweepRegularly } from './upload/sweep.ts';

const DAY_MS = 86_400_000;
/** Within the time that Kubernetes gives the operator to stop (terminationGracePeriodSeconds in the chart). */
const FAREWELL_MS = 30_000;

export interface RunningOperator {
  /** Port of /healthz, /readyz and /metrics. */
  opsPort: number;
}

/**
 * An operator whose own namespace is being deleted has no successor. The deletion of a namespace begins with its pods, and
 * waits for them: until then this one has the rights that it needs.
 */
async function leaveForGood(kube: Kube, { operatorNamespace, namespace }: OperatorConfig, log: Logger): Promise<void> {
  if (!(await isEnding(kube, operatorNamespace ?? namespace))) return;
  const removed = await removeFinalizers(kube, namespace, { signal: AbortSignal.timeout(FAREWELL_MS) });
  log.info({ namespace, removed }, 'the namespace of the operator is deleted: streams and pods are held no more');
}

const createRollout = (config: OperatorConfig, caches: Caches): Rollout => {
  return new Rollout({
    seconds: config.rolloutSeconds,
    pods: () => caches.pods.list().filter(({ metadata }) => metadata.labels?.[COMPONENT_LABEL] === 'streamer'),
    isCurrent: (pod) => !isOutdated(pod, config),
  });
};

/**
 * Resolves when the caches are filled and it works, or waits while another operator leads; rejects when the lifecycle
 * stops before that, or when the port of the ops server is taken. Everything it starts is released by the lifecycle.
 */
export async function runOperator(
  config: OperatorConfig,
  lifecycle: Lifecycle,
  log: Logger,
  options: {
    clock?: Clock;
    follow?: FollowOptions;
    sweep?: Partial<SweepOptions>;
    /** Ends the process when it leads no more. */
    exit?: (status: number) => void;
  } = {},
): Promise<RunningOperator> {
  const metrics = createMetrics();
  const client = createKube({ kubeconfig: config.kubeconfig, onRequest: metrics.onRequest });
  lifecycle.defer('kubernetes client', () => client.close());
  // After the lease is given up: nothing of this process puts a finalizer on any more.
  lifecycle.defer('finalizers', () => leaveForGood(client, config, log), FAREWELL_MS);
  const exit = options.exit ?? ((status: number) => process.exit(status));
  const leadership = createLeadership(client, config, { lifecycle, log, metrics, exit });
  const { kube } = leadership;
  const events = createEventRecorder(kube, { component: 'loopstream-operator', log });
  lifecycle.defer('events', () => events.flush());
  const own = createCaches(kube, config.namespace, log);
  const nodes = await createNodeCache(kube, log);
  const caches: Caches = { ...own, ...(nodes && { nodes }) };
  metrics.showReflectors({ ...own, ...(nodes && { nodes }) });
  const fractions: Fractions = new Map();
  const clock = options.clock ?? systemClock;
  const streamers = createStreamers(lifecycle, ({ metadata }) =>
    findViewToken(kube, metadata.namespace ?? '', metadata.ownerReferences?.[0]?.uid ?? ''),
  );
  const { metered } = config;
  const rollout = createRollout(config, caches);
  const tools: Tools = { kube, caches, settings: config, events, clock, log };

  let synced = false;
  const ready = () => synced && !lifecycle.signal.aborted;
  const { opsHost: host, opsPort: port } = config;
  const jump = clockHealth(clock);
  const ill = () => {
    const jumpedMs = jump();
    return jumpedMs === undefined ? undefined : `the wall clock jumped by ${jumpedMs} ms`;
  };
  const opsPort = await serveOps({ host, port, ready, ill, metrics: metrics.text }, lifecycle);

  const controller = (name: string, reconcile: Reconcile) => {
    // Nothing is decided from caches that are not filled yet: a pod that is not known would seem to be missing. And
    // nothing while another operator leads.
    const queue = createQueue({
      workers: config.workers,
      process: metrics.observe(name, reconcile),
      log: log.child({ controller: name }),
      paused: true,
      observer: metrics.queues.observer(name),
    });
    metrics.queues.watch(name, queue, config.workers);
    lifecycle.defer(`${name} queue`, () => queue.stop());
    return queue;
  };
  const sweeping: SweepOptions = {
    namespace: config.namespace,
    graceSeconds: config.sweepGraceHours * 3600,
    ...options.sweep,
  };
  const sweeper = new Sweeper(tools, sweeping);
  const admission = new Admission({
    limits: { import: config.importConcurrency, rendition: config.prepareConcurrency },
    jobs: () => caches.jobs.list(),
    isSwept: (namespace, key) => sweeper.isSwept(namespace, key),
  });
  const maxPreparedBytes = config.limits.full.preparedBytes;
  const keepUnusedMs = config.keepUnusedDays > 0 ? config.keepUnusedDays * DAY_MS : Number.POSITIVE_INFINITY;
  const lookAtUpload = (key: string) => queues.upload.add(key);
  const queues = {
    stream: controller('stream', reconcileStream({ ...tools, streamers, rollout, metered })),
    upload: controller(
      'upload',
      reconcileUpload({ ...tools, admission, fractions, keepUnusedMs, maxPreparedBytes }, lookAtUpload),
    ),
    destination: controller('destination', reconcileDestination(tools)),
  };
  const enqueue: Enqueue = {
    stream: (key) => queues.stream.add(key),
    upload: lookAtUpload,
    destination: (key) => queues.destination.add(key),
  };
  // What is not known of nodes is not waited for.
  nodes?.start(lifecycle.signal);
  const reflectors = Object.values(own);
  for (const reflector of reflectors) reflector.start(lifecycle.signal);
  await Promise.all(reflectors.map((reflector) => reflector.synced));
  synced = true;
  leadership.begin(() => {
    metrics.showObjects(caches, clock);
    wire(caches, enqueue);
    for (const queue of Object.values(queues)) queue.resume();
    // A Job that ends makes room, also one that belongs to no upload.
    caches.jobs.onChange(() => admission.due().forEach(lookAtUpload));
    if (config.sweep) sweepRegularly(sweeper, admission, tools, sweeping, lifecycle);
    streamers.follow(caches.pods, enqueue.stream, options.follow ?? FOLLOW);
    followProgress(caches, fractions, enqueue.upload, lifecycle);
    log.info({ namespace: config.namespace }, 'the operator looks after the streams');
  });
  log.info({ namespace: config.namespace, opsPort }, 'the operator is ready');
  return { opsPort };
}
