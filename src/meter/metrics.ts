/** Numbers of the role `billing` for Prometheus. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type JobMetrics, jobMetrics } from '../billing/jobs.ts';
import { type ScanMetrics, scanMetrics } from '../crypto/metrics.ts';
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
  scans: ScanMetrics;
  /** From now on it is shown how much there is that is not counted yet. */
  showMeter(uncountedSeconds: () => number): void;
}

export function createBillingMetrics(): BillingMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let uncounted: (() => number) | undefined;
  new Gauge({
    name: 'billing_uncounted_seconds',
    help: 'Time on air that streams tell of and that is not counted, and so not charged yet.',
    registers: [registry],
    collect() {
      this.set(uncounted?.() ?? 0);
    },
  });
  return {
    registry,
    onRequest: requestMetrics(registry),
    showReflectors: reflectorMetrics(registry),
    showPools: (pools) => poolMetrics(registry, pools),
    jobs: jobMetrics(registry),
    scans: scanMetrics(registry),
    showMeter: (seconds) => {
      uncounted = seconds;
    },
  };
}
