/**
 * Runs the role `platform`: watches destinations, has an observer for each kind of platform that they name, and writes what viewers see. Of
 * several processes one leads; the others keep their caches filled and wait. While no destination names a platform, nothing is asked of anybody
 * but Kubernetes.
 */
import { createKube } from '../kube/client.ts';
import { watchNamespaces } from '../kube/namespace-watch.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Lifecycle } from '../lib/lifecycle.ts';
import type { Logger } from '../lib/log.ts';
import { joinKey, splitKey } from '../operator/runtime/controller.ts';
import { createLeadership } from '../operator/runtime/leader-election.ts';
import { serveOps } from '../operator/runtime/ops.ts';
import { createControllerQueue } from '../operator/runtime/queue.ts';
import { STREAM_LABEL } from '../resources/common/names.ts';
import { listReceivers } from '../resources/stream/destinations.ts';
import type { LoopStream } from '../resources/stream/resource.ts';
import { BY_RECEIVER, BY_UID, createPlatformCaches } from './caches.ts';
import { buildObservers } from './kinds.ts';
import { createPlatformMetrics } from './metrics.ts';
import { createObserverGroup, type ObserverTable } from './observers.ts';
import { createPodStats, createViewTokens, type Publisher } from './pod-stats.ts';
import type { PlatformConfig } from './settings.ts';
import { createStatusWriter } from './status-writer.ts';
import { createStores } from './stores.ts';
import { buildTarget, findPublisher, isSameTarget } from './targets.ts';

export const PLATFORM_LEASE = 'loopstream-platform';
/** Statuses that are written at the same time. */
const WORKERS = 4;

export interface PlatformOptions {
  clock?: Clock;
  /** The observers, in place of those of the product. */
  observers?: ObserverTable;
  /** Between two questions to a pod. */
  statsEveryMs?: number;
  /** Ends the process when it leads no more. */
  exit?: (status: number) => void;
}

export interface RunningPlatform {
  /** Port of /healthz, /readyz and /metrics. */
  opsPort: number;
}

/** Resolves when the caches are filled. Everything that it starts is released by the lifecycle. */
export async function runPlatform(
  config: PlatformConfig,
  lifecycle: Lifecycle,
  log: Logger,
  options: PlatformOptions = {},
): Promise<RunningPlatform> {
  const { clock = systemClock, exit = (status: number) => process.exit(status), statsEveryMs } = options;
  const table = options.observers ?? buildObservers(config);
  const metrics = createPlatformMetrics();
  const { signal } = lifecycle;

  const client = createKube({ kubeconfig: config.kubeconfig, onRequest: metrics.onRequest, role: 'platform' });
  lifecycle.defer('kubernetes client', () => client.close());
  const leadership = createLeadership(client, config, { lease: PLATFORM_LEASE, lifecycle, log, metrics, exit });
  const { kube } = leadership;
  const namespaces = watchNamespaces(kube, config.watched, log);
  metrics.showNamespaces(namespaces.states);
  const caches = createPlatformCaches(namespaces);
  metrics.showReflectors(caches);

  let synced = false;
  const ready = () => synced && !signal.aborted;
  const opsPort = await serveOps(
    { host: config.opsHost, port: config.opsPort, ready, metrics: metrics.text },
    lifecycle,
  );

  // The statuses that are written.
  const countTargets = () => observers.list().length;
  const writer = createStatusWriter({ kube, caches, clock, countTargets });
  const queue = createControllerQueue('platform', writer.reconcile, { workers: WORKERS, metrics, lifecycle, log });

  // The observers.
  const stores = createStores({ kube, caches, clock, ownNamespace: config.ownNamespace });
  const report: Parameters<typeof createObserverGroup>[1]['report'] = (key, verdict, validMs) => {
    if (writer.take(key, verdict, validMs)) queue.add(key);
  };
  const observers = createObserverGroup(table, { clock, log, signal, report, ...stores });
  lifecycle.defer('observers', () => observers.ended());
  metrics.showTargets((kind) => observers.list(kind).length);

  // Their targets.
  const findPod = (uid: string) => caches.pods.byIndex(BY_UID, uid)[0];
  const readViewToken = createViewTokens(kube, clock);
  const podStats = createPodStats(clock, readViewToken);
  const edited = new Map<string, number>();

  const refresh = (key: string): void => {
    // From a part of its objects, a stream that is not known yet would seem not to be sent.
    if (!namespaces.isFilled(splitKey(key)[0])) return;
    const destination = caches.destinations.get(...splitKey(key));
    const target =
      destination &&
      buildTarget(destination, {
        streams: caches.streams.byIndex(BY_RECEIVER, key),
        findPod,
        findOutputs: podStats.find,
        readViewToken,
        editedMs: edited.get(key),
      });
    const known = observers.get(key);
    if (target === known || (target && known && isSameTarget(target, known))) return;
    observers.set(key, target);
  };
  const refreshReceivers = (stream: LoopStream | undefined): void => {
    for (const name of stream ? listReceivers(stream.spec) : []) refresh(joinKey(stream?.metadata.namespace, name));
  };
  /** The pods that publish to a destination that is looked at. */
  const listPublishers = (): Publisher[] => {
    const streams = new Set(observers.list().flatMap(({ key }) => caches.streams.byIndex(BY_RECEIVER, key)));
    return [...streams].flatMap((stream) => {
      const publisher = findPublisher(stream, findPod);
      return publisher ? [{ ...publisher, stream }] : [];
    });
  };

  const watchChanges = (): void => {
    const replay = { replay: true };
    caches.destinations.onChange((key, current, previous) => {
      if (!current) edited.delete(key);
      else if (previous && previous.metadata.generation !== current.metadata.generation)
        edited.set(key, clock.now().getTime());
      writer.noteSpec(key, current, previous);
      refresh(key);
      queue.add(key);
    }, replay);
    caches.streams.onChange((_key, current, previous) => {
      podStats.hurry(current?.status?.podUID ?? '');
      for (const stream of [previous, current]) refreshReceivers(stream);
    }, replay);
    caches.pods.onChange((_key, current, previous) => {
      const { namespace = '', labels } = (current ?? previous)?.metadata ?? {};
      const name = labels?.[STREAM_LABEL];
      if (name !== undefined) refreshReceivers(caches.streams.get(namespace, name));
    });
    namespaces.onFilled((filled) => {
      for (const { metadata } of caches.destinations.list())
        if (metadata.namespace === filled) refresh(joinKey(filled, metadata.name));
    });
  };

  for (const reflector of Object.values(caches)) reflector.start(signal);
  await Promise.all(Object.values(caches).map((reflector) => reflector.synced));
  synced = true;

  leadership.begin(() => {
    watchChanges();
    queue.resume();
    const following = podStats.follow({
      signal,
      list: listPublishers,
      onChange: refreshReceivers,
      ...(statsEveryMs !== undefined && { everyMs: statsEveryMs }),
    });
    lifecycle.defer('questions to pods', () => following);
    log.info({ watched: config.watched }, 'this process leads and looks at what viewers see');
  });
  log.info({ watched: config.watched, opsPort }, 'the role platform is ready');
  return { opsPort };
}
