import { Button } from '@mantine/core';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import classes from './palette.module.css';
import { SHORTCUTS } from './shortcutKeys.ts';

export const ShortcutHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl className={classes.keys}>
      {SHORTCUTS.map(({ keys, does }) => (
        <div key={does}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <DialogActions>
      <Button variant="default" onClick={onClose} data-autofocus>
        Close
      </Button>
    </DialogActions>
  </Dialog>
);
