/**
 * Exposes the numbers for Prometheus, in base units. Values are read on collection, so they cost nothing in between.
 */
import { Counter, Gauge, Registry } from 'prom-client';
import type { StatsParts } from './stats.ts';

const PREFIX = 'loopstream_streamer_';

type Read = (parts: StatsParts) => Iterable<readonly [number, Record<string, string>?]>;

const one =
  (read: (parts: StatsParts) => number): Read =>
  (parts) => [[read(parts)]];

const skipped: Read = ({ video, audio }) => [
  ...Object.entries(video.skipped).map(([code, n]) => [n, { track: 'video', code }] as const),
  ...Object.entries(audio?.skipped ?? {}).map(([code, n]) => [n, { track: 'audio', code }] as const),
];
const reconnects: Read = ({ outputs }) =>
  outputs.flatMap((t) =>
    Object.entries(t.reconnectsByCode).map(([code, n]) => [n, { destination: t.name, code }] as const),
  );
const failures: Read = ({ outputs }) =>
  outputs.flatMap((t) =>
    Object.entries(t.failuresByCode).map(([code, n]) => [n, { destination: t.name, code }] as const),
  );
const byDestination =
  (read: (output: StatsParts['outputs'][number]) => number): Read =>
  ({ outputs }) =>
    outputs.map((t) => [read(t), { destination: t.name }] as const);

const seconds = (ms: number): number => ms / 1000;

const largestSteps: Read = ({ splice, broadcaster: { hour } }) => [
  [seconds(splice.maxVideoStepMs), { track: 'video', window: 'start' }],
  [seconds(hour.videoStepMs), { track: 'video', window: 'hour' }],
  [seconds(splice.maxAudioStepMs), { track: 'audio', window: 'start' }],
  [seconds(hour.audioStepMs), { track: 'audio', window: 'hour' }],
];
/** Reads nothing while media has no cache. */
const ofCache =
  (read: (cache: NonNullable<StatsParts['cache']>) => number): Read =>
  ({ cache }) =>
    cache ? [[read(cache)]] : [];

const COUNTERS: [name: string, help: string, labels: string[], read: Read][] = [
  ['video_frames_total', 'Video frames added to the timeline.', [], one((p) => p.splice.videoFrames)],
  ['audio_frames_total', 'AAC frames added to the timeline.', [], one((p) => p.splice.audioFrames)],
  [
    'silent_frames_total',
    'AAC frames of silence added where audio was missing.',
    [],
    one((p) => p.splice.silentFrames),
  ],
  ['media_bytes_total', 'FLV bytes produced, counted once for all destinations.', [], one((p) => p.broadcaster.bytes)],
  ['seams_total', 'Changes from one item to the next.', [], one((p) => p.splice.seams)],
  [
    'timeline_resets_total',
    'Resets of the timeline because it had fallen behind.',
    [],
    one((p) => p.broadcaster.rebased),
  ],
  ['items_skipped_total', 'Items that could not be played.', ['track', 'code'], skipped],
  [
    'preparation_behind_total',
    'Items that ended early because the rest of them was not prepared yet.',
    ['track'],
    ({ video, audio }) => [
      [video.preparationBehind.count, { track: 'video' }],
      [audio?.preparationBehind.count ?? 0, { track: 'audio' }],
    ],
  ],
  [
    'sound_faults_total',
    'Items that played with the sound of their file, because the sound made for the stream failed.',
    [],
    one((p) => p.video.soundFaults),
  ],
  ['cache_hits_total', 'Reads of media from the cache on disk.', [], ofCache((c) => c.hits)],
  ['cache_misses_total', 'Reads of media that had to wait for the storage.', [], ofCache((c) => c.misses)],
  ['cache_evictions_total', 'Pieces of media evicted from the cache.', [], ofCache((c) => c.evictions)],
  ['storage_read_bytes_total', 'Bytes of media read from the storage.', [], ofCache((c) => c.fetchedBytes)],
  ['storage_errors_total', 'Requests to the storage that failed.', ['code'], storageErrors],
  [
    'destination_sent_bytes_total',
    'Bytes that the destination accepted.',
    ['destination'],
    byDestination((t) => t.bytesSent),
  ],
  [
    'destination_dropped_gops_total',
    'GOPs dropped for a slow destination.',
    ['destination'],
    byDestination((t) => t.dropped),
  ],
  ['destination_reconnects_total', 'Connections that ended, by reason.', ['destination', 'code'], reconnects],
  [
    'destination_failures_total',
    'Connections that ended and attempts that failed, by reason.',
    ['destination', 'code'],
    failures,
  ],
];

/** Lists every code from the start, so that the first error shows as a rise. */
function storageErrors({ cache }: StatsParts) {
  if (!cache) return [];
  return (['unavailable', 'changed', 'full'] as const).map((code) => [cache.errors[code] ?? 0, { code }] as const);
}

const GAUGES: [name: string, help: string, labels: string[], read: Read][] = [
  ['on_air_seconds', 'Seconds since a destination first accepted media.', [], one(onAirSeconds)],
  [
    'destination_connected',
    '1 while the destination accepts media.',
    ['destination'],
    byDestination((t) => Number(t.connected)),
  ],
  ['loops', 'Loops of the video list since the on-air epoch.', [], one((p) => p.video.loopCount)],
  [
    'largest_step_seconds',
    'Largest step between two timestamps, since start and in the last hour.',
    ['track', 'window'],
    largestSteps,
  ],
  [
    'av_skew_seconds',
    'Audio time minus video time at the last seam, in seconds.',
    [],
    one((p) => seconds(p.splice.avSkewMs)),
  ],
  [
    'items_broken',
    'Items that could not be played at their last turn.',
    ['track'],
    ({ video, audio }) => [
      [video.broken.length, { track: 'video' }],
      [audio?.broken.length ?? 0, { track: 'audio' }],
    ],
  ],
  ['viewers', 'Open previews.', [], one((p) => p.broadcaster.viewers)],
  ['lead_seconds', 'Media sent ahead of real time, in seconds.', [], one((p) => seconds(p.broadcaster.leadMs))],
  ['cache_bytes', 'Disk space that the cache uses.', [], ofCache((c) => c.bytes)],
  ['cache_limit_bytes', 'Disk space that the cache may use.', [], ofCache((c) => c.maxBytes)],
  ['cache_writable', '0 while the disk of the cache cannot be written.', [], ofCache((c) => Number(c.writable))],
  [
    'storage_available',
    '1 while the storage responds, 0 after a failed request.',
    [],
    ofCache((c) => Number(c.failure === undefined)),
  ],
  ['playable', '1 while an item can be played.', [], one((p) => Number(p.video.playable))],
  ['program_version', 'Version of the program on air.', [], one((p) => p.programVersion)],
  [
    'resident_memory_bytes',
    'Resident memory of this process, without ffmpeg.',
    [],
    one(() => process.memoryUsage.rss()),
  ],
];

function onAirSeconds({ startedAt, now }: StatsParts): number {
  return startedAt ? Math.max(0, seconds(now.getTime() - startedAt.getTime())) : 0;
}

/** All metrics, for the documentation. */
export const METRICS = [
  ...COUNTERS.map((metric) => ({ type: 'counter', metric })),
  ...GAUGES.map((metric) => ({ type: 'gauge', metric })),
].map(({ type, metric: [name, help, labels] }) => ({ name: PREFIX + name, type, help, labels }));

/**
 * Builds a registry whose metrics call `read` on each collection. A metric without a value is removed: prom-client
 * resets an unlabelled one to 0, which would claim that an unused storage does not answer.
 */
export function streamerMetrics(read: () => StatsParts): Registry {
  const registry = new Registry();
  for (const [name, help, labelNames, values] of COUNTERS) {
    new Counter({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        if (labelNames.length === 0) this.remove();
        for (const [value, labels] of values(read())) this.inc(labels ?? {}, value);
      },
    });
  }
  for (const [name, help, labelNames, values] of GAUGES) {
    new Gauge({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        if (labelNames.length === 0) this.remove();
        for (const [value, labels] of values(read())) this.set(labels ?? {}, value);
      },
    });
  }
  return registry;
}
