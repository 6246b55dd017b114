/**
 * Runs the operator: caches, queues and controllers. When it stops, streams on air stay on air; when it starts again, it finds
 * everything as it is and writes nothing. Of several operators one leads; the others keep their caches filled and wait.
 */

import { createKube } from '../kube/client.ts';
import type { Job } from '../kube/core.ts';
import { createEventRecorder } from '../kube/events.ts';
import { watchNamespaces } from '../kube/namespace-watch.ts';
import { shortenAtRandom } from '../lib/backoff.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Lifecycle } from '../lib/lifecycle.ts';
import type { Logger } from '../lib/log.ts';
import { UPLOAD_LABEL } from '../resources/common/names.ts';
import { refuseOldVersion } from '../resources/crd/old-version.ts';
import {
  type Caches,
  createCaches,
  createNodeCache,
  type Enqueue,
  enqueueNamespace,
  rememberNamespaces,
  watchCaches,
} from './caches/caches.ts';
import type { ControllerDeps } from './caches/controller-deps.ts';
import { holdBack } from './caches/hold-back.ts';
import { createPace } from './destination/pace.ts';
import { reconcileDestination } from './destination/reconcile.ts';
import { FAREWELL_MS, removeFinalizersForGood } from './finalizers/remove.ts';
import { createMetrics } from './metrics/metrics.ts';
import { reconcilePlaylist } from './playlist/reconcile.ts';
import { describeClockJump } from './runtime/clock-health.ts';
import { requeueAt, splitKey } from './runtime/controller.ts';
import { readInstallation } from './runtime/installation.ts';
import { createLeadership } from './runtime/leader-election.ts';
import { serveOps } from './runtime/ops.ts';
import { createControllerQueue } from './runtime/queue.ts';
import { traceReconcile } from './runtime/reconcile-span.ts';
import { findMetered, type OperatorConfig } from './runtime/settings.ts';
import { createControlTokens } from './stream/control-token.ts';
import { readGrantedToken } from './stream/granted-pods.ts';
import { tracePods } from './stream/pod-spans.ts';
import { createReportReceiver, type ReceiveReport } from './stream/receive-report.ts';
import { reconcileStream } from './stream/reconcile.ts';
import { serveReports } from './stream/report-server.ts';
import { createRollout } from './stream/rollout.ts';
import { createStreamers, type FollowOptions, pickFollowOptions } from './stream/streamers.ts';
import { createViewKeys } from './stream/view-keys.ts';
import { Admission } from './upload/admission.ts';
import { followProgress, type JobProgress } from './upload/follow-progress.ts';
import { countWorkers } from './upload/helpers.ts';
import { hasPreparedRoom } from './upload/observe.ts';
import { reconcileUpload } from './upload/reconcile.ts';
import { Sweeper, type SweepOptions, sweepRegularly } from './upload/sweep.ts';

const DAY_MS = 86_400_000;

export interface RunningOperator {
  /** Port of /healthz, /readyz and /metrics. */
  opsPort: number;
  /** Port for the reports of pods, where they have an address for them. */
  reportsPort: number | undefined;
}

/**
 * Resolves when the caches are filled and it works, or waits while another operator leads; rejects when the lifecycle
 * stops before that, when the port of the ops server is taken, or with OldVersionError. Everything it starts is released by the lifecycle.
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
  const { clock = systemClock, exit = (status: number) => process.exit(status) } = options;
  const { watched, workers } = config;
  const metrics = createMetrics();

  // Kubernetes: only the operator that leads may write.
  const client = createKube({ kubeconfig: config.kubeconfig, onRequest: metrics.onRequest, role: 'operator' });
  lifecycle.defer('kubernetes client', () => client.close());
  // After the lease is given up: nothing of this process adds a finalizer any more.
  lifecycle.defer('finalizers', () => removeFinalizersForGood(client, config, log), FAREWELL_MS);
  const leadership = createLeadership(client, config, { lifecycle, log, metrics, exit });
  const { kube } = leadership;
  const events = createEventRecorder(kube, { component: 'loopstream-operator', log, onDrop: metrics.onEventDrop });
  lifecycle.defer('events', () => events.flush());

  // Caches, and the dependencies of all controllers.
  const namespaces = watchNamespaces(kube, watched, log);
  metrics.showNamespaces(namespaces.states);
  const own = createCaches(namespaces);
  const nodes = await createNodeCache(kube, log);
  const caches: Caches = { ...own, ...(nodes && { nodes }) };
  metrics.showReflectors(caches);
  const pace = createPace(caches, clock);
  const installation = await readInstallation(kube, lifecycle.signal, log);
  await refuseOldVersion(kube);
  const deps: ControllerDeps = { kube, caches, settings: { ...config, installation }, events, clock, log };

  // Streams.
  const viewKeys = createViewKeys(kube);
  const streamers = createStreamers(lifecycle, {
    findToken: async (pod) =>
      (await readGrantedToken({ kube }, pod)) ??
      viewKeys.findToken(pod.metadata.namespace ?? '', pod.metadata.ownerReferences?.[0]?.uid ?? ''),
    count: metrics.countReport,
  });
  const controlTokens = createControlTokens(kube, clock);
  let receive: ReceiveReport | undefined;
  const rollout = createRollout(config.rolloutSeconds, config, () => caches.pods.list());

  // Uploads.
  const progress: JobProgress = new Map();
  const sweeping: SweepOptions = { graceSeconds: config.sweepGraceHours * 3600, ...options.sweep };
  const sweeper = new Sweeper(deps, sweeping);
  metrics.showSuspicious(() => sweeper.countSuspicious());
  const admission = new Admission({
    limits: { import: config.importConcurrency, rendition: config.prepareConcurrency },
    jobs: () => caches.jobs.list(),
    isImported: ({ metadata: { namespace, labels } }) =>
      caches.uploads.get(namespace ?? '', labels?.[UPLOAD_LABEL] ?? '')?.status?.media !== undefined,
    isSwept: (jobNamespace, key) => sweeper.isSwept(jobNamespace, key),
    mostHelpers: config.preparePods - 1,
    // An operator that may not look at nodes has the limit alone.
    countWorkers: () => (nodes ? countWorkers(nodes.list(), config.jobPlacement) : Number.POSITIVE_INFINITY),
  });
  const { maxPreparedBytes } = config;
  const keepUnusedMs = config.keepUnusedDays > 0 ? config.keepUnusedDays * DAY_MS : Number.POSITIVE_INFINITY;

  // The ops server.
  let synced = false;
  const opsPort = await serveOps(
    {
      host: config.opsHost,
      port: config.opsPort,
      ready: () => synced && !lifecycle.signal.aborted,
      ill: describeClockJump(clock),
      metrics: metrics.text,
    },
    lifecycle,
  );

  const reportsPort =
    config.reportsUrl === undefined
      ? undefined
      : await serveReports(
          {
            host: config.reportsHost,
            port: config.reportsPort,
            receive: () => receive,
            count: metrics.countReport,
            log,
          },
          lifecycle,
        );

  // Controllers.
  const enqueue: Enqueue = {
    stream: (key) => queues.stream.add(key),
    upload: (key) => queues.upload.add(key),
    playlist: (key) => queues.playlist.add(key),
    destination: (key) => queues.destination.add(key),
    expiringDestination: (key, at) => {
      const wait = requeueAt(at, clock.now());
      if (wait?.requeueAfterMs !== undefined) queues.destination.addAfter(key, wait.requeueAfterMs);
    },
    heldDestination: (key) => queues.destination.addAfter(key, shortenAtRandom(pace('onAir'))),
  };
  const controllers = {
    stream: reconcileStream({ ...deps, streamers, viewKeys, rollout, isMetered: findMetered(config) }, (key, ms) =>
      queues.stream.addAfter(key, ms),
    ),
    upload: reconcileUpload({ ...deps, admission, progress, keepUnusedMs, maxPreparedBytes }, (key, afterMs = 0) =>
      afterMs > 0 ? queues.upload.addAfter(key, afterMs) : queues.upload.add(key),
    ),
    playlist: reconcilePlaylist(deps),
    destination: reconcileDestination(deps, pace),
  };
  const queueTools = { workers, metrics, lifecycle, log };
  const reconciled = {
    stream: caches.streams,
    upload: caches.uploads,
    playlist: caches.playlists,
    destination: caches.destinations,
  };
  const createQueue = (name: keyof typeof controllers) => {
    const reconcile = traceReconcile(name, reconciled[name], controllers[name], clock);
    return createControllerQueue(name, holdBack(namespaces, reconcile), queueTools);
  };
  const queues = {
    stream: createQueue('stream'),
    upload: createQueue('upload'),
    playlist: createQueue('playlist'),
    destination: createQueue('destination'),
  };

  // Fill the caches. Nodes are not waited for: the operator works without them.
  nodes?.start(lifecycle.signal);
  const reflectors = Object.values(own);
  for (const reflector of reflectors) reflector.start(lifecycle.signal);
  await Promise.all(reflectors.map((reflector) => reflector.synced));
  synced = true;

  // Work, once this operator leads.
  leadership.begin(() => {
    metrics.showObjects(caches, clock);
    watchCaches(caches, enqueue);
    tracePods(caches.pods, clock);
    caches.streams.onChange((key, current) => !current && viewKeys.forget(splitKey(key)[0]));
    caches.pods.onChange((_key, pod, previous) => !pod && previous && controlTokens.forget(previous.metadata.uid));
    namespaces.onFilled((namespace) => enqueueNamespace(caches, namespace, enqueue));
    for (const queue of Object.values(queues)) queue.resume();
    // A Job that ends makes room, also one that belongs to no upload.
    caches.jobs.onChange(() => admission.due().forEach(enqueue.upload));
    const readSweep = (job: Job | undefined) =>
      job && sweeper.read(job).catch((err: unknown) => log.warn({ err }, 'the result of a sweep could not be read'));
    caches.jobs.onChange((_key, job) => readSweep(job), { replay: true });
    const listSwept = watched === 'all' ? rememberNamespaces(caches) : () => watched.filter(namespaces.isFilled);
    if (config.sweep) sweepRegularly(sweeper, admission, deps, listSwept, sweeping, lifecycle);
    streamers.follow(caches.pods, enqueue.stream, options.follow ?? pickFollowOptions(config));
    receive = createReportReceiver(caches, controlTokens, streamers, clock);
    const hasRoom = (key: string) => {
      const upload = caches.uploads.get(...splitKey(key));
      return upload !== undefined && hasPreparedRoom(caches, upload, maxPreparedBytes);
    };
    followProgress(caches, progress, { enqueue: enqueue.upload, hasPreparedRoom: hasRoom }, lifecycle);
    log.info({ watched }, 'the operator leads and reconciles');
  });
  log.info({ watched, opsPort, reportsPort }, 'the operator is ready');
  return { opsPort, reportsPort };
}
