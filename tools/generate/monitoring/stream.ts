/** Declares the dashboard of one stream. Pure: no I/O, no clock. */
import { type Dashboard, graph, number, RANGE, RATE } from './panel.ts';

const ONE = 'namespace="$namespace",loopstream="$loopstream"';
const one = (metric: string, more = ''): string => `loopstream_streamer_${metric}{${ONE}${more}}`;

export const STREAM: Dashboard = {
  uid: 'loopstream-stream',
  title: 'loopstream: one stream',
  description: 'Destinations, media and health of one stream.',
  variables: [
    { name: 'namespace', query: 'label_values(loopstream_info, namespace)' },
    { name: 'loopstream', query: 'label_values(loopstream_info{namespace="$namespace"}, loopstream)' },
  ],
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Phase',
          named: true,
          about: 'Phase in the status of the stream.',
          kind: 'stat',
          queries: [{ expr: `max by (phase) (loopstream_status_phase{${ONE}})`, legend: '{{phase}}' }],
        },
        {
          title: 'Seen by viewers',
          named: true,
          about: 'Whether viewers see it, where a destination says where they watch.',
          kind: 'stat',
          queries: [
            {
              expr: `max by (status) (loopstream_status_condition{${ONE},condition="OnAirForViewers"})`,
              legend: '{{status}}',
            },
          ],
        },
        number('On air for', 'Since a destination first accepted media of this pod.', `max(${one('on_air_seconds')})`, {
          unit: 's',
        }),
        number(
          'Quality',
          'Requested quality and frame rate.',
          `max by (quality, framerate) (loopstream_info{${ONE}})`,
          {
            named: true,
            queries: [
              { expr: `max by (quality, framerate) (loopstream_info{${ONE}})`, legend: '{{quality}} at {{framerate}}' },
            ],
          },
        ),
        number('Restarts', 'Of the pod’s container.', `max(loopstream_status_restarts{${ONE}})`, { bad: 1 }),
        number('Rounds', 'Of the video list since it began.', `max(${one('loops')})`),
        number('Viewers of the preview', 'Viewers in the dashboard.', `max(${one('viewers')})`),
      ],
    },
    {
      title: 'Destinations',
      panels: [
        graph('Connected', '1 while the destination accepts media.', 'short', [
          [`max by (destination) (${one('destination_connected')})`, '{{destination}}'],
        ]),
        graph('Sent', 'Bits a second. Much less than for others: the connection to it is slow.', 'bps', [
          [`sum by (destination) (rate(${one('destination_sent_bytes_total')}${RATE})) * 8`, '{{destination}}'],
        ]),
        graph('Connections that failed, by reason', 'Over the time shown.', 'short', [
          [
            `sum by (destination, code) (increase(${one('destination_failures_total')}${RANGE}))`,
            '{{destination}}: {{code}}',
          ],
        ]),
        graph('Pictures left out for a slow destination', 'Groups of pictures a second.', 'ops', [
          [`sum by (destination) (rate(${one('destination_dropped_gops_total')}${RATE}))`, '{{destination}}'],
        ]),
      ],
    },
    {
      title: 'Picture and sound',
      panels: [
        graph('Frames', 'A second. The picture’s rate is that of the quality; sound has 47 at 48 kHz.', 'short', [
          [`sum(rate(${one('video_frames_total')}${RATE}))`, 'picture'],
          [`sum(rate(${one('audio_frames_total')}${RATE}))`, 'sound'],
          [`sum(rate(${one('silent_frames_total')}${RATE}))`, 'silence put in'],
        ]),
        graph('Largest steps', 'Of the last hour. A step longer than a frame is a visible jump.', 's', [
          [`max by (track) (${one('largest_step_seconds', ',window="hour"')})`, '{{track}}'],
        ]),
        graph('Sound minus picture', 'At the last seam. Viewers can notice 0.04 s or more.', 's', [
          [`max(${one('av_skew_seconds')})`, 'skew'],
        ]),
        graph('Media ahead of its time', 'Near 0, the pod lacks CPU time or media.', 's', [
          [`max(${one('lead_seconds')})`, 'lead'],
        ]),
        graph('Seams and resets', 'Over the shown time. A reset happens when the stream has fallen behind.', 'short', [
          [`sum(increase(${one('seams_total')}${RANGE}))`, 'seams'],
          [`sum(increase(${one('timeline_resets_total')}${RANGE}))`, 'resets'],
        ]),
        graph('Items that could not be played', 'At their last turn.', 'short', [
          [`max by (track) (${one('items_broken')})`, '{{track}}'],
        ]),
      ],
    },
    {
      title: 'Pod',
      panels: [
        graph('Memory', 'Resident, without ffmpeg.', 'bytes', [[`max(${one('resident_memory_bytes')})`, 'streamer']]),
        graph('Cache', 'Used and allowed disk. Empty if media is in a directory.', 'bytes', [
          [`max(${one('cache_bytes')})`, 'taken'],
          [`max(${one('cache_limit_bytes')})`, 'limit'],
        ]),
        graph('Reads of media', 'A second: from the cache, and those that waited for the storage.', 'ops', [
          [`sum(rate(${one('cache_hits_total')}${RATE}))`, 'cache'],
          [`sum(rate(${one('cache_misses_total')}${RATE}))`, 'storage'],
        ]),
        graph('Storage', 'Failed requests a second, by reason.', 'ops', [
          [`sum by (code) (rate(${one('storage_errors_total')}${RATE}))`, '{{code}}'],
        ]),
      ],
    },
  ],
};
