import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheck,
  IconDownload,
  IconInfoCircle,
  IconLayersIntersect,
  IconLayersOff,
  IconPencil,
  IconPlayerPlay,
  IconSettings,
  IconTrash,
  type TablerIcon,
} from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Upload } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatAgo } from '../../lib/format.ts';
import { quote } from '../../lib/isolate.ts';
import { type Act, ActMenu, copyAct } from '../../ui/actMenu.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import page from '../../ui/page.module.css';
import { Bar } from '../../ui/page.tsx';
import { Poster } from '../../ui/poster.tsx';
import { RenameDialog } from '../../ui/renameDialog.tsx';
import { Row } from '../../ui/row.tsx';
import { Tag } from '../../ui/tag.tsx';
import { ClipPreview } from '../player/clip.tsx';
import { HolderList } from '../references/holders.tsx';
import { listLookNotes } from './looks.ts';
import { InQuarantine, QuarantineDialog, useQuarantineActs } from './quarantine.tsx';
import { useUploadsChanged } from './queries.ts';
import { listSoundNotes } from './sounds.ts';
import { canRetry, describeDoing, describeWait, getStateLook, listFacts } from './text.ts';
import { Tracks } from './tracks.tsx';
import classes from './uploads.module.css';

const ICONS: Record<string, TablerIcon> = {
  importing: IconDownload,
  preparing: IconSettings,
  ready: IconCircleCheck,
  failed: IconAlertTriangle,
};

/** Whether an upload has nothing to say beside that it can be played. */
export const isPlainReady = ({ state, quarantine }: Pick<Upload, 'state' | 'quarantine'>): boolean =>
  state === 'ready' && !quarantine;

export function UploadTag({ state, quarantine }: Pick<Upload, 'state'> & Partial<Pick<Upload, 'quarantine'>>) {
  if (quarantine)
    return (
      <Tag tone="attention" icon={IconBan}>
        In quarantine
      </Tag>
    );
  const { word, tone } = getStateLook(state);
  return (
    <Tag tone={tone} icon={ICONS[state] ?? IconSettings}>
      {word}
    </Tag>
  );
}

function Waits({ waiting }: { waiting: NonNullable<Upload['waiting']> }) {
  return (
    <p className={page.dim} data-testid="upload-waiting">
      {describeWait(waiting)}
    </p>
  );
}

interface FailedProps {
  error: NonNullable<Upload['error']>;
  /** The same may succeed later. */
  isWorthRetry: boolean;
  retry: () => Promise<void>;
}

function Failed({ error: { message, fix }, isWorthRetry, retry }: FailedProps) {
  const again = useMutation({ mutationFn: retry });
  return (
    <div className={classes.failure}>
      <p>{message}</p>
      <p className={classes.fix}>{fix}</p>
      {isWorthRetry && (
        <Button variant="default" size="xs" loading={again.isPending} onClick={() => again.mutate()}>
          Try again
        </Button>
      )}
      {again.error && <p role="alert">{problemText(again.error)}</p>}
    </div>
  );
}

function Notes({ notes, name }: { notes: readonly string[]; name: string }) {
  if (notes.length === 0) return null;
  return (
    <ul className={classes.warnings} data-testid={name}>
      {notes.map((note) => (
        <li key={note}>
          <IconInfoCircle size={18} stroke={1.7} aria-hidden />
          {note}
        </li>
      ))}
    </ul>
  );
}

function Doing({ name, progress, what }: { name: string; progress: number; what: string }) {
  return (
    <div className={classes.doing}>
      <Bar value={progress > 0 ? progress : undefined} label={`${what}: ${name}`} />
      <p className={page.dim}>
        {what}
        {progress > 0 && ` · ${Math.floor(progress * 100)} %`}
      </p>
    </div>
  );
}

/** Only pictures that a stream loops have something shown over them. */
function useOverlayActs({ objectID, name, type, overlays }: Upload): Act[] {
  const { calls } = useApi();
  const changed = useUploadsChanged();
  const { mutate } = useMutation({
    mutationFn: (wanted: Upload['overlays']) => calls.uploads.update(objectID, { overlays: wanted }),
    onSuccess: changed,
    onError: (error) => {
      const title = `The overlays of ${quote(name)} stay as they are`;
      notifications.show({ color: 'red', title, message: problemText(error) });
    },
  });
  if (type !== 'VIDEO') return [];
  return [
    overlays === 'NONE'
      ? { label: 'Show overlays over it', icon: IconLayersIntersect, run: () => mutate('SHOWN') }
      : { label: 'Show no overlays over it', icon: IconLayersOff, run: () => mutate('NONE') },
  ];
}

export function UploadRow({ upload }: { upload: Upload }) {
  const { calls } = useApi();
  const changed = useUploadsChanged();
  const [asked, setAsked] = useState<'rename' | 'quarantine' | 'delete'>();
  const close = () => setAsked(undefined);
  const done = () => {
    close();
    return changed();
  };
  const now = useNow(false);
  const [playing, setPlaying] = useState(false);
  const { objectID, name, type, posterUrl, state, progress, warnings, waiting, quarantine, error, createdAt } = upload;
  const retry = () => calls.uploads.retry(objectID).then(changed);
  const doing = describeDoing(upload);
  const facts = listFacts(upload);
  const overlayActs = useOverlayActs(upload);
  const quarantineActs = useQuarantineActs(upload, () => setAsked('quarantine'));
  return (
    <Row
      data-testid="upload"
      data-state={state}
      name={name}
      picture={<Poster url={posterUrl} kind={type} name={name} />}
      facts={
        <p className={page.dim}>{[...facts, `added ${formatAgo(new Date(createdAt), new Date(now))}`].join(' · ')}</p>
      }
      actions={
        <>
          <UploadTag state={state} quarantine={quarantine} />
          {type !== 'IMAGE' && (state === 'ready' || state === 'preparing') && (
            <Tooltip label="Play its first minute">
              <ActionIcon aria-label={`Play ${name}`} onClick={() => setPlaying(true)}>
                <IconPlayerPlay size={18} stroke={1.7} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          <ActMenu
            isSmall
            label={`More actions for ${name}`}
            acts={[
              { label: 'Rename…', icon: IconPencil, run: () => setAsked('rename') },
              ...overlayActs,
              ...quarantineActs,
              copyAct('Copy id', objectID),
              { label: 'Delete upload…', icon: IconTrash, isDanger: true, run: () => setAsked('delete') },
            ]}
          />
        </>
      }
    >
      {doing && <Doing name={name} progress={progress} what={doing} />}
      <Notes name="upload-warnings" notes={warnings.map(({ message }) => message)} />
      <Notes name="upload-looks" notes={listLookNotes(upload)} />
      <Notes name="upload-sounds" notes={listSoundNotes(upload)} />
      {quarantine && <InQuarantine upload={upload} quarantine={quarantine} />}
      {waiting && <Waits waiting={waiting} />}
      <Tracks upload={upload} />
      {error && <Failed error={error} isWorthRetry={canRetry(upload)} retry={retry} />}
      {playing && <ClipPreview upload={upload} onClose={() => setPlaying(false)} />}
      {asked === 'rename' && (
        <RenameDialog
          noun="upload"
          name={name}
          rename={(next) => calls.uploads.update(objectID, { name: next })}
          onClose={close}
          onDone={done}
        />
      )}
      {asked === 'quarantine' && <QuarantineDialog upload={upload} onClose={close} onDone={done} />}
      {asked === 'delete' && (
        <DeleteDialog
          noun="upload"
          name={name}
          holders={(error) => <HolderList noun="upload" error={error} />}
          remove={() => calls.uploads.delete(objectID)}
          onClose={close}
          onDone={done}
        >
          The file and all prepared media are deleted permanently.
        </DeleteDialog>
      )}
    </Row>
  );
}
