/** Alerts about what is counted and charged. Pure: no I/O, no clock. */
import type { Alert, Group } from './alert.ts';

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

export const BILLING_ALERTS: Group[] = [{ name: 'loopstream-billing', alerts: counting }];
