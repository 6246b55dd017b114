/** Files on their way, and those that were on their way before the page was loaded anew. */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconRefresh, IconUpload, IconX, type TablerIcon } from '@tabler/icons-react';
import { useState } from 'react';
import { problems } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { formatBytes } from '../../lib/format.ts';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import page from '../../ui/page.module.css';
import { Bar } from '../../ui/page.tsx';
import { Row } from '../../ui/row.tsx';
import { HolderList } from '../references/holders.tsx';
import type { Sender, Sending } from './sender.ts';
import { formatProgress } from './sendingText.ts';
import type { Unfinished, UnfinishedUploads } from './unfinished.ts';
import classes from './uploads.module.css';

const icon = <IconUpload size={22} stroke={1.6} aria-hidden />;

interface ActProps {
  label: string;
  name: string;
  icon: TablerIcon;
  onClick: () => void;
}

const Act = ({ label, name, icon: Icon, onClick }: ActProps) => (
  <Tooltip label={label}>
    <ActionIcon aria-label={`${label} ${name}`} onClick={onClick}>
      <Icon size={18} stroke={1.7} aria-hidden />
    </ActionIcon>
  </Tooltip>
);

interface GiveUpProps {
  name: string;
  remove: () => Promise<unknown>;
  onClose: () => void;
}

const GiveUp = ({ name, remove, onClose }: GiveUpProps) => (
  <DeleteDialog
    noun="upload"
    name={name}
    holders={(error) => <HolderList noun="upload" error={error} />}
    remove={remove}
    onClose={onClose}
    onDone={onClose}
  >
    The bytes sent so far are deleted. The file on your computer stays.
  </DeleteDialog>
);

export function SendingRow({ sending, sender }: { sending: Sending; sender: Sender }) {
  const [asking, setAsking] = useState(false);
  const { id, name, state, sizeBytes, sentBytes, problem } = sending;
  return (
    <Row
      data-testid="sending"
      data-state={state}
      name={name}
      icon={icon}
      facts={<p className={page.dim}>{formatProgress(sending)}</p>}
      actions={
        <>
          {(state === 'sending' || state === 'waiting') && (
            <Act label="Pause" name={name} icon={IconPlayerPause} onClick={() => sender.pause(id)} />
          )}
          {state === 'paused' && (
            <Act label="Go on with" name={name} icon={IconPlayerPlay} onClick={() => sender.resume(id)} />
          )}
          {state === 'failed' && (
            <Act label="Try again:" name={name} icon={IconRefresh} onClick={() => sender.resume(id)} />
          )}
          <Act label="Give up" name={name} icon={IconX} onClick={() => setAsking(true)} />
        </>
      }
    >
      <div className={classes.doing}>
        <Bar value={sizeBytes === 0 ? 0 : sentBytes / sizeBytes} label={`Sent of ${name}`} />
      </div>
      {problem && (
        <p className={classes.failure} role="alert">
          {problem}
        </p>
      )}
      {asking && <GiveUp name={name} remove={() => sender.giveUp(id)} onClose={() => setAsking(false)} />}
    </Row>
  );
}

interface UnfinishedRowProps {
  unfinished: Unfinished;
  memory: UnfinishedUploads;
  /** Opens the choice of files. */
  choose: () => void;
  onForgotten: () => unknown;
}

/** A page cannot open a file of its own accord, so the person has to choose it once more. */
export function UnfinishedRow({ unfinished, memory, choose, onForgotten }: UnfinishedRowProps) {
  const { calls } = useApi();
  const [asking, setAsking] = useState(false);
  const { key, name, sizeBytes, objectID } = unfinished;
  return (
    <Row
      data-testid="unfinished"
      name={name}
      icon={icon}
      facts={
        <p className={page.dim}>
          Not sent completely ({formatBytes(sizeBytes)}). Choose the same file again to continue where it stopped.
        </p>
      }
      actions={
        <>
          <Button size="sm" variant="default" onClick={choose}>
            Choose file
          </Button>
          <Act label="Give up" name={name} icon={IconX} onClick={() => setAsking(true)} />
        </>
      }
    >
      {asking && (
        <GiveUp
          name={name}
          remove={async () => {
            await calls.uploads.delete(objectID).catch((error: unknown) => {
              if (!(error instanceof problems.UploadNotFound)) throw error;
            });
            memory.forget(key);
            onForgotten();
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Row>
  );
}
