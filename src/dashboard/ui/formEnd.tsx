import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { DialogActions } from './dialog.tsx';
import forms from './form.module.css';

interface FormEndProps {
  /** The reason for the failure, where it belongs to no field. */
  problem: ReactNode;
  /** It is on its way. */
  busy: boolean;
  onCancel: () => void;
  /** The label of the button that sends the form. */
  children: ReactNode;
  /** Stands after that. */
  icon?: ReactNode;
  /** Sentences on the effects of sending it. */
  effects?: readonly string[];
}

/** The end of a form in a dialog: what went wrong as a whole, and the buttons. */
export function FormEnd({ problem, busy, onCancel, children, icon, effects = [] }: FormEndProps) {
  const before = (
    <>
      <div className={forms.effects} role="status">
        {effects.map((effect) => (
          <p key={effect}>{effect}</p>
        ))}
      </div>
      {problem && (
        <p className={forms.problem} role="alert">
          {problem}
        </p>
      )}
    </>
  );
  return (
    <DialogActions before={before}>
      <Button variant="default" onClick={onCancel} disabled={busy}>
        Cancel
      </Button>
      <Button type="submit" loading={busy} rightSection={icon}>
        {children}
      </Button>
    </DialogActions>
  );
}
