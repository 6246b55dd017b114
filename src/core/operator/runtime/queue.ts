/** Creates the work queue of a controller. */

import type { WorkqueueMetrics } from '../../kube/metrics.ts';
import { createQueue, type WorkQueue } from '../../kube/queue.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { Reconcile } from './controller.ts';

export interface QueueTools {
  workers: number;
  metrics: { queues: WorkqueueMetrics; observe(controller: string, reconcile: Reconcile): Reconcile };
  lifecycle: Lifecycle;
  log: Logger;
}

/**
 * The queue is paused at first. From caches that are not filled yet a pod that is not known would seem to be missing, and while
 * another operator leads this one decides nothing.
 */
export function createControllerQueue(name: string, reconcile: Reconcile, deps: QueueTools): WorkQueue {
  const { workers, metrics, lifecycle, log } = deps;
  const queue = createQueue({
    workers,
    process: metrics.observe(name, reconcile),
    log: log.child({ controller: name }),
    paused: true,
    observer: metrics.queues.observer(name),
  });
  metrics.queues.watch(name, queue, workers);
  lifecycle.defer(`${name} queue`, () => queue.stop());
  return queue;
}
