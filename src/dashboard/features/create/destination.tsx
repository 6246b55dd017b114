/** The second step: where it is sent to. */
import { Button, Skeleton } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import forms from '../../ui/form.module.css';
import type { StreamChoices } from '../streams/choices.ts';
import classes from './create.module.css';
import type { NewStream } from './draft.ts';
import { NewDestination } from './newDestination.tsx';

interface DestinationStepProps {
  draft: NewStream;
  change: (more: Partial<NewStream>) => void;
  choices: StreamChoices;
  onNext: () => void;
  onBack: () => void;
}

interface KnownProps extends DestinationStepProps {
  onNew: () => void;
}

/** A choice of those that the account has. */
function KnownDestinations({ draft, change, choices: { destinations = [] }, onNext, onBack, onNew }: KnownProps) {
  const form = useForm({
    initialValues: {},
    validate: () => (draft.destinationID === '' ? { destinationIDs: 'Choose a destination.' } : {}),
  });
  return (
    <form className={forms.form} onSubmit={form.onSubmit(onNext)} noValidate>
      <CheckboxList
        single
        legend="Destinations of the stream"
        name="destination"
        most={1}
        ticks={destinations.map(({ id, name, rtmpUrl }) => ({ value: id, label: name, hint: rtmpUrl }))}
        values={draft.destinationID ? [draft.destinationID] : []}
        onChange={([id = '']) => {
          change({ destinationID: id });
          form.clearErrors();
        }}
        error={form.errors.destinationIDs}
      />
      <div>
        <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={onNew}>
          New destination
        </Button>
      </div>
      <div className={classes.buttons}>
        <Button variant="default" onClick={onBack}>
          Back
        </Button>
        <Button type="submit">Next</Button>
      </div>
    </form>
  );
}

export function DestinationStep(props: DestinationStepProps) {
  const { change, choices, onNext, onBack } = props;
  const queries = useQueryClient();
  const [isNew, setNew] = useState(false);
  const { destinations } = choices;
  if (destinations === undefined) return <Skeleton height={120} radius="md" />;
  if (destinations.length > 0 && !isNew) return <KnownDestinations {...props} onNew={() => setNew(true)} />;
  return (
    <NewDestination
      taken={destinations.map(({ name }) => name)}
      onBack={destinations.length > 0 ? () => setNew(false) : onBack}
      onDone={async ({ id }) => {
        change({ destinationID: id });
        onNext();
        await queries.invalidateQueries({ queryKey: ['destinations'] });
      }}
    />
  );
}
