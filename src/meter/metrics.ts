/** Numbers of the role `billing` for Prometheus. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { type JobMetrics, jobMetrics } from '../billing/jobs.ts';
import { poolMetrics } from '../db/metrics.ts';
import { reflectorMetrics, requestMetrics } from '../kube/metrics.ts';
import type { OnRequest } from '../kube/transport.ts';

export interface BillingMetrics {
  registry: Registry;
  /** For `createKube`. */
  onRequest: OnRequest;
  showReflectors: ReturnType<typeof reflectorMetrics>;
  showPools(pools: Parameters<typeof poolMetrics>[1]): void;
  jobs: JobMetrics;
}

export function createBillingMetrics(): BillingMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    onRequest: requestMetrics(registry),
    showReflectors: reflectorMetrics(registry),
    showPools: (pools) => poolMetrics(registry, pools),
    jobs: jobMetrics(registry),
  };
}
