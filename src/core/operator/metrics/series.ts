/**
 * Writes the metrics of each stream, as kube-state-metrics does of other objects: from the resource, when Prometheus asks. The lines of a stream are made once for each of its versions and kept, so that a scrape of ten thousand
 * streams is hardly more than joining text. Two things differ from kube-state-metrics, for each stream would otherwise
 * have some fifty series: of phases and of a condition's three values only the true one is written. No account, no
 * name that people gave. Pure: no I/O, no clock.
 */
import { findProblem } from '../../resources/stream/problem.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { isPlain, RENDITION_STATES, UPLOAD_STATES } from '../../resources/upload/spec.ts';

type Labels = Record<string, string>;
type Sample = readonly [labels: Labels, value: number];

interface Family {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  labels: string[];
}

interface StreamFamily extends Family {
  read: (stream: LoopStream) => Sample[];
}

const seconds = (time: string | undefined): Sample[] => {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? [] : [[{}, ms / 1000]];
};

const OF_STREAMS: StreamFamily[] = [
  {
    name: 'loopstream_info',
    type: 'gauge',
    help: 'Properties of a stream.',
    labels: ['quality', 'framerate', 'pod'],
    read: ({ spec, status }) => [
      [{ quality: spec.quality, framerate: String(spec.framerate), pod: status?.podName ?? '' }, 1],
    ],
  },
  {
    name: 'loopstream_created',
    type: 'gauge',
    help: 'Time at which a stream was created, in seconds since 1970.',
    labels: [],
    read: ({ metadata }) => seconds(metadata.creationTimestamp),
  },
  {
    name: 'loopstream_deletion_timestamp',
    type: 'gauge',
    help: 'Time at which the deletion of an existing stream was requested, in seconds since 1970.',
    labels: [],
    read: ({ metadata }) => seconds(metadata.deletionTimestamp),
  },
  {
    name: 'loopstream_spec_replicas',
    type: 'gauge',
    help: '1 if a stream should be on air (within its schedule), 0 if it is stopped.',
    labels: [],
    read: ({ spec }) => [[{}, spec.replicas]],
  },
  {
    name: 'loopstream_status_phase',
    type: 'gauge',
    help: '1 for the current phase of a stream.',
    labels: ['phase'],
    read: ({ status }) => (status?.phase === undefined ? [] : [[{ phase: status.phase }, 1]]),
  },
  {
    name: 'loopstream_status_condition',
    type: 'gauge',
    help: '1 for the current status (true, false, unknown) of a condition of a stream.',
    labels: ['condition', 'status'],
    read: ({ status }) =>
      (status?.conditions ?? []).map((one) => [{ condition: one.type, status: one.status.toLowerCase() }, 1] as const),
  },
  {
    name: 'loopstream_status_problem',
    type: 'gauge',
    help: 'While a stream should be on air and is not, or is on air with a problem: 1, with the cause.',
    labels: ['reason'],
    read: ({ status }) => {
      const problem = status && findProblem(status);
      return problem ? [[{ reason: problem.reason }, 1]] : [];
    },
  },
  {
    name: 'loopstream_status_live_since',
    type: 'gauge',
    help: 'Time since which a destination of a stream has been accepting media, in seconds since 1970. Absent off air.',
    labels: [],
    read: ({ status }) => seconds(status?.liveSince),
  },
  {
    name: 'loopstream_status_restarts',
    type: 'gauge',
    help: 'Restarts of the streamer container of a stream.',
    labels: [],
    read: ({ status }) => (status?.restarts === undefined ? [] : [[{}, status.restarts]]),
  },
];

const OF_UPLOADS: Family[] = [
  {
    name: 'loopstream_uploads',
    type: 'gauge',
    help: 'Uploads, by their state.',
    labels: ['namespace', 'state'],
  },
  {
    name: 'loopstream_renditions',
    type: 'gauge',
    help: 'Renditions of uploads, by their state, without sounds of their own, looks, cards and slates.',
    labels: ['namespace', 'state'],
  },
];

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
const line = (name: string, labels: Labels, value: number): string =>
  `${name}{${Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(',')}} ${value}\n`;
const head = ({ name, type, help }: Family): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

/** An object in a cache is replaced and never changed, so its lines are true as long as it is there. */
const cachedLines = new WeakMap<LoopStream, string[]>();

function buildLines(stream: LoopStream): string[] {
  const before = cachedLines.get(stream);
  if (before) return before;
  const { namespace = '', name: loopstream } = stream.metadata;
  const lines = OF_STREAMS.map(({ name, read }) =>
    read(stream)
      .map(([labels, value]) => line(name, { namespace, loopstream, ...labels }, value))
      .join(''),
  );
  cachedLines.set(stream, lines);
  return lines;
}

function buildCounts(uploads: readonly Upload[]): string {
  const counts = new Map<string, { uploads: Map<string, number>; renditions: Map<string, number> }>();
  const zero = (states: readonly string[]) => new Map(states.map((state) => [state, 0]));
  const raise = (map: Map<string, number>, state: string) => map.set(state, (map.get(state) ?? 0) + 1);
  for (const { metadata, status } of uploads) {
    const namespace = metadata.namespace ?? '';
    const found = counts.get(namespace) ?? { uploads: zero(UPLOAD_STATES), renditions: zero(RENDITION_STATES) };
    counts.set(namespace, found);
    raise(found.uploads, status?.phase ?? 'importing');
    for (const { profile, state } of status?.renditions ?? []) if (isPlain(profile)) raise(found.renditions, state);
  }
  return OF_UPLOADS.map((family, index) => {
    const lines = [...counts].flatMap(([namespace, found]) =>
      [...(index === 0 ? found.uploads : found.renditions)].map(([state, count]) =>
        line(family.name, { namespace, state }, count),
      ),
    );
    return head(family) + lines.join('');
  }).join('');
}

/** In Prometheus' text format (version 0.0.4), a piece for each metric, so that other work can come in between. */
export function* buildObjectSeries(streams: readonly LoopStream[], uploads: readonly Upload[]): Generator<string> {
  // The lines of all are made first: from here on a stream that changes or goes changes nothing.
  const lines = streams.map(buildLines);
  for (const [index, family] of OF_STREAMS.entries()) {
    yield head(family) + lines.map((line) => line[index]).join('');
  }
  yield buildCounts(uploads);
}

/** The metrics, for the documentation. */
export const OBJECT_METRICS: Family[] = [
  ...OF_STREAMS.map(({ read: _, labels, ...family }) => ({
    ...family,
    labels: ['namespace', 'loopstream', ...labels],
  })),
  ...OF_UPLOADS,
];
