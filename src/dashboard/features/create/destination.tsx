/** The second step: where it is sent to. */
import { Button, Skeleton } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import forms from '../../ui/form.module.css';
import { useOpen } from '../../ui/useOpen.ts';
import { DestinationForm } from '../destinations/form.tsx';
import type { StreamChoices } from '../streams/choices.ts';
import classes from './create.module.css';
import type { NewStream } from './draft.ts';

interface DestinationStepProps {
  draft: NewStream;
  change: (more: Partial<NewStream>) => void;
  choices: StreamChoices;
  onNext: () => void;
  onBack: () => void;
}

export function DestinationStep({ draft, change, choices, onNext, onBack }: DestinationStepProps) {
  const queries = useQueryClient();
  const { opened, open, close } = useOpen();
  const form = useForm({
    initialValues: {},
    validate: () => (draft.destinationID === '' ? { destinationIDs: 'Choose a destination.' } : {}),
  });
  const { destinations } = choices;
  const ticks = (destinations ?? []).map(({ id, name, rtmpUrl }) => ({ value: id, label: name, hint: rtmpUrl }));
  return (
    <>
      <form className={forms.form} onSubmit={form.onSubmit(onNext)} noValidate>
        {destinations === undefined && <Skeleton height={120} radius="md" />}
        {ticks.length > 0 && (
          <CheckboxList
            single
            legend="Destinations of the stream"
            name="destination"
            most={1}
            ticks={ticks}
            values={draft.destinationID ? [draft.destinationID] : []}
            onChange={([id = '']) => {
              change({ destinationID: id });
              form.clearErrors();
            }}
            error={form.errors.destinationIDs}
          />
        )}
        {destinations?.length === 0 && (
          <p className={classes.none}>
            Add the channel that viewers watch: YouTube, Twitch, Facebook, Kick, or any server that accepts RTMP.
          </p>
        )}
        <div>
          <Button
            variant="default"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => open('destination')}
          >
            New destination
          </Button>
          {ticks.length === 0 && form.errors.destinationIDs && (
            <p className={forms.problem} role="alert">
              Add a destination first.
            </p>
          )}
        </div>
        <div className={classes.buttons}>
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <Button type="submit">Next</Button>
        </div>
      </form>
      {opened === 'destination' && (
        <DestinationForm
          onClose={close}
          onDone={async ({ id }) => {
            change({ destinationID: id });
            close();
            form.clearErrors();
            await queries.invalidateQueries({ queryKey: ['destinations'] });
          }}
        />
      )}
    </>
  );
}
