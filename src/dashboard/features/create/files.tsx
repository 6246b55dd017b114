/** Shows the files of a new stream on their way to the server, in every step. */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconMusic,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconVideo,
  IconX,
  type TablerIcon,
} from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Upload } from '../../../service/client/index.ts';
import { quote } from '../../lib/isolate.ts';
import { Name } from '../../ui/name.tsx';
import { Bar } from '../../ui/page.tsx';
import { Poster } from '../../ui/poster.tsx';
import { useFiles, useSend, useSendings } from '../uploads/sending.tsx';
import { guessFileType } from '../uploads/text.ts';
import { computeFingerprint } from '../uploads/unfinished.ts';
import type { DraftFile } from './draft.ts';
import { describeFile, type FileState } from './fileState.ts';
import classes from './files.module.css';

/** Files that were not sent whole before the page was loaded anew. A file that this page has sent leaves the memory later. */
export const listCutOff = (account: ReturnType<typeof useFiles>) =>
  account?.memory.list().filter(({ objectID }) => account.sender.findFileID(objectID) === undefined) ?? [];

/** Each file’s state, and the uploads that the server has made of them meanwhile. */
export function useFileStates(
  files: readonly DraftFile[],
  uploads: readonly Upload[] | undefined,
  onBegun: (files: DraftFile[]) => void,
): FileState[] {
  const sendings = useSendings();
  const account = useFiles();
  const unfinished = listCutOff(account).map(({ objectID }) => objectID);
  const begun = files.map((file) => ({ ...file, objectID: account?.sender.findObjectID(file.id) ?? file.objectID }));
  const isNews = begun.some(({ objectID }, at) => objectID !== files[at]?.objectID);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the files themselves are new with each rendering.
  useEffect(() => {
    if (isNews) onBegun(begun);
  }, [isNews]);
  return begun.map((file) =>
    describeFile(file, {
      sending: sendings.find(({ id }) => id === file.id),
      upload: uploads && (uploads.find(({ objectID }) => objectID === file.objectID) ?? null),
      isUnfinished: unfinished.includes(file.objectID),
    }),
  );
}

export const toDraftFile = (file: File): DraftFile => ({
  id: computeFingerprint(file),
  name: file.name,
  type: guessFileType(file),
  objectID: '',
});

interface ActProps {
  label: string;
  icon: TablerIcon;
  onClick: () => void;
}

const Act = ({ label, icon: Icon, onClick }: ActProps) => (
  <Tooltip label={label}>
    <ActionIcon aria-label={label} onClick={onClick}>
      <Icon size={18} stroke={1.7} aria-hidden />
    </ActionIcon>
  </Tooltip>
);

const LOOKS: Partial<Record<FileState['state'], TablerIcon>> = {
  cut: IconAlertTriangle,
  failed: IconAlertTriangle,
  gone: IconAlertTriangle,
  sent: IconCircleCheck,
};

interface FileLineProps {
  file: Pick<DraftFile, 'id' | 'name' | 'type'>;
  state: FileState;
  /** Where the file can be taken out again. */
  onRemove?: (() => void) | undefined;
}

/** Opens the picker for a file whose first part was sent before the page was loaded anew. Another file would be one more upload. */
function ChooseAgain({ id, name }: Pick<DraftFile, 'id' | 'name'>) {
  const send = useSend();
  const picker = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState<string>();
  const take = (input: HTMLInputElement) => {
    const [chosen] = input.files ?? [];
    input.value = '';
    if (!chosen) return;
    // A file that was cut off is known by a key with its fingerprint in it.
    if (id.includes(computeFingerprint(chosen))) return send([chosen]);
    setWrong(
      chosen.name === name
        ? 'This file was changed since. Choose it as it was, or remove it here and add it anew.'
        : `${quote(chosen.name)} is another file. Choose ${quote(name)}.`,
    );
  };
  return (
    <>
      {wrong && (
        <p className={classes.wrong} role="alert">
          {wrong}
        </p>
      )}
      <Button size="compact-sm" variant="default" onClick={() => picker.current?.click()}>
        Choose file
      </Button>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label="The same file"
        onChange={({ currentTarget }) => take(currentTarget)}
      />
    </>
  );
}

export function FileLine({ file: { id, name, type }, state: found, onRemove }: FileLineProps) {
  const { state, text, fix, progress, posterUrl } = found;
  const sender = useFiles()?.sender;
  const isSending = useSendings().some((one) => one.id === id);
  const Icon = LOOKS[state] ?? (type === 'AUDIO' ? IconMusic : IconVideo);
  return (
    <li className={classes.file} data-state={state} data-testid="draft-file">
      {posterUrl ? <Poster url={posterUrl} kind={type} size="small" /> : <Icon size={20} stroke={1.6} aria-hidden />}
      <div>
        <p className={classes.name}>
          <Name>{name}</Name>
        </p>
        <p role={state === 'failed' || state === 'cut' ? 'alert' : undefined}>{text}</p>
        {fix && <p>{fix}</p>}
        {progress !== undefined && <Bar value={progress} label={`Sent of ${name}`} />}
      </div>
      <div className={classes.acts}>
        {state === 'sending' && (
          <Act label={`Pause ${name}`} icon={IconPlayerPause} onClick={() => sender?.pause(id)} />
        )}
        {state === 'paused' && (
          <Act label={`Go on with ${name}`} icon={IconPlayerPlay} onClick={() => sender?.resume(id)} />
        )}
        {state === 'failed' && isSending && (
          <Act label={`Try again: ${name}`} icon={IconRefresh} onClick={() => sender?.resume(id)} />
        )}
        {state === 'cut' && <ChooseAgain id={id} name={name} />}
        {onRemove && <Act label={`Remove ${name}`} icon={IconX} onClick={onRemove} />}
      </div>
    </li>
  );
}

interface FileLinesProps {
  files: readonly DraftFile[];
  states: readonly FileState[];
  onRemove?: (file: DraftFile) => void;
}

export const FileLines = ({ files, states, onRemove }: FileLinesProps) => (
  <ul className={classes.files} aria-label="Files of the stream">
    {files.map((file, at) => {
      const state = states[at];
      return (
        state && <FileLine key={file.id} file={file} state={state} onRemove={onRemove && (() => onRemove(file))} />
      );
    })}
  </ul>
);
