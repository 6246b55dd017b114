/** When a stream goes on air by itself: in words, and the next times as the server has them. */
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatHours, formatTime } from '../../lib/format.ts';
import { findTimeZone } from '../../lib/timeZones.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Name } from '../../ui/name.tsx';
import { Panel } from '../../ui/panel.tsx';
import { isRunning } from './phase.ts';
import { useSchedule } from './queries.ts';
import classes from './schedule.module.css';
import { describeWeekly, toSchedule } from './schedule.ts';
import { useCronWords } from './useCronWords.ts';
import { useWindows } from './useWindows.ts';
import { WindowList } from './windowList.tsx';

type Recurrence = NonNullable<Stream['recurrence']>;

function Recurring(recurrence: Recurrence) {
  const { cron, timeZone, durationSeconds } = recurrence;
  const weekly = describeWeekly(recurrence);
  const words = useCronWords(weekly ? '' : cron);
  if (weekly)
    return (
      <p>
        {weekly}, in the time zone {timeZone}.
      </p>
    );
  return (
    <p>
      {words ?? <code>{cron}</code>}, for {formatHours(durationSeconds)}, in the time zone {timeZone}.
    </p>
  );
}

function Words({ stream }: { stream: Stream }) {
  const { scheduleStartAt, scheduleEndAt, recurrence } = stream;
  if (recurrence) return <Recurring {...recurrence} />;
  const [start, end] = [formatTime(scheduleStartAt), formatTime(scheduleEndAt)];
  if (!start && !end) return <p className={classes.dim}>No schedule. You start and stop the stream yourself.</p>;
  return (
    <p>
      {start ? `From ${start}` : 'From when you start it'}
      {end ? ` until ${end}.` : ' until you stop it.'}
    </p>
  );
}

/** A stream that was on air when it got its schedule, and was to stay so until its first window. */
function Kept({ stream: { scheduleOnAirUntil } }: { stream: Stream }) {
  const now = useNow(scheduleOnAirUntil !== null);
  if (!scheduleOnAirUntil || Date.parse(scheduleOnAirUntil) <= now) return null;
  return <p>Until {formatTime(scheduleOnAirUntil)}, the stream is on air outside these times, too.</p>;
}

function NextWindows({ stream }: { stream: Stream }) {
  const { data } = useSchedule(stream);
  const { scheduleStartAt, scheduleEndAt, recurrence, status } = stream;
  const schedule = toSchedule({
    ...(scheduleStartAt && { scheduleStartAt }),
    ...(scheduleEndAt && { scheduleEndAt }),
    ...(recurrence && { recurrence }),
  });
  const hasSchedule = scheduleStartAt !== null || scheduleEndAt !== null || recurrence !== null;
  const open = useWindows(hasSchedule && isRunning(status) ? schedule : undefined)?.windows.filter(
    ({ isOpen }) => isOpen,
  );
  const next = data?.windows.map((window) => ({ ...window, isOpen: false }));
  return (
    <WindowList
      label="Times on air"
      windows={[...(open ?? []), ...(next ?? [])]}
      timeZone={recurrence?.timeZone ?? findTimeZone()}
      testId="next-starts"
    />
  );
}

interface SchedulePanelProps {
  stream: Stream;
  onChange: () => void;
}

export function SchedulePanel({ stream, onChange }: SchedulePanelProps) {
  const { streams } = useApi().calls;
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const has = stream.scheduleStartAt !== null || stream.scheduleEndAt !== null || stream.recurrence !== null;
  const remove = useMutation({
    mutationFn: () => streams.unschedule(stream.id),
    onSuccess: (after) => {
      queries.setQueryData(['stream', stream.id], after);
      return queries.invalidateQueries({ queryKey: ['schedule', stream.id] });
    },
  });
  return (
    <Panel
      title="Schedule"
      action={
        <div className={classes.actions}>
          {has && (
            <Button
              size="compact-sm"
              variant="subtle"
              loading={remove.isPending}
              aria-label="Remove the schedule"
              onClick={() => setAsking(true)}
            >
              Remove
            </Button>
          )}
          <Button
            size="compact-sm"
            variant="default"
            onClick={onChange}
            aria-label={has ? 'Change the schedule' : 'Set a schedule'}
          >
            {has ? 'Change' : 'Set'}
          </Button>
        </div>
      }
    >
      <div className={classes.words}>
        <Words stream={stream} />
        <Kept stream={stream} />
        {remove.error && (
          <p className={classes.error} role="alert">
            {problemText(remove.error)}
          </p>
        )}
      </div>
      <NextWindows stream={stream} />
      {asking && (
        <Confirm
          title="Remove the schedule?"
          yes="Remove schedule"
          no="Keep it"
          onYes={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>
            “<Name>{stream.name}</Name>” then goes on air only when you start it, until you stop it. Its current state
            does not change.
          </p>
        </Confirm>
      )}
    </Panel>
  );
}
