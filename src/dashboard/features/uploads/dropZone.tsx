import { Button } from '@mantine/core';
import { IconCloudUpload } from '@tabler/icons-react';
import { type DragEvent, type RefObject, useRef, useState } from 'react';
import page from '../../ui/page.module.css';
import classes from './uploads.module.css';

/** The picker offers these. A file of another kind can be chosen too, and the server judges it. */
const ACCEPTED = 'video/*,audio/*,image/*,.mkv,.ts,.flv,.mov,.mp4,.m4a,.mp3,.wav';

const holdsFiles = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files');

interface DropProps {
  /** So that others can open the picker. */
  picker: RefObject<HTMLInputElement | null>;
  onFiles: (files: File[]) => void;
}

/** Takes files that are dropped on it, or opens the browser's choice of files. */
export function DropZone({ picker, onFiles }: DropProps) {
  const [over, setOver] = useState(false);
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
  const drop = (event: DragEvent) => {
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    onFiles([...event.dataTransfer.files]);
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
        <strong>{over ? 'Drop to send' : 'Drop video or audio files here'}</strong>
      </p>
      <Button variant="default" onClick={() => picker.current?.click()}>
        Choose files
      </Button>
      <p className={page.dim}>You can pause sending. It continues after a lost connection.</p>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        accept={ACCEPTED}
        aria-label="Files to send"
        data-testid="file-input"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // The same file may be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </section>
  );
}
