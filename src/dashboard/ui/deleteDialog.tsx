import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';
import { ProblemError } from '../../service/client/index.ts';
import { problemText } from '../api/problem.ts';
import { Dialog, DialogActions } from './dialog.tsx';
import classes from './form.module.css';
import { Name } from './name.tsx';

interface DeleteProps {
  /** The kind of thing, e.g. `upload`. */
  noun: string;
  name: string;
  /** Says what the deletion means. */
  children: ReactNode;
  /** Lists the things that still need it, where the server says `…_in_use`. */
  holders?: (error: ProblemError) => ReactNode;
  remove: () => Promise<unknown>;
  onClose: () => void;
  onDone: () => void;
}

export const isMissing = (error: unknown): boolean => error instanceof ProblemError && error.status === 404;

/** Asks before something is deleted for good, and says what still needs it. */
export function DeleteDialog({ noun, name, children, holders, remove, onClose, onDone }: DeleteProps) {
  const asked = useRef(false);
  const { mutate, error, isPending } = useMutation({
    // A thing that somebody else has deleted counts as deleted.
    mutationFn: () => remove().catch((failure: unknown) => (isMissing(failure) ? undefined : Promise.reject(failure))),
    onSuccess: onDone,
    onSettled: () => {
      asked.current = false;
    },
  });
  const once = () => {
    if (asked.current) return;
    asked.current = true;
    mutate();
  };
  const held = error instanceof ProblemError && error.code.endsWith('_in_use') ? holders?.(error) : undefined;
  return (
    <Dialog title={`Delete this ${noun}?`} onClose={onClose} busy={isPending}>
      <p className={classes.subject}>
        <Name>{name}</Name>
      </p>
      <p className={classes.explanation}>{children}</p>
      {error && (
        <div className={classes.problem} role="alert">
          {held ?? problemText(error)}
        </div>
      )}
      <DialogActions>
        <Button variant="default" onClick={onClose} disabled={isPending} data-autofocus>
          Keep it
        </Button>
        <Button variant="danger" onClick={once} loading={isPending}>
          Delete {noun}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
