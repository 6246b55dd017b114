/** Lists series that fire the alerts about money, and similar series that do not; see alerts.ts. */
import type { AlertCase } from './alerts.ts';

const lastSuccess = (task: string, instance = 'a') =>
  `billing_job_last_success_timestamp_seconds{task="${task}",job="billing",instance="${instance}"}`;
const jobFailures = 'billing_job_failures_total{task="top-ups",job="billing",instance="a"}';

const scanLag = (instance: string) =>
  `crypto_scan_lag_seconds{network="ethereum",job="billing",instance="${instance}"}`;
const settled = (result: string) =>
  `crypto_payments_total{network="ethereum",result="${result}",job="billing",instance="a"}`;
const webhooks = (outcome: string) => `stripe_webhook_events_total{outcome="${outcome}",job="api",instance="a"}`;

export const BILLING_CASES: Record<string, AlertCase[]> = {
  LoopStreamMeterLate: [
    { series: { [lastSuccess('meter')]: '0x40' }, at: '30m', fires: { task: 'meter' } },
    // One process has stopped, and the other one still works.
    { series: { [lastSuccess('credit')]: '0x40', [lastSuccess('credit', 'b')]: '0+60x40' }, at: '30m' },
    { series: { [lastSuccess('monthly-invoices')]: '0x40' }, at: '30m' },
  ],
  LoopStreamBillingFails: [
    { series: { [jobFailures]: '0+1x60' }, at: '50m', fires: { task: 'top-ups' } },
    { series: { [jobFailures]: '0 1 2 3 3x60' }, at: '50m' },
  ],
  LoopStreamUncounted: [
    { series: { 'billing_uncounted_seconds{job="billing",instance="a"}': '90000x60' }, at: '40m', fires: {} },
    { series: { 'billing_uncounted_seconds{job="billing",instance="a"}': '80000x60' }, at: '40m' },
  ],
  LoopStreamDepositsLate: [
    { series: { [scanLag('a')]: '0+60x60' }, at: '50m', fires: { network: 'ethereum' } },
    // One process has stopped reading, and the other one still reads.
    { series: { [scanLag('a')]: '0+60x60', [scanLag('b')]: '5x60' }, at: '50m' },
  ],
  LoopStreamDepositsReversed: [
    { series: { [settled('reversed')]: '0 0 0 1 1x20' }, at: '10m', fires: { network: 'ethereum' } },
    { series: { [settled('credited')]: '0 0 0 1 1x20', [settled('reversed')]: '0x20' }, at: '10m' },
  ],
  LoopStreamWebhooksFailing: [
    {
      series: { [webhooks('failed')]: '0+1x40', [webhooks('settled')]: '0+5x40' },
      at: '40m',
      fires: { outcome: 'failed' },
    },
    {
      series: { [webhooks('forged')]: '0+2x40', [webhooks('settled')]: '0x40' },
      at: '40m',
      fires: { outcome: 'forged' },
    },
    { series: { [webhooks('failed')]: '0 0 3x40', [webhooks('ignored')]: '0+9x40' }, at: '40m' },
  ],
};
