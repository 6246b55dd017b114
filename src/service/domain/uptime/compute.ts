/** Computes the uptime of a stream from its changes. Pure: no I/O, no clock. */
import type { Cause } from '../streams/cause.ts';
import type { AirChange, AirState } from './changes.ts';
import type { StreamOutage, StreamUptime } from './record.ts';

/** A time in one state. `unknown`: changes were lost. */
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

/** `isCut`: earlier changes in the range were left out. */
export function listPeriods(changes: readonly AirChange[], range: TimeRange, isCut = false): AirPeriod[] {
  const ordered = orderChanges(changes);
  const periods: Omit<AirPeriod, 'ms'>[] = [];
  const [first] = ordered;
  if (isCut && first) periods.push({ state: 'unknown', startedAt: range.from, endedAt: first.at, cause: null });
  for (const [i, change] of ordered.entries()) {
    const next = ordered[i + 1];
    const isLost = next !== undefined && next.number > change.number + 1;
    const state = isLost ? 'unknown' : change.state;
    const cause = isLost ? null : change.cause;
    const last = periods.at(-1);
    const endedAt = next?.at ?? null;
    if (last?.state !== state) periods.push({ state, startedAt: change.at, endedAt, cause });
    // The transition that tells of the outage knows more of its cause than the one that tells of the interruption.
    else Object.assign(last, { endedAt, cause: cause?.code ? cause : (last.cause ?? cause) });
  }
  return periods.map((period) => ({ ...period, ms: measure(period, range) })).filter(({ ms }) => ms > 0);
}

/** In the order of their numbers, each once. Clocks of two operators may differ: no change is before the one that it follows. */
function orderChanges(changes: readonly AirChange[]): AirChange[] {
  const byNumber = new Map(changes.map((change) => [change.number, change]));
  let latestMs = Number.NEGATIVE_INFINITY;
  return [...byNumber.values()]
    .sort((a, b) => a.number - b.number)
    .map((change) => {
      latestMs = Math.max(latestMs, change.at.getTime());
      return { ...change, at: new Date(latestMs) };
    });
}

const measure = ({ startedAt, endedAt }: Pick<AirPeriod, 'startedAt' | 'endedAt'>, { from, to }: TimeRange): number =>
  Math.max(
    0,
    Math.min(endedAt?.getTime() ?? Number.POSITIVE_INFINITY, to.getTime()) -
      Math.max(startedAt.getTime(), from.getTime()),
  );

export type Uptime = Omit<StreamUptime, 'badgeUrl'>;

/** All outages of the range, newest first. */
export function computeUptime(periods: readonly AirPeriod[], { from, to }: TimeRange): Uptime {
  const sum = (state: AirPeriod['state']) =>
    periods.reduce((total, period) => total + (period.state === state ? period.ms : 0), 0);
  const [onAirMs, offAirMs] = [sum('onAir'), sum('offAir')];
  const wantedMs = onAirMs + offAirMs;
  const outages = periods.filter(({ state }) => state === 'offAir').map(showOutage);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    by: 'ingest',
    wantedSeconds: wantedMs / 1000,
    onAirSeconds: onAirMs / 1000,
    offAirSeconds: offAirMs / 1000,
    unknownSeconds: sum('unknown') / 1000,
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

/** A text that a spreadsheet would take for a formula gets an apostrophe. */
const quote = (text: string): string => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;

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
      cause?.message ? quote(cause.message) : '',
    ]);
  return [HEADER, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}
