/** The fields that say which events are sent. */
import { NumberInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { EVENT_WORDS } from '../../../service/domain/events/words.ts';
import type { CheckboxItem } from '../../ui/checkboxItem.ts';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import { Choices } from '../../ui/choices.tsx';
import forms from '../../ui/form.module.css';
import { type EndpointValues, FOR_PROGRAMS } from './formValues.ts';
import { useStreamChoices } from './queries.ts';
import { nameAllTypes } from './text.ts';

export interface FieldsProps {
  form: UseFormReturnType<EndpointValues>;
}

const MOST_OBJECTS = 100;
const ALL_OR_SOME = (all: string, some: string) =>
  [
    { value: 'all', label: all },
    { value: 'some', label: some },
  ] as const;

const OPT_IN: readonly string[] = ['schedule.upcoming', FOR_PROGRAMS];
const TYPES: readonly CheckboxItem[] = Object.entries(EVENT_WORDS).map(([value, { label }]) => ({
  value,
  label,
  ...(OPT_IN.includes(value) && { hint: 'Sent only if you choose it here.' }),
}));
const TYPES_FOR_PEOPLE = TYPES.filter(({ value }) => value !== FOR_PROGRAMS);

function TypeFields({ form }: FieldsProps) {
  const { kind, choosesTypes, types } = form.values;
  return (
    <>
      <Choices
        legend="Events"
        name="events"
        choices={ALL_OR_SOME(nameAllTypes(kind), 'Only some')}
        value={choosesTypes ? 'some' : 'all'}
        onChange={(value) => form.setFieldValue('choosesTypes', value === 'some')}
      />
      {!choosesTypes && kind !== 'webhook' && (
        <p className={forms.help}>Outages, problems, failures, and events of billing.</p>
      )}
      {choosesTypes && (
        <CheckboxList
          legend="Send these events"
          name="types"
          ticks={kind === 'webhook' ? TYPES : TYPES_FOR_PEOPLE}
          values={types}
          most={TYPES.length}
          onChange={(next) => {
            form.setFieldValue('types', next);
            form.clearFieldError('types');
          }}
          error={form.errors.types}
        />
      )}
    </>
  );
}

/** Streams by name, and the other objects that a program has chosen. */
function useObjects(chosen: readonly string[], enabled: boolean): CheckboxItem[] {
  const streams = useStreamChoices(enabled).data?.data ?? [];
  const known = new Set(streams.map(({ id }) => id));
  return [
    ...streams.map(({ id, name }) => ({ value: id, label: name })),
    ...chosen.filter((id) => !known.has(id)).map((id) => ({ value: id, label: 'Something else', hint: id })),
  ];
}

function ObjectFields({ form }: FieldsProps) {
  const { choosesObjects, objectIDs } = form.values;
  const ticks = useObjects(form.getInitialValues().objectIDs, choosesObjects);
  return (
    <>
      <Choices
        legend="Streams"
        name="streams"
        choices={ALL_OR_SOME('All streams', 'Only some')}
        value={choosesObjects ? 'some' : 'all'}
        onChange={(value) => form.setFieldValue('choosesObjects', value === 'some')}
      />
      {choosesObjects && (
        <div>
          <CheckboxList
            legend="Send events of these streams"
            name="objectIDs"
            ticks={ticks}
            values={objectIDs}
            most={MOST_OBJECTS}
            onChange={(next) => {
              form.setFieldValue('objectIDs', next);
              form.clearFieldError('objectIDs');
            }}
            error={form.errors.objectIDs}
          />
          <p className={forms.hint}>
            Events of other streams, uploads, playlists, destinations and your account are not sent.
          </p>
        </div>
      )}
    </>
  );
}

export const ChoiceFields = ({ form }: FieldsProps) => (
  <>
    {form.values.kind !== 'webhook' && (
      <NumberInput
        label="Seconds off air before a message"
        description="A shorter outage is no message, unless there are many. 0: as soon as a stream is off air."
        min={0}
        max={3600}
        clampBehavior="none"
        allowDecimal={false}
        allowNegative={false}
        {...form.getInputProps('offAirSeconds')}
      />
    )}
    <TypeFields form={form} />
    <ObjectFields form={form} />
  </>
);
