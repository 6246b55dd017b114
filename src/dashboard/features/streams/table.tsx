/** Shows a long list of streams as a table, in parts. A part that is far from the screen is an empty place of the same height. */
import { IconAlertCircle, IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { memo, useEffect, useRef } from 'react';
import type { Stream } from '../../api/api.ts';
import { formatProfile, formatShortDay } from '../../lib/format.ts';
import { useAnnounceChange } from '../../ui/announce.tsx';
import { Name } from '../../ui/name.tsx';
import { Poster } from '../../ui/poster.tsx';
import { useNear } from '../../ui/useNear.ts';
import { PhaseMark } from './badge.tsx';
import { destinationLine } from './card.tsx';
import type { StreamSort } from './listOrder.ts';
import { restingLine } from './offAir.ts';
import { getStreamLook, isRunning, isUnseen } from './phase.ts';
import { useShownPhase } from './queries.ts';
import { type PowerCalls, RowActs } from './rowActs.tsx';
import classes from './table.module.css';
import { OnAirUntil, Uptime } from './uptime.tsx';

const PART = 25;
/** A screen of a desk. */
const NEAR_PX = 900;
const ROW_PX = 48;
/** The height of a whole part when one was last on screen. */
const guess = { height: PART * ROW_PX };

export interface TableActs extends PowerCalls {
  toggle: (id: string, withRange: boolean) => void;
}

interface RowProps {
  stream: Stream;
  /** From 1, over the whole list. */
  place: number;
  destination: string;
  isSelected: boolean;
  acts: TableActs;
}

/** On air, or soon, with no time on air yet. */
const SOON: Readonly<Record<string, string>> = { starting: 'Going on air…', reconnecting: 'Reconnecting…' };

/** Says how long it has been on air, or why it is not. */
function OnAirCell({ stream, phase }: { stream: Stream; phase: string }) {
  if (isRunning(phase) && stream.liveSince)
    return (
      <>
        <Uptime since={stream.liveSince} /> <OnAirUntil end={stream.nextEndAt} isShort />
      </>
    );
  const isBlocked = !stream.ready && ['idle', 'stopped', 'ended', 'scheduled'].includes(phase);
  return (
    <>
      {SOON[phase] ?? restingLine(stream, phase)}
      {isBlocked && <span className={classes.blocked}> · not ready</span>}
    </>
  );
}

const StreamRow = memo(function StreamRow({ stream, place, destination, isSelected, acts }: RowProps) {
  const phase = useShownPhase(stream);
  const { id, name, degraded, posterUrl } = stream;
  const { tone, word } = getStreamLook(stream, phase);
  useAnnounceChange(`${name}: ${word}`);
  return (
    <tr
      aria-rowindex={place + 1}
      data-selected={isSelected || undefined}
      data-tone={tone}
      data-testid="stream-row"
      data-stream-id={id}
    >
      <td className={classes.check}>
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onClick={({ shiftKey }) => acts.toggle(id, shiftKey)}
            // The click has the shift key; without this, React warns of a box that cannot be changed.
            onChange={() => undefined}
          />
        </label>
      </td>
      <th scope="row" className={classes.name}>
        <span>
          <Poster url={posterUrl} kind="VIDEO" size="small" />
          <Link to="/streams/$id" params={{ id }} title={name} preload={false}>
            <Name isCut>{name}</Name>
          </Link>
        </span>
      </th>
      <td className={classes.state}>
        <PhaseMark stream={stream} phase={phase} title={isUnseen(stream, phase) ? degraded?.message : undefined} />
        {degraded && !isUnseen(stream, phase) && (
          <span title={degraded.message} role="img" aria-label="Has a problem" className={classes.problem}>
            <IconAlertCircle size={17} aria-hidden />
          </span>
        )}
      </td>
      <td className={classes.air}>
        <OnAirCell stream={stream} phase={phase} />
      </td>
      <td className={classes.to} title={destination}>
        {destination}
      </td>
      <td className={classes.picture}>{formatProfile(stream.quality, stream.framerate)}</td>
      <td className={classes.created}>{formatShortDay(stream.createdAt)}</td>
      <td className={classes.acts}>
        <RowActs stream={stream} phase={phase} calls={acts} />
      </td>
    </tr>
  );
});

interface PartProps {
  streams: readonly Stream[];
  /** Streams before this part. */
  start: number;
  destinations: ReadonlyMap<string, string>;
  selected: ReadonlySet<string>;
  acts: TableActs;
}

/** A part is rendered again when one of its rows differs. */
const hasSameRows = (before: PartProps, now: PartProps): boolean =>
  before.destinations === now.destinations &&
  before.acts === now.acts &&
  before.start === now.start &&
  before.streams.length === now.streams.length &&
  before.streams.every((stream, i) => stream === now.streams[i]) &&
  (before.selected === now.selected || now.streams.every(({ id }) => before.selected.has(id) === now.selected.has(id)));

const Part = memo(function Part({ streams, start, destinations, selected, acts }: PartProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const height = useNear(body, { isFirst: start === 0, size: PART, guess, nearPx: NEAR_PX });
  return (
    <tbody ref={body}>
      {height === undefined ? (
        streams.map((stream, i) => (
          <StreamRow
            key={stream.id}
            stream={stream}
            place={start + i + 1}
            destination={destinationLine(stream, destinations)}
            isSelected={selected.has(stream.id)}
            acts={acts}
          />
        ))
      ) : (
        <tr aria-hidden className={classes.far} style={{ height }}>
          <td />
        </tr>
      )}
    </tbody>
  );
}, hasSameRows);

interface HeadProps {
  label: string;
  /** The orders of this column. A press takes the first one, and then the next. */
  sorts: readonly StreamSort[];
  sort: StreamSort;
  className: string | undefined;
  onSort: (sort: StreamSort) => void;
}

function SortHead({ label, sorts, sort, className, onSort }: HeadProps) {
  const at = sorts.indexOf(sort);
  const isReversed = sort.startsWith('-');
  const Arrow = isReversed ? IconArrowUp : IconArrowDown;
  return (
    <th scope="col" className={className} aria-sort={at < 0 ? 'none' : isReversed ? 'descending' : 'ascending'}>
      <button type="button" onClick={() => onSort(sorts[(at + 1) % sorts.length] as StreamSort)}>
        {label}
        {at >= 0 && <Arrow size={14} aria-hidden />}
      </button>
    </th>
  );
}

function SelectAll({ count, all, onToggle }: { count: number; all: number; onToggle: () => void }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = count > 0 && count < all;
  }, [count, all]);
  return (
    <label>
      <input
        ref={box}
        type="checkbox"
        aria-label={`Select all ${all} streams`}
        checked={all > 0 && count === all}
        onChange={onToggle}
      />
    </label>
  );
}

interface StreamTableProps extends Omit<PartProps, 'start'> {
  /** Ticked ones among the streams. */
  count: number;
  sort: StreamSort;
  onSort: (sort: StreamSort) => void;
  onToggleAll: () => void;
}

export const StreamTable = memo(function StreamTable(props: StreamTableProps) {
  const { streams, count, sort, onSort, onToggleAll, ...part } = props;
  const starts = Array.from({ length: Math.ceil(streams.length / PART) }, (_, i) => i * PART);
  const head = { sort, onSort };
  return (
    <table className={classes.table} aria-label="Streams" aria-rowcount={streams.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col" className={classes.check}>
            <SelectAll count={count} all={streams.length} onToggle={onToggleAll} />
          </th>
          <SortHead label="Name" sorts={['name', '-name']} className={classes.name} {...head} />
          <SortHead label="State" sorts={['onAir', 'state']} className={classes.state} {...head} />
          <SortHead label="On air" sorts={['uptime']} className={classes.air} {...head} />
          <th scope="col" className={classes.to}>
            To
          </th>
          <th scope="col" className={classes.picture}>
            Picture
          </th>
          <SortHead label="Created" sorts={['-createdAt', 'createdAt']} className={classes.created} {...head} />
          <th scope="col" className={classes.acts}>
            <span className={classes.unseen}>Actions</span>
          </th>
        </tr>
      </thead>
      {starts.map((start) => (
        <Part key={start} start={start} streams={streams.slice(start, start + PART)} {...part} />
      ))}
    </table>
  );
});
