/** The second step: where it is sent to. */
import { Button, Skeleton } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import forms from '../../ui/form.module.css';
import type { StreamChoices } from '../streams/choices.ts';
import { CheckResult } from './checkResult.tsx';
import classes from './create.module.css';
import type { NewStream } from './draft.ts';
import { NewDestination } from './newDestination.tsx';
import type { DestinationCheck } from './useDestinationCheck.ts';

interface DestinationStepProps {
  draft: NewStream;
  change: (more: Partial<NewStream>) => void;
  choices: StreamChoices;
  check: DestinationCheck;
  onNext: () => void;
  onBack: () => void;
}

interface KnownProps extends DestinationStepProps {
  onNew: () => void;
}

/** A choice of those that the account has. */
function KnownDestinations({ draft, change, choices, check, onNext, onBack, onNew }: KnownProps) {
  const { destinations = [] } = choices;
  const chosen = destinations.find(({ id }) => id === draft.destinationID);
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
      <div className={classes.acts}>
        <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={onNew}>
          New destination
        </Button>
        {chosen && (
          <Button
            variant="default"
            leftSection={<IconPlugConnected size={16} aria-hidden />}
            loading={check.isPending}
            onClick={() => check.begin(chosen)}
          >
            Test it
          </Button>
        )}
      </div>
      <CheckResult check={check} id={draft.destinationID} />
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
  const { change, choices, check, onNext, onBack } = props;
  const queries = useQueryClient();
  const [isNew, setNew] = useState(false);
  const { destinations } = choices;
  if (destinations === undefined) return <Skeleton height={120} radius="md" />;
  if (destinations.length > 0 && !isNew) return <KnownDestinations {...props} onNew={() => setNew(true)} />;
  return (
    <NewDestination
      taken={destinations.map(({ name }) => name)}
      onBack={destinations.length > 0 ? () => setNew(false) : onBack}
      onDone={async (destination) => {
        change({ destinationID: destination.id });
        check.begin(destination);
        onNext();
        await queries.invalidateQueries({ queryKey: ['destinations'] });
      }}
    />
  );
}
