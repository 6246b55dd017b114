import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconCursorText, IconPencil, IconPlugConnected, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Destination } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { formatAgo } from '../../lib/format.ts';
import { ActMenu, copyAct } from '../../ui/actMenu.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import page from '../../ui/page.module.css';
import { RenameDialog } from '../../ui/renameDialog.tsx';
import { Row } from '../../ui/row.tsx';
import { HolderList } from '../references/holders.tsx';
import classes from './destinations.module.css';
import { PlatformIcon } from './platform.tsx';
import { findPreset } from './presets.ts';
import { useDestinationsChanged, useDestinationTest } from './queries.ts';
import { TestProblem, TestResult } from './result.tsx';
import { ViewersView } from './view.tsx';

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
  id: string;
  name: string;
  test: ReturnType<typeof useTest>;
  onEdit: () => void;
  onRename: () => void;
  onDelete: () => void;
}

function Acts({ id, name, test, onEdit, onRename, onDelete }: ActsProps) {
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
      <ActMenu
        isSmall
        label={`More actions for ${name}`}
        acts={[
          { label: 'Rename…', icon: IconCursorText, run: onRename },
          copyAct('Copy id', id),
          { label: 'Delete destination…', icon: IconTrash, isDanger: true, run: onDelete },
        ]}
      />
    </>
  );
}

export function DestinationRow({ destination, onEdit }: { destination: Destination; onEdit: () => void }) {
  const { calls } = useApi();
  const changed = useDestinationsChanged();
  const [asked, setAsked] = useState<'rename' | 'delete'>();
  const now = useNow(false);
  const test = useTest(destination);
  const { id, name, rtmpUrl, createdAt } = destination;
  const preset = findPreset(rtmpUrl);
  const close = () => setAsked(undefined);
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
            {preset.id !== 'custom' && `${preset.label} · `}
            {keyLine(destination)} · added {formatAgo(new Date(createdAt), new Date(now))}
          </p>
        </>
      }
      actions={
        <Acts
          id={id}
          name={name}
          test={test}
          onEdit={() => {
            // A key may be changed with nothing to be seen of it.
            test.reset();
            onEdit();
          }}
          onRename={() => setAsked('rename')}
          onDelete={() => setAsked('delete')}
        />
      }
    >
      {destination.platformLive && <ViewersView id={id} view={destination.platformLive} />}
      {test.isPending && (
        <p className={page.dim} role="status">
          Sending two seconds of black video and silence…
        </p>
      )}
      {!test.isPending && test.data && <TestResult test={test.data} rtmpUrl={rtmpUrl} />}
      {!test.isPending && test.error && (
        <TestProblem error={test.error} last={destination.lastTest} rtmpUrl={rtmpUrl} />
      )}
      {asked === 'rename' && (
        <RenameDialog
          noun="destination"
          name={name}
          rename={(next) => calls.destinations.update(id, { name: next })}
          onClose={close}
          onDone={done}
        />
      )}
      {asked === 'delete' && (
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
