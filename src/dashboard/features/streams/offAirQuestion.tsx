/** Asks before an edit ends a broadcast. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';

interface OffAirQuestionProps {
  title: string;
  /** Says what ends, and when the stream is back. */
  children: ReactNode;
  /** The label of the button that leaves the stream on air. */
  keep: string;
  onKeep: () => void;
  onSave: () => void;
  onClose: () => void;
}

export function OffAirQuestion({ title, children, keep, onKeep, onSave, onClose }: OffAirQuestionProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p className={forms.explanation}>{children}</p>
      <DialogActions>
        <Button variant="default" onClick={onKeep} data-autofocus>
          {keep}
        </Button>
        <Button variant="danger" onClick={onSave} data-testid="off-air-save">
          Save
        </Button>
      </DialogActions>
    </Dialog>
  );
}
