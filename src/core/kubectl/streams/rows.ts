/** Builds the table of `kubectl loop status`. Pure: no I/O, no clock. */
import { type Condition, findCondition } from '../../resources/common/conditions.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Phase } from '../../resources/stream/spec.ts';
import { ON_AIR_FOR_VIEWERS } from '../../resources/stream/viewers.ts';
import { formatAge } from '../shell/age.ts';
import type { Style } from '../shell/output.ts';
import type { Column } from '../shell/table.ts';
import { explain, listProblems, type StreamProblem } from './problems.ts';

/** The state of one stream, as `-o json` prints it. */
export interface StreamState {
  namespace: string;
  name: string;
  displayName: string | null;
  /** Null while the operator has not seen it. */
  phase: Phase | null;
  ready: boolean;
  /** RFC 3339. */
  since: string | null;
  why: string;
  problems: StreamProblem[];
  destinations: string[];
  /** The destinations as people name them. */
  destinationNames: string;
  /** Whether viewers see it; null while no destination says where they watch, or it is not on air. */
  onAirForViewers: Condition['status'] | null;
  restarts: number;
  quality: string;
  framerate: number;
  plays: string[];
  pod: string | null;
}

export function describeState(stream: LoopStream): StreamState {
  const { metadata, spec, status } = stream;
  const { why, since } = explain(stream);
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    displayName: spec.displayName ?? null,
    phase: status?.phase ?? null,
    ready: status?.canStart ?? false,
    since: since ?? null,
    why,
    problems: listProblems(stream),
    destinations: listReceivers(spec),
    destinationNames: status?.destinationSummary ?? listReceivers(spec).join(','),
    onAirForViewers: findCondition(status?.conditions, ON_AIR_FOR_VIEWERS)?.status ?? null,
    restarts: status?.restarts ?? 0,
    quality: spec.quality,
    framerate: spec.framerate,
    plays: spec.uploadName === undefined ? (spec.playlistNames ?? []) : [spec.uploadName],
    pod: status?.podName ?? null,
  };
}

const VIEWERS: Record<Condition['status'], string> = { True: 'see it', False: 'do not see it', Unknown: 'unknown' };

const STYLES: Partial<Record<Phase, Style>> = {
  live: 'green',
  failed: 'red',
  waiting: 'yellow',
  starting: 'yellow',
  reconnecting: 'yellow',
};

interface TableOptions {
  allNamespaces: boolean;
  titled: boolean;
  /** A stream is watched where its viewers are. */
  watched: boolean;
  wide: boolean;
  now: () => Date;
  paint: (style: Style, text: string) => string;
}

export function buildColumns({
  allNamespaces,
  titled,
  watched,
  wide,
  now,
  paint,
}: TableOptions): Column<StreamState>[] {
  const namespace: Column<StreamState> = { name: 'NAMESPACE', read: (row) => row.namespace };
  const title: Column<StreamState> = { name: 'TITLE', read: ({ displayName }) => displayName ?? '', least: 20 };
  const viewers: Column<StreamState> = {
    name: 'VIEWERS',
    read: ({ onAirForViewers }) => (onAirForViewers === null ? '' : VIEWERS[onAirForViewers]),
    paint: (cell, { onAirForViewers }) => (onAirForViewers === 'False' ? paint('red', cell) : cell),
  };
  const more: Column<StreamState>[] = [
    { name: 'PROFILE', read: ({ quality, framerate }) => `${quality}${framerate}` },
    { name: 'PLAYS', read: ({ plays }) => plays.join(',') },
    { name: 'POD', read: ({ pod }) => pod ?? '' },
  ];
  return [
    ...(allNamespaces ? [namespace] : []),
    { name: 'NAME', read: ({ name }) => name },
    ...(titled ? [title] : []),
    {
      name: 'STATE',
      read: ({ phase }) => phase ?? 'unknown',
      paint: (cell, { phase }) => {
        const style = phase ? STYLES[phase] : 'yellow';
        return style ? paint(style, cell) : cell;
      },
    },
    { name: 'SINCE', read: ({ since }) => formatAge(since ?? undefined, now()) },
    { name: 'DESTINATION', read: ({ destinationNames }) => destinationNames, least: 12 },
    ...(watched ? [viewers] : []),
    { name: 'RESTARTS', read: ({ restarts }) => String(restarts) },
    ...(wide ? more : []),
    { name: 'WHY', read: ({ why }) => why, least: 24 },
  ];
}

/** States of streams that nobody wants on air now. */
const RESTING: readonly Phase[] = ['idle', 'stopped', 'ended'];

export const isResting = ({ phase }: Pick<StreamState, 'phase'>): boolean => phase !== null && RESTING.includes(phase);

/** `298 idle, 2 stopped; --all lists them`, of streams that rest; undefined for none. */
export function countResting(rows: readonly Pick<StreamState, 'phase'>[]): string | undefined {
  const counts = RESTING.flatMap((phase) => {
    const count = rows.filter((row) => row.phase === phase).length;
    return count > 0 ? [`${count} ${phase}`] : [];
  });
  return counts.length > 0 ? `${counts.join(', ')}; --all lists them` : undefined;
}
