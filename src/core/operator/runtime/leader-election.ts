/** Elects the process of a role that acts, and ends the process when it leads no more. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createKube } from '../../kube/client.ts';
import { createElector, guardWrites } from '../../kube/lease.ts';
import type { OnRequest } from '../../kube/transport.ts';
import type { Kube } from '../../kube/types.ts';
import { sleep } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { OperatorConfig } from './settings.ts';

export const LEASE = 'loopstream-operator';
/** Exit status of a process that has lost its lease, so that a restart can be told from a crash. */
export const LOST_LEASE_STATUS = 3;
/** After the lease is lost, pending work ends within this time; writes end in that moment. */
const GOODBYE_MS = 2_000;
/** As long as a stopping operator waits for its last write. If it is still under way then, the lease is not handed back. */
const LAST_WRITE_MS = 5_000;

export interface Leadership {
  /** The way to Kubernetes, on which a process that does not lead can write nothing. */
  kube: Kube;
  /** Asks for the lease; calls `work` when this process leads, at once when there is no election. */
  begin(work: () => void): void;
}

/**
 * The metric is named as client-go names it. When the lease is lost the process ends, as client-go has it: to stop what
 * is under way in each corner and to begin again later would be a second way to stop and to start, and seldom tried.
 */
export function createLeadership(
  client: Kube,
  {
    leaderElection: times,
    leaseNamespace: namespace,
    kubeconfig,
  }: Pick<OperatorConfig, 'leaderElection' | 'leaseNamespace' | 'kubeconfig'>,
  deps: {
    /** Name of the Lease. */
    lease?: string;
    lifecycle: Lifecycle;
    log: Logger;
    metrics: {
      onRequest: OnRequest;
      showLeading(lease: string, namespace: string, isLeading: () => boolean): void;
    };
    exit: (status: number) => void;
  },
): Leadership {
  const { lease = LEASE, lifecycle, log, exit } = deps;
  const { onRequest, showLeading } = deps.metrics;
  let isLeading = () => times === undefined;
  showLeading(lease, namespace, () => isLeading());
  if (!times) return { kube: client, begin: (work) => work() };

  // A renewal must not stand in line behind the work.
  const own = createKube({ kubeconfig, onRequest, role: 'operator' });
  lifecycle.defer('kubernetes client of the lease', () => own.close());
  const identity = `${hostname()}_${randomUUID()}`;
  const elector = createElector(own, { namespace, name: lease, identity, times, log });
  isLeading = elector.isLeading;
  const { kube, settled } = guardWrites(client, isLeading);
  // Released after the queues, which were registered later: what is under way ends while the lease is still renewed.
  lifecycle.defer('lease', async () => {
    const quiet = settled().then(() => true);
    const late = sleep(LAST_WRITE_MS).then(() => false);
    await elector.release({ keep: !(await Promise.race([quiet, late])) });
  });
  void elector.lost.then(async (reason) => {
    if (lifecycle.signal.aborted) return;
    log.fatal({ lease: `${namespace}/${lease}`, identity, reason }, 'the lease is lost: this process exits');
    await Promise.race([lifecycle.stop('the lease is lost'), sleep(GOODBYE_MS)]);
    exit(LOST_LEASE_STATUS);
  });
  return {
    kube,
    begin(work) {
      if (lifecycle.signal.aborted) return;
      elector.start();
      void elector.acquired.then(() => {
        if (!lifecycle.signal.aborted) work();
      });
    },
  };
}
