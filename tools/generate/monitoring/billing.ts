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
      'The job fails, or no process of billing runs. No second is lost: streams keep what is not counted. But credit that is used up stops nobody, and a deleted stream waits.',
    viewers: `${NOTHING} Streams stay on air that nobody pays for; a new one, or one that was topped up, does not start.`,
    looks: [
      [BILLING_PODS, 'no pods, or pods that restart or are not ready'],
      [BILLING_LOG, '`a job of billing failed`, and its error'],
      ['max by (task) (increase(billing_job_failures_total[15m]))  # in Prometheus', 'which jobs fail'],
    ],
    mends: [
      'PostgreSQL or the API server of Kubernetes does not answer: what is missing is counted by itself when they are back.',
      'An upgrade that has not migrated: `loopstream migrate` has to run first; the chart’s Job does it.',
      'Rights that are missing: grant what `manifests/rbac.yaml` lists for loopstream-billing.',
    ],
  },
  {
    name: 'LoopStreamBillingFails',
    expr: 'sum by (task) (increase(billing_job_failures_total[30m])) > 10',
    for: '15m',
    severity: 'warning',
    summary: 'A job of billing fails again and again.',
    description: 'The job {{ $labels.task }} of billing has failed more than ten times in half an hour.',
    means: 'What the job is for is late: what is paid is credited later, or an invoice is. Nothing is done twice.',
    viewers: NOTHING,
    looks: [
      [BILLING_LOG, '`a job of billing failed`, the job and its error'],
      [BILLING_PODS, 'pods that restart or are not ready'],
    ],
    mends: [
      'A service outside does not answer, such as the payment provider or the node of a chain: wait, or tell it another one.',
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
    means: 'The meter does not keep up, or cannot count some of the streams. What they use is charged when it can.',
    viewers: NOTHING,
    looks: [
      [BILLING_LOG, 'errors of the job `meter`'],
      ['max(rate(billing_counted_seconds_total[5m]))  # in Prometheus', 'whether anything is counted at all'],
    ],
    mends: ['See LoopStreamMeterLate. Where it counts and does not keep up, look for what slows PostgreSQL.'],
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
      'The node does not answer, is of another chain, lacks blocks, or has more of them than are read in time. Nothing that is paid is lost: it is credited when its blocks are read, at the rate of its quote if it came in time.',
    viewers: `${NOTHING} Who has paid waits for the credit.`,
    looks: [
      [
        BILLING_LOG,
        '`a job of billing failed` for `deposits-…`: the error says which question the node did not answer',
      ],
      ['max by (network) (crypto_scan_lag_blocks)  # in Prometheus', 'whether it falls: then it catches up by itself'],
      [
        'sum by (network) (increase(crypto_blocks_left_total[1h]))  # in Prometheus',
        'whether the chain is reorganised',
      ],
    ],
    mends: [
      'Name another node in LOOPSTREAM_CRYPTO_NETWORKS: it is held to the blocks that were read from the first one.',
      '“nothing in common with what was read”: the node is of another chain, or starts anew; do not go on with it.',
    ],
  },
  {
    name: 'LoopStreamDepositsReversed',
    expr: 'sum by (network) (increase(crypto_payments_total{result="reversed"}[1h])) > 0',
    severity: 'warning',
    summary: 'A deposit on {{ $labels.network }} was credited and has left the chain.',
    description: 'A reorganisation went deeper than the confirmations that {{ $labels.network }} is set to.',
    means:
      'What was credited was taken back, as far as it was still there; the rest was written off. Either the chain is in trouble or somebody has spent the same coins twice.',
    viewers: 'The account may have no credit left, and its streams stop.',
    looks: [
      [
        `psql "$DATABASE_URL" -c "select * from loopstream.crypto_payments where state = 'reversed'"`,
        'whose, and how much',
      ],
      ['sum by (network) (increase(crypto_blocks_left_total[1d]))  # in Prometheus', 'how deep it went'],
    ],
    mends: [
      'Raise `confirmations` of the network above the depth that was seen.',
      'Where one account has done it more than once, suspend it.',
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
      'failed: the provider or PostgreSQL does not answer. forged: the signing secret is another one, a proxy changes bodies, or somebody else sends them. No payment is lost: the job `card-top-ups` asks for what did not come.',
    viewers: `${NOTHING} Who has paid waits a minute longer for the credit.`,
    looks: [
      [API_LOG, '`a request failed` for /v1/webhooks/stripe, and its error'],
      [
        'max by (task) (increase(billing_job_failures_total{task="card-top-ups"}[30m]))  # in Prometheus',
        'whether the job helps meanwhile',
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
