import { Button } from '@mantine/core';
import { IconCloudUpload } from '@tabler/icons-react';
import { type DragEvent, type RefObject, useRef, useState } from 'react';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { judgeFiles, type RefusedFile } from './judgeFiles.ts';
import { readDropped } from './readDropped.ts';
import classes from './uploads.module.css';

/** The picker offers these. A file of another kind can be chosen too, and the server judges it. */
const ACCEPTED = 'video/*,audio/*,image/*,.mkv,.ts,.flv,.mov,.mp4,.m4a,.mp3,.wav';

const holdsFiles = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files');

interface DropProps {
  /** So that others can open the picker. */
  picker: RefObject<HTMLInputElement | null>;
  /** Gets files that may be media; the others are named here. */
  onFiles: (files: File[]) => void;
  /** Says what to drop. */
  title?: string;
  button?: string;
  hint?: string;
}

/** Takes files and folders that are dropped on it, or opens the browser's choice of files. */
export function DropZone({
  picker,
  onFiles,
  title = 'Drop video, audio or image files here',
  button = 'Choose files',
  hint = 'A PNG, JPEG or WebP becomes an image for overlays. To loop a picture, choose it in a new stream.',
}: DropProps) {
  const [over, setOver] = useState(false);
  const [refused, setRefused] = useState<RefusedFile[]>([]);
  // Counts entered elements: the browser reports children too.
  const depth = useRef(0);
  const enter = (event: DragEvent) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    depth.current += 1;
    setOver(true);
  };
  const leave = () => {
    depth.current = Math.max(0, depth.current - 1);
    if (depth.current === 0) setOver(false);
  };
  const take = (chosen: { accepted: File[]; refused: RefusedFile[] }) => {
    setRefused(chosen.refused);
    if (chosen.accepted.length > 0) onFiles(chosen.accepted);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    void readDropped(event.dataTransfer).then(take);
  };
  return (
    <section
      className={classes.drop}
      data-over={over || undefined}
      data-testid="drop"
      data-screen-only
      aria-label="Send files"
      onDragEnter={enter}
      onDragLeave={leave}
      onDragOver={(event) => holdsFiles(event) && event.preventDefault()}
      onDrop={drop}
    >
      <IconCloudUpload size={32} stroke={1.4} aria-hidden />
      <p className={classes.dropWords}>
        <strong>{over ? 'Drop to send' : title}</strong>
      </p>
      <Button variant="default" onClick={() => picker.current?.click()}>
        {button}
      </Button>
      <p className={page.dim}>{hint}</p>
      {refused.length > 0 && (
        <div className={classes.refused} role="alert">
          {refused.map(({ name, problem }) => (
            <p key={name}>
              “<Name>{name}</Name>”: {problem}
            </p>
          ))}
        </div>
      )}
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        accept={ACCEPTED}
        aria-label="Files to send"
        data-testid="file-input"
        onChange={(event) => {
          take(judgeFiles([...(event.currentTarget.files ?? [])]));
          // The same file may be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </section>
  );
}
