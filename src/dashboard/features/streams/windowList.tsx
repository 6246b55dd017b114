/** Times on air, in the zone of their schedule and in the reader's own where their clocks differ. */
import { useDeferredValue } from 'react';
import { useNow } from '../../api/context.tsx';
import { formatClock, formatIn, formatTime } from '../../lib/format.ts';
import { findOffsetMs, findTimeZone, findZoneName, nameZoneOfToday } from '../../lib/timeZones.ts';
import forms from '../../ui/form.module.css';
import classes from './schedule.module.css';
import { type ScheduleValues, scheduleBody, scheduleMistakes, toSchedule } from './schedule.ts';
import { useWindows } from './useWindows.ts';
import type { ShownWindow } from './windows.ts';

/** The end of a window: its day is that of the start, if none is named. */
function formatEnd({ startAt, endAt }: ShownWindow, timeZone: string): string | undefined {
  if (endAt === null) return undefined;
  const [start, end] = [startAt && formatTime(startAt, { timeZone }), formatTime(endAt, { timeZone })];
  const isSameDay = start && end && start.split(',')[0] === end.split(',')[0];
  return isSameDay ? formatClock(endAt, { timeZone }) : end;
}

function formatWindow(window: ShownWindow, timeZone: string): string {
  const [start, end] = [formatTime(window.startAt, { timeZone }), formatEnd(window, timeZone)];
  return [start, end && `until ${end}`].filter(Boolean).join(' ');
}

function Window({ window, zone, now }: { window: ShownWindow; zone: string; now: Date }) {
  const { startAt, endAt, isOpen } = window;
  const [own, at] = [findTimeZone(), new Date(startAt ?? endAt ?? now)];
  const end = formatEnd(window, zone);
  const when = isOpen ? 'on air now' : formatIn(startAt, now);
  return (
    <li>
      {startAt && <time dateTime={startAt}>{formatTime(startAt, { timeZone: zone })}</time>}
      <span>{[when, end && `until ${end}`].filter(Boolean).join(', ')}</span>
      {findOffsetMs(own, at) !== findOffsetMs(zone, at) && <small>In your zone: {formatWindow(window, own)}</small>}
    </li>
  );
}

interface WindowListProps {
  label: string;
  windows: readonly ShownWindow[];
  /** The zone of the schedule. */
  timeZone: string;
  testId?: string;
}

export function WindowList({ label, windows, timeZone, testId }: WindowListProps) {
  const now = new Date(useNow(windows.length > 0));
  const own = findTimeZone();
  const zone = findZoneName(timeZone) ? timeZone : own;
  if (windows.length === 0) return null;
  const isOwn = findZoneName(zone) === findZoneName(own);
  return (
    <div>
      <ol className={classes.windows} aria-label={label} data-testid={testId}>
        {windows.map((window) => (
          <Window key={window.startAt ?? 'open'} window={window} zone={zone} now={now} />
        ))}
      </ol>
      <p className={forms.hint}>
        Times are those of {zone}
        {isOwn ? ', your time zone.' : `. Your time zone is ${nameZoneOfToday(own)}.`}
      </p>
    </div>
  );
}

/** When a schedule would be on air, while it is being made. */
export function WindowPreview({ values }: { values: ScheduleValues }) {
  const shown = useDeferredValue(values);
  const mistakes = scheduleMistakes(shown);
  const isComplete = Object.keys(mistakes).length === 0;
  const schedule = useWindows(isComplete ? toSchedule(scheduleBody(shown)) : undefined);
  if (!schedule) return null;
  const { windows, notes } = schedule;
  return (
    <section className={classes.preview} aria-live="polite">
      <h3>On air</h3>
      {windows.length === 0 && notes.length === 0 && <p>This time is over: the stream stays off air.</p>}
      <WindowList
        label="Times on air"
        windows={windows}
        timeZone={shown.repeat === 'once' ? findTimeZone() : shown.timeZone}
        testId="window-preview"
      />
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </section>
  );
}
