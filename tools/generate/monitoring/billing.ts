/** Declares alerts about metering and charging. Pure: no I/O, no clock. */
import { type Alert, API_LOG, BILLING_LOG, type Group } from './alert.ts';

const BILLING_PODS =
  'kubectl get pods -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=billing -o wide';
const NOTHING = 'Viewers notice nothing.';

const counting: Alert[] = [
  {
    name: 'LoopStreamMeterLate',
    expr: 'time() - max by (task) (billing_job_last_success_timestamp_seconds{task=~"meter|credit"}) > 900',
    for: '5m',
    severity: 'critical',
    summary: 'Usage has not been counted for 15 minutes.',
    description: 'The billing job {{ $labels.task }} has not succeeded in any process for 15 minutes.',
    means:
      'The job fails, or no process of billing runs. No second is lost: streams keep their uncounted time. But used-up credit stops no stream, and a deleted stream waits.',
    viewers: `${NOTHING} Streams stay on air without payment. A new one, or one with new credit, does not start.`,
    looks: [
      [BILLING_PODS, 'no pods, or pods that restart or are not ready'],
      [BILLING_LOG, '`a billing job failed`, and its error'],
      ['max by (task) (increase(billing_job_failures_total[15m]))  # in Prometheus', 'which jobs fail'],
    ],
    mends: [
      'PostgreSQL or the Kubernetes API server does not respond: the missing time is counted automatically when they are back.',
      'An upgrade did not migrate the database: run `loopstream migrate`, as the Job of the chart does.',
      'Missing rights: grant those that `manifests/rbac.yaml` lists for loopstream-billing.',
    ],
  },
  {
    name: 'LoopStreamBillingFails',
    expr: 'sum by (task) (increase(billing_job_failures_total[30m])) > 10',
    for: '15m',
    severity: 'warning',
    summary: 'A billing job fails repeatedly.',
    description: 'The billing job {{ $labels.task }} has failed more than ten times in 30 minutes.',
    means: 'The work of the job is late: payments are credited late, or invoices appear late. No work is done twice.',
    viewers: NOTHING,
    looks: [
      [BILLING_LOG, '`a billing job failed`, the job and its error'],
      [BILLING_PODS, 'pods that restart or are not ready'],
    ],
    mends: [
      'An external service does not respond, such as the payment provider or the node of a chain: wait, or configure another one.',
      'PostgreSQL does not respond: see LoopStreamDatabaseBusy.',
    ],
  },
  {
    name: 'LoopStreamUncounted',
    expr: 'max(billing_uncounted_seconds) > 86400',
    for: '30m',
    severity: 'warning',
    summary: 'More than 24 hours on air are not counted.',
    description: 'Streams have reported more than 24 uncounted hours in total for 30 minutes.',
    means: 'The meter is too slow, or cannot count some streams. Their usage is charged later.',
    viewers: NOTHING,
    looks: [
      [BILLING_LOG, 'errors of the job `meter`'],
      ['max(rate(billing_counted_seconds_total[5m]))  # in Prometheus', 'whether the meter counts any time'],
    ],
    mends: ['See LoopStreamMeterLate. If the meter counts but is too slow, find the cause that slows PostgreSQL.'],
  },
];

const chains: Alert[] = [
  {
    name: 'LoopStreamDepositsLate',
    expr: 'min by (network) (crypto_scan_lag_seconds) > 1800',
    for: '10m',
    severity: 'warning',
    summary: 'The scan for crypto deposits on {{ $labels.network }} is 30 minutes behind.',
    description: 'No billing process has scanned all blocks of the node of {{ $labels.network }} for 30 minutes.',
    means:
      'The node does not respond, belongs to another chain, lacks blocks, or produces them faster than the scan. No payment is lost: it is credited after the scan, at the rate of its quote if it arrived in time.',
    viewers: `${NOTHING} Payments of customers are credited late.`,
    looks: [
      [
        BILLING_LOG,
        '`a billing job failed` for `deposits-…`: the error names the request without a response of the node',
      ],
      ['max by (network) (crypto_scan_lag_blocks)  # in Prometheus', 'the lag; if it falls, the scan catches up'],
      [
        'sum by (network) (increase(crypto_blocks_left_total[1h]))  # in Prometheus',
        'whether the chain is reorganized',
      ],
    ],
    mends: [
      'Set another node in LOOPSTREAM_CRYPTO_NETWORKS. The scan compares its blocks with those of the first node.',
      '“nothing in common with the blocks”: the node belongs to another chain, or was reset. Do not use it.',
    ],
  },
  {
    name: 'LoopStreamDepositsReversed',
    expr: 'sum by (network) (increase(crypto_payments_total{result="reversed"}[1h])) > 0',
    severity: 'warning',
    summary: 'The chain dropped a credited deposit on {{ $labels.network }}.',
    description: 'A reorganization was deeper than the configured confirmations of {{ $labels.network }}.',
    means:
      'The remaining credit was taken back, and the rest was written off. Either the chain is unstable, or the customer spent the same coins twice.',
    viewers: 'The account may have no credit left, and its streams stop.',
    looks: [
      [
        `psql "$DATABASE_URL" -c "select * from loopstream.crypto_payments where state = 'reversed'"`,
        'the payments and their amounts',
      ],
      ['sum by (network) (increase(crypto_blocks_left_total[1d]))  # in Prometheus', 'the depth of the reorganization'],
    ],
    mends: [
      'Raise `confirmations` of the network above this depth.',
      'If it happened to one account more than once, suspend the account.',
    ],
  },
];

const cards: Alert[] = [
  {
    name: 'LoopStreamWebhooksFailing',
    expr: 'sum by (outcome) (increase(stripe_webhook_events_total{outcome=~"failed|forged"}[30m])) > 10',
    for: '5m',
    severity: 'warning',
    summary: 'Events of the payment provider cannot be processed.',
    description: 'More than ten events of the payment provider were {{ $labels.outcome }} in 30 minutes.',
    means:
      'failed: the provider or PostgreSQL does not respond. forged: the signing secret differs, a proxy changes bodies, or another party sends the events. No payment is lost: the job `card-top-ups` fetches missing ones.',
    viewers: `${NOTHING} Payments of customers are credited a minute later.`,
    looks: [
      [API_LOG, '`a request failed` for /v1/webhooks/stripe, and its error'],
      [
        'max by (task) (increase(billing_job_failures_total{task="card-top-ups"}[30m]))  # in Prometheus',
        'failures of the job that fetches missing payments',
      ],
    ],
    mends: [
      'forged: set LOOPSTREAM_STRIPE_WEBHOOK_SECRET to the signing secret that the provider shows for this endpoint.',
      'failed: see LoopStreamBillingFails; the provider sends events again for days.',
    ],
  },
];

export const BILLING_ALERTS: Group[] = [
  { name: 'loopstream-billing', alerts: counting },
  { name: 'loopstream-crypto', alerts: chains },
  { name: 'loopstream-cards', alerts: cards },
];
