/**
 * The role `billing`: what is done about money without anybody asking, wired here and taken down again in reverse. Several of
 * it may run; each job is done by one of them at a time.
 */
import type { AddressInfo } from 'node:net';
import { type Job, startJobs } from '../billing/jobs.ts';
import type { BillingConfig } from '../config.ts';
import { createLeases } from '../db/leases.ts';
import { createDb, createPool } from '../db/pool.ts';
import { createHealth } from '../http/health.ts';
import { startOps } from '../http/ops.ts';
import { createKube } from '../kube/client.ts';
import { createReflector } from '../kube/reflector.ts';
import { LOOPSTREAMS } from '../kube/resources.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../log.ts';
import { createBillingMetrics } from './metrics.ts';

/** Who waits for a write that Kubernetes does not answer tries it again in the next run. */
const KUBERNETES_TIMEOUT_MS = 10_000;

export interface RunningBilling {
  /** Of /healthz, /readyz and /metrics, for those who asked for any free port. */
  opsUrl: string;
  /** Resolves when the streams have been read and the jobs have begun. */
  ready: Promise<void>;
}

/** Listens at once; the jobs begin when Kubernetes has been read. */
export async function runBilling(config: BillingConfig, lifecycle: Lifecycle, log: Logger): Promise<RunningBilling> {
  const metrics = createBillingMetrics();
  const { kubeconfig, namespace } = config;
  const kube = createKube({ kubeconfig, timeoutMs: KUBERNETES_TIMEOUT_MS, onRequest: metrics.onRequest });
  lifecycle.defer('kubernetes', () => kube.close());
  const pool = createPool(config.databaseUrl, { searchPath: 'loopstream' });
  const db = createDb(pool);
  lifecycle.defer('database', () => db.destroy());
  metrics.showPools({ loopstream: pool });

  const streams = createReflector(kube, LOOPSTREAMS, { namespace, log });
  metrics.showReflectors({ streams });
  streams.start(lifecycle.signal);

  let isSynced = false;
  const health = createHealth({ kube, db, isSynced: () => isSynced });
  const unready = async () => {
    if (lifecycle.signal.aborted) return 'stopping';
    if (!isSynced) return 'Kubernetes has not been read yet';
    return (await health()).database === 'ok' ? undefined : 'the database does not answer';
  };
  const read = async () => ({ type: metrics.registry.contentType, text: await metrics.registry.metrics() });
  const ops = await startOps({ host: config.opsHost, port: config.opsPort, unready, metrics: read });
  lifecycle.defer('ops', () => {
    ops.close();
    ops.closeAllConnections();
  });

  // One line for each job.
  const jobs: Job[] = [];
  const ready = streams.synced.then(() => {
    isSynced = true;
    startJobs(jobs, { leases: createLeases(db), metrics: metrics.jobs, log }, lifecycle);
    log.info({ namespace, jobs: jobs.map(({ name }) => name) }, 'billing has begun');
  });
  // Stopping before that is no error.
  ready.catch(() => undefined);
  const { port } = ops.address() as AddressInfo;
  log.info({ opsPort: port }, 'billing listens');
  return { opsUrl: `http://${config.opsHost}:${port}`, ready };
}
