/** Exposes the numbers of the role `billing` to Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import {
  ACCOUNT_NAMESPACE_WATCHED,
  eventMetrics,
  namespaceMetrics,
  reflectorMetrics,
  requestMetrics,
} from '../../../core/kube/metrics.ts';
import type { OnRequest } from '../../../core/kube/transport.ts';
import { poolMetrics } from '../../db/metrics.ts';
import { type ScanMetrics, scanMetrics } from '../crypto/metrics.ts';
import { type JobMetrics, jobMetrics } from '../ledger/jobs.ts';
import type { CountedSum } from './meter.ts';

export interface BillingMetrics {
  registry: Registry;
  /** For `createKube`. */
  onRequest: OnRequest;
  /** For `createEventRecorder`. */
  onEventDrop: ReturnType<typeof eventMetrics>;
  showReflectors: ReturnType<typeof reflectorMetrics>;
  showNamespaces: ReturnType<typeof namespaceMetrics>;
  showPools(pools: Parameters<typeof poolMetrics>[1]): void;
  jobs: JobMetrics;
  scans: ScanMetrics;
  /** Records the sum of one transaction. */
  counted(what: CountedSum): void;
  /** From now on it is shown how much there is that is not counted yet. */
  showMeter(uncountedSeconds: () => number): void;
}

export function createBillingMetrics(): BillingMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let uncounted: (() => number) | undefined;
  new Gauge({
    name: 'billing_uncounted_seconds',
    help: 'Time on air that streams reported and that is not counted or charged yet.',
    registers: [registry],
    collect() {
      this.set(uncounted?.() ?? 0);
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  const seconds = counter('billing_counted_seconds_total', 'Time on air that was counted.');
  const charged = counter('billing_charged_credits_total', 'Credits charged for time on air.');
  const writtenOff = counter(
    'billing_written_off_credits_total',
    'Credits for time on air that were written off, because the balance was used up.',
  );
  return {
    counted(what) {
      seconds.inc(what.seconds);
      charged.inc(Number(what.charged));
      writtenOff.inc(Number(what.writtenOff));
    },
    registry,
    onRequest: requestMetrics(registry),
    onEventDrop: eventMetrics(registry),
    showReflectors: reflectorMetrics(registry),
    showNamespaces: namespaceMetrics(registry, ACCOUNT_NAMESPACE_WATCHED),
    showPools: (pools) => poolMetrics(registry, pools),
    jobs: jobMetrics(registry),
    scans: scanMetrics(registry),
    showMeter: (seconds) => {
      uncounted = seconds;
    },
  };
}
