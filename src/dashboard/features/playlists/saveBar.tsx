import { Button } from '@mantine/core';
import classes from './playlists.module.css';
import type { PlaylistActs } from './useActions.ts';
import type { Editing } from './useEditing.ts';

/** Stays in sight while there are changes that are not saved. */
export function SaveBar({ editing, acts }: { editing: Editing; acts: PlaylistActs }) {
  const { update, conflict, draft } = editing;
  const { saving, problem } = acts;
  if (!update) return null;
  const off = conflict !== undefined || draft.name.trim() === '';
  return (
    <section className={classes.saveBar} aria-label="Unsaved changes">
      <p>{problem ? <span role="alert">{problem}</span> : 'Your changes are not saved yet.'}</p>
      <div className={classes.buttons}>
        <Button variant="subtle" onClick={acts.discard} disabled={saving}>
          Discard
        </Button>
        <Button variant="default" onClick={acts.save} disabled={off || saving}>
          Save
        </Button>
        <Button onClick={acts.saveAndPublish} disabled={off || draft.entries.length === 0} loading={saving}>
          Save and publish
        </Button>
      </div>
    </section>
  );
}
