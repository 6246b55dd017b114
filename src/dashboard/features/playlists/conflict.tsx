import { Button } from '@mantine/core';
import { Difference } from './differenceList.tsx';
import classes from './playlists.module.css';

interface ConflictProps {
  id: string;
  /** The version that my changes began with, and the newest one. */
  from: number;
  to: number;
  onKeep: () => void;
  onDiscard: () => void;
}

/** Somebody else, or another window, has saved a version meanwhile: shows its changes, and the choices for mine. */
export function Conflict({ id, from, to, onKeep, onDiscard }: ConflictProps) {
  return (
    <section className={classes.conflict} role="alert" data-testid="conflict">
      <h2>This playlist was changed elsewhere</h2>
      <p>
        Your changes are based on version {from}. Version {to} was saved since then. It made these changes:
      </p>
      <Difference id={id} from={from} to={to} />
      <div className={classes.buttons}>
        <Button onClick={onKeep}>Keep my changes on top of it</Button>
        <Button variant="default" onClick={onDiscard}>
          Discard my changes
        </Button>
      </div>
    </section>
  );
}
