import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconPencil, IconPlugConnected, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Destination } from '../../client/index.ts';
import { useApi } from '../context.tsx';
import { DeleteDialog } from '../parts/delete.tsx';
import classes from './destinations.module.css';
import { DestinationForm } from './form.tsx';
import { PlatformIcon } from './platform.tsx';
import { presetOf } from './presets.ts';
import { useDestinationsChanged, useDestinationTest } from './queries.ts';
import { TestProblem, TestResult } from './result.tsx';

const keyLine = ({ rtmpKeyHint }: Destination): string =>
  rtmpKeyHint ? `Key ends in ${rtmpKeyHint}` : 'Key kept secret';

/** What a test said is about the address and the key that it was made with. */
function useTest(destination: Destination) {
  const test = useDestinationTest(destination);
  const { reset } = test;
  const of = `${destination.rtmpUrl} ${destination.rtmpKeyHint}`;
  const before = useRef(of);
  useEffect(() => {
    if (before.current !== of) reset();
    before.current = of;
  }, [of, reset]);
  return test;
}

interface ActsProps {
  name: string;
  test: ReturnType<typeof useTest>;
  open: (what: 'edit' | 'delete') => void;
}

function Acts({ name, test, open }: ActsProps) {
  return (
    <div className={classes.actions}>
      <Button
        variant="default"
        leftSection={<IconPlugConnected size={16} aria-hidden />}
        aria-label={`Test ${name}`}
        loading={test.isPending}
        onClick={() => test.mutate()}
      >
        Test
      </Button>
      <Tooltip label="Change">
        <ActionIcon aria-label={`Change ${name}`} onClick={() => open('edit')}>
          <IconPencil size={18} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Delete">
        <ActionIcon aria-label={`Delete ${name}`} onClick={() => open('delete')}>
          <IconTrash size={18} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

export function DestinationRow({ destination }: { destination: Destination }) {
  const { calls } = useApi();
  const changed = useDestinationsChanged();
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const test = useTest(destination);
  const { id, name, rtmpUrl } = destination;
  const preset = presetOf(rtmpUrl);
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    return changed();
  };
  return (
    <article className={classes.row} data-testid="destination" aria-label={name}>
      <div className={classes.platform}>
        <PlatformIcon id={preset.id} size={26} />
      </div>
      <div className={classes.facts}>
        <h2>{name}</h2>
        <p className={classes.url}>{rtmpUrl || 'Its address is being read…'}</p>
        <p className={classes.dim}>
          {preset.id === 'custom' ? keyLine(destination) : `${preset.label} · ${keyLine(destination)}`}
        </p>
      </div>
      <Acts name={name} test={test} open={setOpen} />
      {test.isPending && (
        <p className={classes.testing} role="status">
          Sending two seconds of black pictures and silence, to see whether it takes them…
        </p>
      )}
      {!test.isPending && test.data && <TestResult test={test.data} rtmpUrl={rtmpUrl} />}
      {!test.isPending && test.error && <TestProblem error={test.error} />}
      {open === 'edit' && (
        <DestinationForm
          before={destination}
          onClose={close}
          onDone={() => {
            // A key may have changed with nothing to be seen of it.
            test.reset();
            return done();
          }}
        />
      )}
      {open === 'delete' && (
        <DeleteDialog
          noun="destination"
          name={name}
          remove={() => calls.destinations.delete(id)}
          onClose={close}
          onDone={done}
        >
          Its address and its key are forgotten for good.
        </DeleteDialog>
      )}
    </article>
  );
}
