import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog, DialogActions } from './dialog.tsx';
import classes from './form.module.css';

interface ConfirmProps {
  title: string;
  /** Says what the act means. */
  children: ReactNode;
  /** The label of the button that does it, and of the one that does not. */
  yes: string;
  no: string;
  onYes: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be taken back at once. */
export function Confirm({ title, children, yes, no, onYes, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={classes.explanation}>{children}</div>
      <DialogActions>
        <Button variant="default" onClick={onClose} data-autofocus>
          {no}
        </Button>
        <Button
          onClick={() => {
            onClose();
            onYes();
          }}
        >
          {yes}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
