/**
 * Computes when a schedule is on air, by the rules of the operator. Load it when it is needed first: it brings the parser of cron
 * expressions. Pure: no I/O, no clock.
 */
import { findRecurrenceProblem, listNextWindows, startAfter } from '../../../core/resources/stream/recurrence.ts';
import { computeScheduleState } from '../../../core/resources/stream/schedule.ts';
import type { Recurrence, Schedule } from '../../../core/resources/stream/spec.ts';
import { formatClock, formatTime } from '../../lib/format.ts';
import { findOffsetMs } from '../../lib/timeZones.ts';

const WINDOWS_SHOWN = 3;

/** A time on air; its ends are RFC 3339. */
export interface ShownWindow {
  startAt: string | null;
  endAt: string | null;
  isOpen: boolean;
}

export interface ShownSchedule {
  /** The window that is open, and the next three. */
  windows: ShownWindow[];
  /** Sentences about times that may surprise. */
  notes: string[];
}

export function computeWindows(schedule: Schedule, now: Date): ShownSchedule {
  const { recurrence } = schedule;
  const problem = recurrence && findRecurrenceProblem(recurrence, now);
  // The server may know a zone that this browser does not.
  if (problem?.field === 'timeZone')
    return { windows: [], notes: [`This browser does not know the zone ${recurrence?.timeZone}.`] };
  if (problem) return { windows: [], notes: [`“${recurrence?.cron}” ${problem.message}.`] };
  const open = findOpenWindow(schedule, now);
  const next = listNextWindows(schedule, now, WINDOWS_SHOWN).map(({ startAt, endAt }) => ({
    startAt: startAt.toISOString(),
    endAt: endAt?.toISOString() ?? null,
    isOpen: false,
  }));
  const windows = open ? [open, ...next] : next;
  const notes = [describeOverlap(windows), recurrence && describeSkippedStart(recurrence, now)];
  return { windows, notes: notes.filter((note) => note !== undefined) };
}

export function findOpenWindow({ onAirUntil: _, ...schedule }: Schedule, now: Date): ShownWindow | undefined {
  const state = computeScheduleState(schedule, now);
  if (state.kind !== 'on' || !(state.since || state.until)) return undefined;
  return {
    startAt: state.since?.toISOString() ?? null,
    endAt: state.until?.toISOString() ?? null,
    isOpen: true,
  };
}

function describeOverlap(windows: readonly ShownWindow[]): string | undefined {
  const overlaps = windows.some(({ endAt }, at) => {
    const next = windows[at + 1]?.startAt;
    return endAt !== null && next !== undefined && next !== null && Date.parse(next) <= Date.parse(endAt);
  });
  return overlaps ? 'These times follow each other without a gap: the stream stays on air.' : undefined;
}

const DAY_MS = 86_400_000;
/** No zone puts its clocks forward and back within a week. */
const STEP_MS = 7 * DAY_MS;
const MINUTE_MS = 60_000;

/** Lists the moments of the next year at which the clocks of a zone go forward. */
function listClockChanges(zone: string, now: Date): Date[] {
  const changes: Date[] = [];
  const offset = (ms: number) => findOffsetMs(zone, new Date(ms));
  const first = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS;
  for (let from = first; from < first + 366 * DAY_MS; from += STEP_MS) {
    let [before, after] = [from, from + STEP_MS];
    if (offset(after) <= offset(before)) continue;
    while (after - before > MINUTE_MS) {
      const middle = before + Math.floor((after - before) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offset(middle) > offset(before)) after = middle;
      else before = middle;
    }
    changes.push(new Date(after));
  }
  return changes;
}

/** Says what becomes of a start at an hour that the clocks of the zone skip; undefined where none is skipped within a year. */
function describeSkippedStart(recurrence: Recurrence, now: Date): string | undefined {
  const { cron, timeZone } = recurrence;
  const [, minute, hour] = /^\s*(\d{1,2})\s+(\d{1,2})\s/.exec(cron) ?? [];
  if (minute === undefined || hour === undefined) return undefined;
  const wanted = `1970-01-01T${hour.padStart(2, '0')}:${minute.padStart(2, '0')}:00Z`;
  const shown = formatClock(wanted, { timeZone: 'UTC' });
  const skipped = listClockChanges(timeZone, now).find((change) => {
    const start = startAfter(recurrence, new Date(change.getTime() - 1));
    return start?.getTime() === change.getTime() && formatClock(change.toISOString(), { timeZone }) !== shown;
  });
  if (!skipped) return undefined;
  const at = skipped.toISOString();
  const day = formatTime(at, { timeZone })?.split(',')[0];
  return `On ${day}, the clocks of ${timeZone} skip ${shown}: the stream goes on air at ${formatClock(at, { timeZone })}.`;
}
