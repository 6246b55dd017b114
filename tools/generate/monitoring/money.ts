/** Declares the dashboard of money: usage, metering and charges. Pure: no I/O, no clock. */
import { type Dashboard, graph, number, quantile, RANGE, RATE } from './panel.ts';

const JOB = 'job=~"$job"';
const select = (metric: string, more = ''): string => `${metric}{${JOB}${more}}`;

export const MONEY: Dashboard = {
  uid: 'loopstream-money',
  title: 'loopstream: money',
  description: 'Usage of streams, its charges, and the lag of the meter.',
  variables: [{ name: 'job', query: 'label_values(billing_uncounted_seconds, job)', multi: true }],
  rows: [
    {
      title: 'Usage',
      panels: [
        number(
          'Charged',
          'Credits in the shown time.',
          `sum(increase(${select('billing_charged_credits_total')}${RANGE}))`,
        ),
        number(
          'Written off',
          'Credits for usage after the balance was used up. Normal: little.',
          `sum(increase(${select('billing_written_off_credits_total')}${RANGE}))`,
        ),
        number('Counted', 'Time on air.', `sum(increase(${select('billing_counted_seconds_total')}${RANGE}))`, {
          unit: 's',
        }),
        number(
          'Not counted yet',
          'Time on air that streams reported and that is not counted. Normal: nearly 0.',
          `max(${select('billing_uncounted_seconds')})`,
          {
            unit: 's',
            bad: 86_400,
          },
        ),
        number(
          'Meter’s lag',
          'Time since the last count. Normal: below 20 s.',
          `time() - max(${select('billing_job_last_success_timestamp_seconds', ',task="meter"')})`,
          { unit: 's', bad: 900 },
        ),
        graph('Revenue', 'Credits an hour. An open session is charged once an hour.', 'short', [
          [`sum(rate(${select('billing_charged_credits_total')}${RATE})) * 3600`, 'charged'],
          [`sum(rate(${select('billing_written_off_credits_total')}${RATE})) * 3600`, 'written off'],
        ]),
        graph('Time on air that is not counted yet', 'Rises while the meter is down.', 's', [
          [`max(${select('billing_uncounted_seconds')})`, 'seconds'],
        ]),
      ],
    },
    {
      title: 'Crypto deposits',
      panels: [
        graph('Blocks not read yet', 'As of the last response of the node. Normal: 0 or 1.', 'short', [
          [`min by (network) (${select('crypto_scan_lag_blocks')})`, '{{network}}'],
        ]),
        graph('Since all blocks were read', 'Rises while a node is down. Normal: below a minute.', 's', [
          [`min by (network) (${select('crypto_scan_lag_seconds')})`, '{{network}}'],
        ]),
        graph('Payments', 'An hour, by outcome.', 'short', [
          [
            `sum by (network, result) (rate(${select('crypto_payments_total')}${RATE})) * 3600`,
            '{{network}}: {{result}}',
          ],
        ]),
        graph('Runs that failed, and blocks that left the chain', 'An hour.', 'short', [
          [`sum by (network) (rate(${select('crypto_scan_failures_total')}${RATE})) * 3600`, '{{network}}: failed'],
          [`sum by (network) (rate(${select('crypto_blocks_left_total')}${RATE})) * 3600`, '{{network}}: blocks left'],
        ]),
      ],
    },
    {
      title: 'Cards',
      panels: [
        graph('Events of the payment provider', 'An hour. Normal: none failed or forged.', 'short', [
          [`sum by (outcome) (rate(stripe_webhook_events_total${RATE})) * 3600`, '{{outcome}}'],
        ]),
      ],
    },
    {
      title: 'Jobs',
      panels: [
        graph('Since the last success of a job', 'Normal: its own interval.', 's', [
          [`time() - max by (task) (${select('billing_job_last_success_timestamp_seconds')} > 0)`, '{{task}}'],
        ]),
        graph('Runs that failed', 'A second.', 'ops', [
          [`sum by (task) (rate(${select('billing_job_failures_total')}${RATE}))`, '{{task}}'],
        ]),
        graph('Time of a run (99 of 100)', 'By job.', 's', [
          [quantile(0.99, ', task', select('billing_job_duration_seconds_bucket')), '{{task}}'],
        ]),
      ],
    },
  ],
};
