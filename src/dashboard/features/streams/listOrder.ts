/** Orders the streams of a list, and counts them. Pure: no I/O, no clock. */
import type { StreamQuery } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { formatCount } from '../../lib/format.ts';
import { isRunning, PHASE_LOOKS } from './phase.ts';

/** The query of a list. */
export type StreamListFilter = Pick<StreamQuery, 'status' | 'q' | 'sort'>;

/** Orders of the list by their names in the address, with their words. */
export const SORTS = {
  onAir: 'On air first',
  name: 'Name, A to Z',
  '-name': 'Name, Z to A',
  state: 'State',
  uptime: 'Longest on air',
  '-createdAt': 'Newest',
  createdAt: 'Oldest',
} as const;
export type StreamSort = keyof typeof SORTS;
export const STANDARD_SORT: StreamSort = 'onAir';

/** The order to ask the server for. It has none by state or time on air: streams on air come first there. */
export const toServerOrder = (sort: StreamSort): NonNullable<StreamQuery['sort']> =>
  sort === 'state' || sort === 'uptime' ? 'onAir' : sort;

/** `Channel 2` comes before `Channel 10`. */
const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
type Comparison = (a: Stream, b: Stream) => number;
const byName: Comparison = (a, b) => names.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);
const byTime: Comparison = (a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1);

const STATES = ['live', 'reconnecting', 'starting', 'stopping', 'failed', 'waiting', ...Object.keys(PHASE_LOOKS)];
const byRank =
  (rank: (stream: Stream) => number): Comparison =>
  (a, b) =>
    rank(a) - rank(b) || byName(a, b);
/** Off air comes last. */
const airTime = ({ liveSince, status }: Stream): number =>
  liveSince && isRunning(status) ? Date.parse(liveSince) : Number.MAX_SAFE_INTEGER;

const COMPARISONS: Record<StreamSort, Comparison> = {
  onAir: byRank(({ status }) => (isRunning(status) ? 0 : 1)),
  name: byName,
  '-name': (a, b) => byName(b, a),
  state: byRank(({ status }) => STATES.indexOf(status)),
  uptime: byRank(airTime),
  '-createdAt': (a, b) => byTime(b, a),
  createdAt: byTime,
};

export const sortStreams = (streams: readonly Stream[], sort: StreamSort): readonly Stream[] =>
  streams.toSorted(COMPARISONS[sort]);

interface Counted {
  streams: readonly Stream[];
  /** The server has more. */
  hasMore: boolean;
  /** They are those that a search or a state has found. */
  isFiltered: boolean;
}

/** `301 streams, 1 on air`; `12 found, 1 on air`; `The first 1,000 streams, 3 on air`. */
export function formatListCount({ streams, hasMore, isFiltered }: Counted): string {
  const count = formatCount(streams.length);
  const noun = streams.length === 1 ? 'stream' : 'streams';
  const all = hasMore ? `The first ${count} ${isFiltered ? 'found' : noun}` : `${count} ${isFiltered ? 'found' : noun}`;
  return `${all}, ${formatCount(streams.filter(({ status }) => isRunning(status)).length)} on air`;
}
