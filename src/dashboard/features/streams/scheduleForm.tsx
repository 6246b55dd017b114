/** A schedule made or changed: once, on days of the week, or by a cron expression. */
import { useState } from 'react';
import type { OffAir } from '../../../core/resources/stream/schedule.ts';
import type { StreamSchedule } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { formatTime } from '../../lib/format.ts';
import { findTimeZone, nameZoneOfToday } from '../../lib/timeZones.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { OffAirQuestion } from './offAirQuestion.tsx';
import { isRunning } from './phase.ts';
import {
  type ScheduleValues,
  scheduleBody,
  scheduleMistakes,
  scheduleValues,
  switchRepeat,
  toSchedule,
} from './schedule.ts';
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

/** Whether a schedule takes a stream on air off air now. The rules are loaded when they are needed first. */
async function findOffAir(body: StreamSchedule): Promise<OffAir | undefined> {
  const [airtime, { isTimeZone }] = await Promise.all([
    import('../../../core/resources/stream/schedule.ts'),
    import('../../../core/resources/stream/recurrence.ts'),
  ]);
  // The server may know a zone that this browser does not: then nobody here knows whether a window is open.
  if (body.recurrence?.timeZone && !isTimeZone(body.recurrence.timeZone)) return {};
  return airtime.findOffAir(toSchedule(body), new Date());
}

interface Question {
  body: StreamSchedule;
  nextStartAt: string | undefined;
}

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
  const [question, setQuestion] = useState<Question>();
  const { submit, busy, problem } = useSubmit<StreamSchedule, Stream>({
    send: (body, idempotencyKey) => streams.schedule(stream.id, body, { idempotencyKey }),
    fields: Object.keys(FIELDS),
    onMistakes: (mistakes) =>
      form.setErrors(
        Object.fromEntries(Object.entries(mistakes).map(([field, text]) => [FIELDS[field] ?? field, text])),
      ),
    onDone: forgetBefore(onDone),
  });
  const cancel = forgetBefore(onClose);
  const save = async (values: ScheduleValues) => {
    const body = scheduleBody(values);
    const offAir = isRunning(stream.status) ? await findOffAir(body) : undefined;
    if (offAir) setQuestion({ body, nextStartAt: offAir.nextStartAt?.toISOString() });
    else submit(body);
  };
  const answer = (body: StreamSchedule) => {
    setQuestion(undefined);
    submit(body);
  };
  const nextStartAt = question?.nextStartAt;
  const hidden = form.values.repeat === 'weekly' ? form.errors.cron : undefined;
  return (
    <>
      <Dialog title={`Schedule of “${stream.name}”`} onClose={cancel} busy={busy}>
        <form className={forms.form} onSubmit={form.onSubmit((values) => void save(values))} noValidate>
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
          name={stream.name}
          keep={nextStartAt ? 'Keep on air until then' : 'Keep on air'}
          onKeep={() =>
            nextStartAt ? answer({ ...question.body, scheduleOnAirUntil: nextStartAt }) : setQuestion(undefined)
          }
          onSave={() => answer(question.body)}
          onClose={() => setQuestion(undefined)}
        >
          This takes the stream off air now.{nextStartAt && ` It starts again ${formatTime(nextStartAt)}.`}
        </OffAirQuestion>
      )}
    </>
  );
}
