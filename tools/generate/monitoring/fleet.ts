/** Declares the dashboard of all streams. Pure: no I/O, no clock. */
import { type Dashboard, graph, number, RANGE, RATE } from './panel.ts';

const IN = 'namespace=~"$namespace"';
const each = (metric: string, more = ''): string =>
  `max by (namespace, loopstream${more === '' ? '' : ', phase'}) (${metric}{${IN}${more}})`;
const phaseCount = (phases: string): string =>
  `count(${each('loopstream_status_phase', `,phase=~"${phases}"`)}) or vector(0)`;

export const FLEET: Dashboard = {
  uid: 'loopstream-fleet',
  title: 'loopstream: fleet',
  description: 'All streams: those on air, those that should be, and the sent bitrate.',
  variables: [{ name: 'namespace', query: 'label_values(loopstream_info, namespace)', multi: true }],
  rows: [
    {
      title: 'Now',
      panels: [
        number('On air', 'Streams with a destination that accepts media.', phaseCount('live')),
        number(
          'Off air, wanted',
          'Streams that are starting, reconnecting or failed. Normal: 0, except for moments.',
          phaseCount('starting|reconnecting|failed'),
          { bad: 1 },
        ),
        number('Waiting', 'Started streams without media, a destination or a valid schedule.', phaseCount('waiting')),
        number(
          'Degraded',
          'Streams on air with a problem.',
          `count(max by (namespace, loopstream) (loopstream_status_condition{${IN},condition="Degraded",status="true"})) or vector(0)`,
          { bad: 1 },
        ),
        number(
          'Not seen by viewers',
          'Streams that a destination accepts, and that its viewers do not see.',
          `count(max by (namespace, loopstream) (loopstream_status_condition{${IN},condition="OnAirForViewers",status="false"})) or vector(0)`,
          { bad: 1 },
        ),
        number(
          'Destinations down',
          'Destinations that accept no media, of streams whose pod runs.',
          `count(min by (namespace, loopstream, destination) (loopstream_streamer_destination_connected{${IN}}) == 0) or vector(0)`,
          { bad: 1 },
        ),
        number(
          'Going out',
          'Bits a second to all destinations.',
          `sum(rate(loopstream_streamer_destination_sent_bytes_total{${IN}}${RATE})) * 8`,
          { unit: 'bps' },
        ),
      ],
    },
    {
      title: 'Streams',
      panels: [
        graph(
          'Streams by phase',
          'A lasting share of starting or reconnecting is a problem.',
          'short',
          [[`count by (phase) (${each('loopstream_status_phase', ',phase=~".+"')})`, '{{phase}}']],
          { stacked: true, width: 12 },
        ),
        graph(
          'Going out by namespace',
          'Bits a second.',
          'bps',
          [
            [
              `sum by (namespace) (rate(loopstream_streamer_destination_sent_bytes_total{${IN}}${RATE})) * 8`,
              '{{namespace}}',
            ],
          ],
          { stacked: true, width: 12 },
        ),
        graph(
          'Connections that failed, by reason',
          'Of all destinations. Many with one reason point to a platform, or to the egress of the cluster.',
          'ops',
          [[`sum by (code) (rate(loopstream_streamer_destination_failures_total{${IN}}${RATE}))`, '{{code}}']],
        ),
        graph('Viewers', 'Of each destination whose platform tells how many watch.', 'short', [
          [`max by (namespace, destination) (loopstream_destination_viewers{${IN}})`, '{{namespace}}/{{destination}}'],
        ]),
        graph('Age of the last look at what viewers see', 'The oldest ten. Normal: less than some minutes.', 's', [
          [
            `topk(10, time() - max by (namespace, destination) (loopstream_destination_platform_checked_at{${IN}}))`,
            '{{namespace}}/{{destination}}',
          ],
        ]),
        graph(
          'Time in a phase (95 of 100)',
          'Duration of completed phases. `starting` is the time to go on air.',
          's',
          [
            [
              `histogram_quantile(0.95, sum by (le, phase) (increase(loopstream_phase_duration_seconds_bucket{phase=~"starting|reconnecting|stopping"}${RANGE})))`,
              '{{phase}}',
            ],
          ],
        ),
        graph(
          'Lateness of scheduled starts (99 of 100)',
          'Until the pod exists, over the shown time. Normal: below 1 s.',
          's',
          [
            [
              `histogram_quantile(0.99, sum by (le) (increase(loopstream_schedule_lateness_seconds_bucket${RANGE})))`,
              'late',
            ],
          ],
        ),
        graph(
          'Largest steps between pictures',
          'The ten largest of the last hour. A frame at 30 a second lasts 0.033 s.',
          's',
          [
            [
              `topk(10, max by (namespace, loopstream) (loopstream_streamer_largest_step_seconds{${IN},track="video",window="hour"}))`,
              '{{namespace}}/{{loopstream}}',
            ],
          ],
        ),
        {
          title: 'Not on air',
          about: 'Each stream that is not live, and its phase.',
          kind: 'table',
          width: 12,
          queries: [{ expr: `${each('loopstream_status_phase', ',phase!="live"')} == 1` }],
        },
        {
          title: 'Conditions with problems',
          about: 'Degraded streams, and failed readiness conditions of others.',
          kind: 'table',
          width: 12,
          queries: [
            {
              expr: `max by (namespace, loopstream, condition, status) (loopstream_status_condition{${IN},condition!~"Degraded|Progressing|Live",status="false"} or loopstream_status_condition{${IN},condition="Degraded",status="true"}) == 1`,
            },
          ],
        },
      ],
    },
    {
      title: 'Media',
      panels: [
        graph(
          'Uploads',
          'By state. An upload that is importing for hours has a slow source.',
          'short',
          [[`sum by (state) (max by (namespace, state) (loopstream_uploads{${IN}}))`, '{{state}}']],
          { stacked: true },
        ),
        graph(
          'Renditions',
          'By state.',
          'short',
          [[`sum by (state) (max by (namespace, state) (loopstream_renditions{${IN}}))`, '{{state}}']],
          { stacked: true },
        ),
        graph(
          'Media that could not be prepared',
          'By reason, over the time shown. The operators of the service must solve storage_full, prepare_timeout and prepare_failed.',
          'short',
          [[`sum by (task, code) (increase(loopstream_upload_failures_total${RANGE}))`, '{{task}}: {{code}}']],
        ),
        graph('Storage', 'Streams whose storage responds, and those whose storage does not.', 'short', [
          [`count(loopstream_streamer_storage_available{${IN}} == 1) or vector(0)`, 'answers'],
          [`count(loopstream_streamer_storage_available{${IN}} == 0) or vector(0)`, 'does not'],
        ]),
        graph(
          'Read from the storage',
          'Bytes a second, by all streams. A playlist that fits into the caches is read once.',
          'Bps',
          [[`sum(rate(loopstream_streamer_storage_read_bytes_total{${IN}}${RATE}))`, 'all streams']],
        ),
        graph('Media ahead of its time', 'Minimum and median. Near 0, pods lack CPU time or media.', 's', [
          [`min(loopstream_streamer_lead_seconds{${IN}})`, 'least'],
          [`quantile(0.5, loopstream_streamer_lead_seconds{${IN}})`, 'median'],
        ]),
      ],
    },
  ],
};
