import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconPencil, IconPlugConnected, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Destination } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import page from '../../ui/page.module.css';
import { Row } from '../../ui/row.tsx';
import { HolderList } from '../references/holders.tsx';
import classes from './destinations.module.css';
import { PlatformIcon } from './platform.tsx';
import { findPreset } from './presets.ts';
import { useDestinationsChanged, useDestinationTest } from './queries.ts';
import { TestProblem, TestResult } from './result.tsx';

const keyLine = ({ rtmpKeyHint }: Destination): string =>
  rtmpKeyHint ? `Key ends in ${rtmpKeyHint}` : 'Key kept secret';

/** The result of a test is about the address and the key that it was made with. */
function useTest(destination: Destination) {
  const test = useDestinationTest(destination);
  const { reset } = test;
  const tested = `${destination.rtmpUrl} ${destination.rtmpKeyHint}`;
  const before = useRef(tested);
  useEffect(() => {
    if (before.current !== tested) reset();
    before.current = tested;
  }, [tested, reset]);
  return test;
}

interface ActsProps {
  name: string;
  test: ReturnType<typeof useTest>;
  onEdit: () => void;
  onDelete: () => void;
}

function Acts({ name, test, onEdit, onDelete }: ActsProps) {
  return (
    <>
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
        <ActionIcon aria-label={`Change ${name}`} onClick={onEdit}>
          <IconPencil size={18} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Delete">
        <ActionIcon aria-label={`Delete ${name}`} onClick={onDelete}>
          <IconTrash size={18} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

export function DestinationRow({ destination, onEdit }: { destination: Destination; onEdit: () => void }) {
  const { calls } = useApi();
  const changed = useDestinationsChanged();
  const [deleting, setDeleting] = useState(false);
  const test = useTest(destination);
  const { id, name, rtmpUrl } = destination;
  const preset = findPreset(rtmpUrl);
  const close = () => setDeleting(false);
  const done = () => {
    close();
    return changed();
  };
  return (
    <Row
      data-testid="destination"
      name={name}
      icon={<PlatformIcon id={preset.id} size={26} />}
      facts={
        <>
          <p className={classes.url}>{rtmpUrl || 'Reading the address…'}</p>
          <p className={page.dim}>
            {preset.id === 'custom' ? keyLine(destination) : `${preset.label} · ${keyLine(destination)}`}
          </p>
        </>
      }
      actions={
        <Acts
          name={name}
          test={test}
          onEdit={() => {
            // A key may be changed with nothing to be seen of it.
            test.reset();
            onEdit();
          }}
          onDelete={() => setDeleting(true)}
        />
      }
    >
      {test.isPending && (
        <p className={page.dim} role="status">
          Sending two seconds of black video and silence…
        </p>
      )}
      {!test.isPending && test.data && <TestResult test={test.data} rtmpUrl={rtmpUrl} />}
      {!test.isPending && test.error && <TestProblem error={test.error} />}
      {deleting && (
        <DeleteDialog
          noun="destination"
          name={name}
          holders={(error) => <HolderList noun="destination" error={error} />}
          remove={() => calls.destinations.delete(id)}
          onClose={close}
          onDone={done}
        >
          The address and the key are deleted permanently.
        </DeleteDialog>
      )}
    </Row>
  );
}
