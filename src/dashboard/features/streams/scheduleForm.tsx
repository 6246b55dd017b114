/** A schedule made or changed: once, on days of the week, or by a cron expression. */
import type { StreamChange, StreamSchedule } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { formatTime } from '../../lib/format.ts';
import { quote } from '../../lib/isolate.ts';
import { findTimeZone, nameZoneOfToday } from '../../lib/timeZones.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useTriedSubmit } from '../../ui/useTriedSubmit.ts';
import { OffAirQuestion } from './offAirQuestion.tsx';
import { type ScheduleValues, scheduleBody, scheduleMistakes, scheduleValues, switchRepeat } from './schedule.ts';
import { Once, Recurring } from './scheduleFields.tsx';
import { WindowPreview } from './windowList.tsx';

const REPEATS = [
  { value: 'once', label: 'Once' },
  { value: 'weekly', label: 'On days' },
  { value: 'cron', label: 'Cron' },
] as const;

/** By the server's names, which field of the form each is. */
const FIELDS: Record<string, keyof ScheduleValues> = {
  scheduleStartAt: 'startAt',
  scheduleEndAt: 'endAt',
  'recurrence/timeZone': 'timeZone',
  'recurrence/durationSeconds': 'hours',
  recurrence: 'cron',
};

interface ScheduleFormProps {
  stream: Stream;
  onClose: () => void;
  onDone: (stream: Stream) => unknown;
}

export function ScheduleForm({ stream, onClose, onDone }: ScheduleFormProps) {
  const { streams } = useApi().calls;
  const { form, forgetBefore, elsewhere } = useDraftForm<ScheduleValues>({
    name: `schedule ${stream.id}`,
    initialValues: scheduleValues(stream, nameZoneOfToday(findTimeZone())),
    validate: (values) => scheduleMistakes(values),
  });
  const { submit, busy, problem, question, answer, dismiss } = useTriedSubmit<StreamSchedule, StreamChange>({
    send: (body, call) => streams.schedule(stream.id, body, call),
    asks: ({ takesOffAir }) => takesOffAir,
    fields: Object.keys(FIELDS),
    onMistakes: (mistakes) =>
      form.setErrors(
        Object.fromEntries(Object.entries(mistakes).map(([field, text]) => [FIELDS[field] ?? field, text])),
      ),
    onDone: forgetBefore(onDone),
  });
  const cancel = forgetBefore(onClose);
  const nextStartAt = question?.change.nextStartAt;
  const hidden = form.values.repeat === 'weekly' ? form.errors.cron : undefined;
  return (
    <>
      <Dialog title={`Schedule of ${quote(stream.name)}`} onClose={cancel} busy={busy}>
        <form className={forms.form} onSubmit={form.onSubmit((values) => submit(scheduleBody(values)))} noValidate>
          <Choices
            legend="When"
            name="repeat"
            choices={REPEATS}
            value={form.values.repeat}
            onChange={(next) => form.setValues(switchRepeat(form.getValues(), next))}
          />
          {form.values.repeat === 'once' ? <Once form={form} /> : <Recurring form={form} />}
          <WindowPreview values={form.values} />
          <ChangedElsewhere fields={elsewhere.length > 0 ? ['schedule'] : []} labels={{ schedule: 'Its schedule' }} />
          <FormEnd problem={problem ?? hidden} busy={busy} onCancel={cancel}>
            Save schedule
          </FormEnd>
        </form>
      </Dialog>
      {question && (
        <OffAirQuestion
          title={`Take ${quote(stream.name)} off air?`}
          keep={nextStartAt ? 'Keep on air until then' : 'Keep on air'}
          onKeep={() => (nextStartAt ? answer({ ...question.values, scheduleOnAirUntil: nextStartAt }) : dismiss())}
          onSave={() => answer(question.values)}
          onClose={dismiss}
        >
          This takes the stream off air now.{nextStartAt && ` It starts again ${formatTime(nextStartAt)}.`}
        </OffAirQuestion>
      )}
    </>
  );
}
