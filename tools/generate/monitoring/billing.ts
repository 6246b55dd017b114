/** Declares alerts about metering and charging. Pure: no I/O, no clock. */
import { type Alert, API_LOG, type Group } from './alert.ts';

const BILLING_LOG =
  'kubectl logs -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=billing --tail=200 --prefix';
const BILLING_PODS =
  'kubectl get pods -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=billing -o wide';
const NOTHING = 'Viewers notice nothing.';

const counting: Alert[] = [
  {
    name: 'LoopStreamMeterLate',
    expr: 'time() - max by (task) (billing_job_last_success_timestamp_seconds{task=~"meter|credit"}) > 900',
    for: '5m',
    severity: 'critical',
    summary: 'What streams use has not been counted for a quarter of an hour.',
    description: 'The job {{ $labels.task }} of billing has not ended well for 15 minutes in any process.',
    means:
      'The job fails, or no process of billing runs. No second is lost: streams keep their uncounted time. But used-up credit stops no stream, and a deleted stream waits.',
    viewers: `${NOTHING} Streams stay on air without payment. A new one, or one with new credit, does not start.`,
    looks: [
      [BILLING_PODS, 'no pods, or pods that restart or are not ready'],
      [BILLING_LOG, '`a billing job failed`, and its error'],
      ['max by (task) (increase(billing_job_failures_total[15m]))  # in Prometheus', 'which jobs fail'],
    ],
    mends: [
      'PostgreSQL or the API server of Kubernetes does not answer: the missing time is counted automatically when they are back.',
      'An upgrade that has not migrated: `loopstream migrate` has to run first; the chart’s Job does it.',
      'Missing rights: grant those that `manifests/rbac.yaml` lists for loopstream-billing.',
    ],
  },
  {
    name: 'LoopStreamBillingFails',
    expr: 'sum by (task) (increase(billing_job_failures_total[30m])) > 10',
    for: '15m',
    severity: 'warning',
    summary: 'A job of billing fails again and again.',
    description: 'The job {{ $labels.task }} of billing has failed more than ten times in half an hour.',
    means: 'The work of the job is late: payments are credited late, or invoices appear late. Nothing is done twice.',
    viewers: NOTHING,
    looks: [
      [BILLING_LOG, '`a billing job failed`, the job and its error'],
      [BILLING_PODS, 'pods that restart or are not ready'],
    ],
    mends: [
      'An outside service does not answer, such as the payment provider or the node of a chain: wait, or configure another one.',
      'PostgreSQL does not answer: see LoopStreamDatabaseBusy.',
    ],
  },
  {
    name: 'LoopStreamUncounted',
    expr: 'max(billing_uncounted_seconds) > 86400',
    for: '30m',
    severity: 'warning',
    summary: 'A day of time on air has not been counted.',
    description: 'Streams tell of more than 24 hours together that have not been counted for half an hour.',
    means:
      'The meter does not keep up, or cannot count some of the streams. Their usage is charged as soon as it can be.',
    viewers: NOTHING,
    looks: [
      [BILLING_LOG, 'errors of the job `meter`'],
      ['max(rate(billing_counted_seconds_total[5m]))  # in Prometheus', 'whether anything is counted at all'],
    ],
    mends: ['See LoopStreamMeterLate. If the meter counts and does not keep up, find the cause that slows PostgreSQL.'],
  },
];

const chains: Alert[] = [
  {
    name: 'LoopStreamDepositsLate',
    expr: 'min by (network) (crypto_scan_lag_seconds) > 1800',
    for: '10m',
    severity: 'warning',
    summary: 'Crypto deposits on {{ $labels.network }} have not been looked for to the end for half an hour.',
    description: 'No process of billing has read all blocks that the node of {{ $labels.network }} has for 30 minutes.',
    means:
      'The node does not answer, is of another chain, lacks blocks, or has more of them than can be read in time. No payment is lost: it is credited when its blocks are read, at the rate of its quote if it came in time.',
    viewers: `${NOTHING} Customers wait for the credit of their payments.`,
    looks: [
      [
        BILLING_LOG,
        '`a billing job failed` for `deposits-…`: the error names the request without a response of the node',
      ],
      ['max by (network) (crypto_scan_lag_blocks)  # in Prometheus', 'the lag; if it falls, it catches up by itself'],
      [
        'sum by (network) (increase(crypto_blocks_left_total[1h]))  # in Prometheus',
        'whether the chain is reorganised',
      ],
    ],
    mends: [
      'Name another node in LOOPSTREAM_CRYPTO_NETWORKS: the blocks that were read from the first one are checked against it.',
      '“nothing in common with what was read”: the node is of another chain, or starts anew. Do not use it.',
    ],
  },
  {
    name: 'LoopStreamDepositsReversed',
    expr: 'sum by (network) (increase(crypto_payments_total{result="reversed"}[1h])) > 0',
    severity: 'warning',
    summary: 'A deposit on {{ $labels.network }} was credited and has left the chain.',
    description: 'A reorganisation went deeper than the confirmations that {{ $labels.network }} is set to.',
    means:
      'The credit was taken back, as far as it was still there, and the rest was written off. Either the chain is in trouble, or somebody has spent the same coins twice.',
    viewers: 'The account may have no credit left, and its streams stop.',
    looks: [
      [
        `psql "$DATABASE_URL" -c "select * from loopstream.crypto_payments where state = 'reversed'"`,
        'the payments and their amounts',
      ],
      ['sum by (network) (increase(crypto_blocks_left_total[1d]))  # in Prometheus', 'the depth of the reorganisation'],
    ],
    mends: [
      'Raise `confirmations` of the network above this depth.',
      'If one account has done it more than once, suspend it.',
    ],
  },
];

const cards: Alert[] = [
  {
    name: 'LoopStreamWebhooksFailing',
    expr: 'sum by (outcome) (increase(stripe_webhook_events_total{outcome=~"failed|forged"}[30m])) > 10',
    for: '5m',
    severity: 'warning',
    summary: 'Events of the payment provider are not taken.',
    description: 'More than ten of them are {{ $labels.outcome }} in half an hour.',
    means:
      'failed: the provider or PostgreSQL does not answer. forged: the signing secret is another one, a proxy changes bodies, or somebody else sends them. No payment is lost: the job `card-top-ups` fetches missing ones.',
    viewers: `${NOTHING} Customers wait a minute longer for the credit of their payments.`,
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
