/** The fields of a schedule: once, on days of the week from a time to another, or by a cron expression. */
import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatHours, formatTime } from '../../lib/format.ts';
import { findTimeZone, nameZoneOfToday } from '../../lib/timeZones.ts';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import forms from '../../ui/form.module.css';
import { ZoneChoice } from '../../ui/zoneChoice.tsx';
import classes from './schedule.module.css';
import {
  computeDuration,
  cronIn,
  DAY_SHORTCUTS,
  DAYS,
  findEndDay,
  findShiftedTime,
  formatDays,
  nameDay,
  type ScheduleValues,
} from './schedule.ts';
import { useCronWords } from './useCronWords.ts';

/** The part of a form that the fields need: of Mantine's, or of another that keeps its values elsewhere. */
export interface ScheduleFormState {
  values: ScheduleValues;
  errors: Partial<Record<string, ReactNode>>;
  getInputProps: (field: keyof ScheduleValues) => object;
  setFieldValue: (field: 'days', days: string[]) => void;
  getInitialValues: () => Pick<ScheduleValues, 'timeZone'>;
}

interface FieldProps {
  form: ScheduleFormState;
}

interface RecurringProps extends FieldProps {
  /** They are moments and have no length. */
  isMoment?: boolean;
}

interface MomentProps extends FieldProps {
  field: 'startAt' | 'endAt';
  label: string;
  description: string;
}

/** A day and a time on the reader's own clock, which may skip it. */
function Moment({ form, field, label, description }: MomentProps) {
  const shifted = findShiftedTime(form.values[field]);
  return (
    <div>
      <TextInput type="datetime-local" label={label} description={description} {...form.getInputProps(field)} />
      {shifted && (
        <p className={forms.hint} role="status">
          Your clocks skip this time: it becomes {formatTime(shifted)}.
        </p>
      )}
    </div>
  );
}

export const Once = ({ form }: FieldProps) => (
  <>
    <Moment
      form={form}
      field="startAt"
      label="Goes on air"
      description={`In your time zone (${nameZoneOfToday(findTimeZone())}).`}
    />
    <Moment form={form} field="endAt" label="Ends" description="Leave it empty to stay on air until you stop it." />
  </>
);

const Bounds = ({ form }: FieldProps) => (
  <>
    <Moment form={form} field="startAt" label="Not before" description="In your time zone. Leave it empty for now." />
    <Moment form={form} field="endAt" label="Not after" description="Leave it empty to go on without an end." />
  </>
);

const MOST_EXTRA_DAYS = 30;

/** From a time to another: the end may be on a later day. */
function Times({ form, isMoment = false }: RecurringProps) {
  const { time, until, days } = form.values;
  const endDay = findEndDay(time, until);
  const dayOptions = Array.from({ length: MOST_EXTRA_DAYS + 1 }, (_, extra) => ({
    value: String(extra),
    label: nameDay(endDay + extra),
  }));
  const isComplete = time !== '' && until !== '' && days.length > 0;
  if (isMoment) return <TextInput type="time" label="At" {...form.getInputProps('time')} />;
  return (
    <>
      <div className={classes.times}>
        <TextInput type="time" label="From" {...form.getInputProps('time')} />
        <TextInput
          type="time"
          label="To"
          {...form.getInputProps('until')}
          error={form.errors.until ?? form.errors.hours}
        />
        <NativeSelect label="Day of the end" data={dayOptions} {...form.getInputProps('extraDays')} />
      </div>
      {isComplete && (
        <p className={forms.help} role="status">
          On air {formatDays(days)}, {formatHours(computeDuration(form.values))} each time.
        </p>
      )}
    </>
  );
}

const Days = ({ form }: FieldProps) => (
  <div className={classes.days}>
    <CheckboxList
      legend="Days"
      name="days"
      most={DAYS.length}
      ticks={DAYS}
      values={form.values.days}
      onChange={(next) => form.setFieldValue('days', next)}
      error={form.errors.days}
    />
    <div className={classes.shortcuts}>
      {DAY_SHORTCUTS.map(({ label, days }) => (
        <Button key={label} size="compact-sm" variant="subtle" onClick={() => form.setFieldValue('days', days)}>
          {label}
        </Button>
      ))}
    </div>
  </div>
);

function CronAndLength({ form, isMoment = false }: RecurringProps) {
  const words = useCronWords(cronIn(form.values));
  const number = { hideControls: true, min: 0, clampBehavior: 'none', allowDecimal: false } as const;
  return (
    <>
      <TextInput
        label="Cron expression"
        description="Minute, hour, day of month, month, day of week."
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('cron')}
      />
      {words && (
        <p className={forms.help} role="status">
          {words}.
        </p>
      )}
      {!isMoment && (
        <div className={classes.times}>
          <NumberInput label="Hours on air" max={744} {...number} {...form.getInputProps('hours')} />
          <NumberInput label="Minutes on air" max={59} {...number} {...form.getInputProps('minutes')} />
        </div>
      )}
      {!isMoment && form.values.seconds > 0 && (
        <p className={forms.hint}>And {form.values.seconds} seconds, as it has now.</p>
      )}
    </>
  );
}

export const Recurring = ({ form, isMoment = false }: RecurringProps) => (
  <>
    {form.values.repeat === 'weekly' ? (
      <>
        <Days form={form} />
        <Times form={form} isMoment={isMoment} />
      </>
    ) : (
      <CronAndLength form={form} isMoment={isMoment} />
    )}
    <ZoneChoice first={form.getInitialValues().timeZone} {...form.getInputProps('timeZone')} />
    {form.values.isBounded && <Bounds form={form} />}
  </>
);
