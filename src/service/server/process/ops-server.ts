/** Opens the cluster's port for liveness, readiness and metrics, and reads the health and version that the API reports. */

import { isKubeReady } from '../../../core/kube/client.ts';
import type { Kube } from '../../../core/kube/types.ts';
import { sleep } from '../../../core/lib/clock.ts';
import { readVersion } from '../../../core/lib/version.ts';
import { type Db, pingDb } from '../../db/pool.ts';
import { createHealth } from '../../lib/health.ts';
import { openOps } from '../../lib/ops.ts';
import type { ProcessContext } from './context.ts';

interface OpsServerDeps {
  kube: Kube;
  db: Db;
  isSynced: () => boolean;
}

export type OpsServer = Awaited<ReturnType<typeof openOpsServer>>;

export async function openOpsServer(context: ProcessContext, { kube, db, isSynced }: OpsServerDeps) {
  const { config, lifecycle, metrics } = context;
  const health = createHealth({
    kubernetes: async () => isSynced() && (await isKubeReady(kube)),
    database: () => pingDb(db),
  });
  const leaving = new AbortController();
  lifecycle.linger = async () => {
    leaving.abort();
    await sleep(config.shutdownDelayMs);
  };
  let listens = false;
  const unready = async () => {
    if (leaving.signal.aborted || lifecycle.signal.aborted) return 'stopping';
    if (!isSynced()) return 'the caches are not filled from Kubernetes yet';
    if (!listens) return 'the server does not listen yet';
    return (await health()).database === 'ok' ? undefined : 'the database does not respond';
  };
  // This port outlives the server, so that the cluster sees `stopping` while running requests finish.
  const { registry } = metrics;
  const ops = await openOps({ host: config.opsHost, port: config.opsPort, unready, registry }, lifecycle);
  return {
    health,
    version: await readVersion(),
    /** Aborts when the load balancer should send no more requests. */
    leaving: leaving.signal,
    ...ops,
    /** Marks the server as listening. */
    markListening: () => {
      listens = true;
    },
  };
}
