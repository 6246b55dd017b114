/** Exposes the numbers of the chain scanners to Prometheus, by network; no address and no transaction is a label. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';

export const SETTLED = ['credited', 'reversed', 'ignored'] as const;
export type Settled = (typeof SETTLED)[number];

export type ScanMetrics = ReturnType<typeof scanMetrics>;

/** The lag of a scan grows by itself while its node does not answer. */
export function scanMetrics(registry: Registry, clock: Clock = systemClock) {
  const level = new Map<string, number>();
  const labels = { labelNames: ['network'], registers: [registry] };
  const blocks = new Gauge({
    name: 'crypto_scan_lag_blocks',
    help: 'Blocks of a network that were not scanned for deposits yet, as of the last response of its node.',
    ...labels,
  });
  new Gauge({
    name: 'crypto_scan_lag_seconds',
    help: 'Time since this process had scanned all blocks of a network for deposits.',
    ...labels,
    collect() {
      for (const [network, since] of level) this.set({ network }, (clock.monotonicMs() - since) / 1000);
    },
  });
  const failures = new Counter({
    name: 'crypto_scan_failures_total',
    help: 'Scans of a network that failed because of its node or the database.',
    ...labels,
  });
  const left = new Counter({
    name: 'crypto_blocks_left_total',
    help: 'Scanned blocks that a reorganization has removed from the chain of a network.',
    ...labels,
  });
  const payments = new Counter({
    name: 'crypto_payments_total',
    help: 'Payments to deposits, by outcome: credited, reversed after a reorganization, or ignored once their rate was known.',
    labelNames: ['network', 'result'],
    registers: [registry],
  });
  return {
    begin(network: string): void {
      failures.inc({ network }, 0);
      left.inc({ network }, 0);
      for (const result of SETTLED) payments.inc({ network, result }, 0);
      level.set(network, clock.monotonicMs());
    },
    /** `behind`: blocks; the scan has come as far as it could. */
    scanned(network: string, behind: number, blocksLeft: number): void {
      blocks.set({ network }, Math.max(0, behind));
      if (behind <= 0) level.set(network, clock.monotonicMs());
      left.inc({ network }, blocksLeft);
    },
    failed: (network: string): void => failures.inc({ network }),
    settled: (network: string, result: Settled): void => payments.inc({ network, result }),
  };
}
