import { CloseButton } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useId, useLayoutEffect, useRef } from 'react';
import classes from './dialog.module.css';

interface DialogProps {
  title: string;
  children: ReactNode;
  onClose: () => void;
  /** A request runs: the dialog stays until it ends. */
  busy?: boolean;
  wide?: boolean;
}

/**
 * The browser's own dialog (HTML, section 4.11.4): what is behind it cannot be reached, Escape closes it, and the focus goes
 * back to where it was. It is open as long as it is rendered. Mantine's would add a style element to keep the page behind it
 * from scrolling, which the Content-Security-Policy forbids.
 */
export function Dialog({ title, children, onClose, busy = false, wide = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    const first =
      dialog?.querySelector<HTMLElement>('[data-autofocus]') ??
      dialog?.querySelector<HTMLElement>('input:not([type="radio"]), input:checked');
    // Without one, what it is about is read first, and not how it is closed.
    (first ?? dialog?.querySelector<HTMLElement>('h2'))?.focus();
    return () => dialog?.close();
  }, []);
  const cancel = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!busy) onClose();
  };
  // A browser may close it without asking, when Escape is pressed again and again.
  const closed = () => {
    if (ref.current?.isConnected && !ref.current.open) onClose();
  };
  return (
    <dialog
      ref={ref}
      className={classes.dialog}
      data-wide={wide || undefined}
      aria-labelledby={titleId}
      onCancel={cancel}
      onClose={closed}
    >
      <div className={classes.head}>
        <h2 id={titleId} tabIndex={-1}>
          {title}
        </h2>
        <CloseButton aria-label="Close" onClick={onClose} disabled={busy} />
      </div>
      {children}
    </dialog>
  );
}

interface DialogActionsProps {
  children: ReactNode;
  /** Stands above the buttons. */
  before?: ReactNode;
}

/** The buttons at the end of a dialog, the one that does it last. They stay in sight while a long dialog scrolls. */
export const DialogActions = ({ children, before }: DialogActionsProps) => (
  <div className={classes.foot}>
    {before}
    <div className={classes.actions}>{children}</div>
  </div>
);
