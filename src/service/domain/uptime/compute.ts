/** Computes the uptime of a stream from its changes. Pure: no I/O, no clock. */
import { formatCsv, quoteCsv } from '../../../core/lib/csv.ts';
import type { Cause } from '../streams/cause.ts';
import type { AirChange, AirState, ViewerState } from './changes.ts';
import type { StreamOutage, StreamUptime, UptimeSource } from './record.ts';

/** A time in one state. `unknown`: changes were lost, or nobody could tell what viewers see. */
export interface AirPeriod {
  state: AirState | 'unknown';
  startedAt: Date;
  /** Null for the state of now. */
  endedAt: Date | null;
  /** Length within the range. */
  ms: number;
  cause: Cause | null;
}

export interface TimeRange {
  from: Date;
  to: Date;
}

export interface PeriodOptions {
  /** `ingest`: on air is what a destination takes. `viewers`: on air is what viewers see of that. */
  by?: UptimeSource;
  /** Earlier changes in the range were left out. */
  isCut?: boolean;
}

export function listPeriods(
  changes: readonly AirChange[],
  range: TimeRange,
  { by = 'ingest', isCut = false }: PeriodOptions = {},
): AirPeriod[] {
  const known = orderChanges(readStates(changes, by));
  const periods: Omit<AirPeriod, 'ms'>[] = [];
  const [first] = known;
  if (isCut && first) periods.push({ state: 'unknown', startedAt: range.from, endedAt: first.at, cause: null });
  for (const [i, { at, state, cause }] of known.entries()) {
    const last = periods.at(-1);
    const endedAt = known[i + 1]?.at ?? null;
    if (last?.state !== state) periods.push({ state, startedAt: at, endedAt, cause });
    // The transition that tells of the outage knows more of its cause than the one that tells of the interruption.
    else Object.assign(last, { endedAt, cause: cause?.code ? cause : (last.cause ?? cause) });
  }
  return periods.map((period) => ({ ...period, ms: measure(period, range) })).filter(({ ms }) => ms > 0);
}

const sum = (periods: readonly AirPeriod[], state: AirPeriod['state']): number =>
  periods.reduce((total, period) => total + (period.state === state ? period.ms : 0), 0);

/** Periods by what viewers see, where that was known at a time of the range; else by what destinations take. */
export function choosePeriods(
  changes: readonly AirChange[],
  range: TimeRange,
  isCut: boolean,
  asked?: UptimeSource,
): { by: UptimeSource; periods: AirPeriod[] } {
  const list = (by: UptimeSource) => ({ by, periods: listPeriods(changes, range, { by, isCut }) });
  if (asked !== undefined) return list(asked);
  const [viewers, ingest] = [list('viewers'), list('ingest')];
  const isKnown = sum(viewers.periods, 'onAir') > 0 || sum(viewers.periods, 'offAir') > sum(ingest.periods, 'offAir');
  return isKnown ? viewers : ingest;
}

type StateChange = Pick<AirChange, 'number' | 'at' | 'cause'> & Pick<AirPeriod, 'state'>;

/** A state, and its cause. */
interface Reading<State> {
  state: State;
  cause: Cause | null;
}
const UNKNOWN: Reading<'unknown'> = { state: 'unknown', cause: null };

/** The changes in the order of their numbers, each once, with the state from then on: nothing is known from a change that is missing. */
function readStates(changes: readonly AirChange[], by: UptimeSource): StateChange[] {
  const ordered = [...new Map(changes.map((change) => [change.number, change])).values()].sort(
    (a, b) => a.number - b.number,
  );
  const isLost = (i: number) => (ordered[i + 1]?.number ?? 0) > (ordered[i]?.number ?? 0) + 1;
  let ingest: Reading<AirPeriod['state']> | undefined;
  let viewers: Reading<ViewerState> = UNKNOWN;
  return ordered.flatMap((change, i): StateChange[] => {
    const { number, at, cause } = change;
    const isFirst = i === 0 && number > 1;
    if (isLost(i)) [ingest, viewers] = [UNKNOWN, UNKNOWN];
    else {
      if (change.state !== 'unchanged') ingest = { state: change.state, cause };
      else if (isFirst || (i > 0 && isLost(i - 1))) ingest = UNKNOWN;
      if (change.viewers) viewers = { state: change.viewers, cause };
    }
    const seen = by === 'viewers' && ingest?.state === 'onAir' ? viewers : ingest;
    return seen ? [{ number, at, ...seen }] : [];
  });
}

/** No change is after the one that follows it: an outage may be over before it was told. */
function orderChanges(changes: readonly StateChange[]): StateChange[] {
  let earliestMs = Number.POSITIVE_INFINITY;
  return changes
    .toReversed()
    .map((change) => {
      earliestMs = Math.min(earliestMs, change.at.getTime());
      return { ...change, at: new Date(earliestMs) };
    })
    .reverse();
}

const measure = ({ startedAt, endedAt }: Pick<AirPeriod, 'startedAt' | 'endedAt'>, { from, to }: TimeRange): number =>
  Math.max(
    0,
    Math.min(endedAt?.getTime() ?? Number.POSITIVE_INFINITY, to.getTime()) -
      Math.max(startedAt.getTime(), from.getTime()),
  );

export type Uptime = Omit<StreamUptime, 'badgeUrl'>;

/** All outages of the range, newest first. */
export function computeUptime(
  periods: readonly AirPeriod[],
  { from, to }: TimeRange,
  by: UptimeSource = 'ingest',
): Uptime {
  const [onAirMs, offAirMs] = [sum(periods, 'onAir'), sum(periods, 'offAir')];
  const wantedMs = onAirMs + offAirMs;
  const outages = periods.filter(({ state }) => state === 'offAir').map(showOutage);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    by,
    wantedSeconds: wantedMs / 1000,
    onAirSeconds: onAirMs / 1000,
    offAirSeconds: offAirMs / 1000,
    unknownSeconds: sum(periods, 'unknown') / 1000,
    // Rounded up, an outage of a second would not be seen in a month.
    uptimePercent: wantedMs === 0 ? null : Math.floor((onAirMs * 100_000) / wantedMs) / 1000,
    outageCount: outages.length,
    outages: outages.reverse(),
  };
}

const showOutage = ({ startedAt, endedAt, ms, cause }: AirPeriod): StreamOutage => ({
  startedAt: startedAt.toISOString(),
  endedAt: endedAt?.toISOString() ?? null,
  seconds: ms / 1000,
  code: cause?.code ?? null,
  message: cause?.message ?? null,
  fix: cause?.fix ?? null,
});

const STATE_NAMES: Record<AirPeriod['state'], string> = {
  onAir: 'on_air',
  offAir: 'off_air',
  unknown: 'unknown',
  unwanted: '',
};
const HEADER = ['state', 'startedAt', 'endedAt', 'seconds', 'code', 'message'];

/** RFC 4180: a line for each time on air, off air or unknown, oldest first, so that the seconds of each state add up to those of JSON. */
export function uptimeCsv(periods: readonly AirPeriod[]): string {
  const rows = periods
    .filter(({ state }) => state !== 'unwanted')
    .map(({ state, startedAt, endedAt, ms, cause }) => [
      STATE_NAMES[state],
      startedAt.toISOString(),
      endedAt?.toISOString() ?? '',
      ms / 1000,
      cause?.code ?? '',
      cause?.message ? quoteCsv(cause.message) : '',
    ]);
  return formatCsv(HEADER, rows);
}
