import { useEffect, useState } from 'react';
import type { Playlist } from '../../../client/index.ts';
import { useDrafts } from '../../lib/drafts/context.tsx';
import { type Base, baseOf, type Draft, draftOf, isSavedAs, rebased, updateOf } from './draft.ts';

export interface Editing {
  draft: Draft;
  /** What is to be saved; undefined when nothing is changed. */
  update: ReturnType<typeof updateOf>;
  /** The version that others have saved meanwhile, while there are changes of mine to an older one. */
  conflict: Base | undefined;
  edit: (draft: Draft) => void;
  /** Away with my changes: they are saved, or not wanted. */
  discard: () => void;
  /** My changes to the version that others have saved. */
  rebase: () => void;
}

const isDraft = (kept: unknown): kept is Draft =>
  typeof kept === 'object' && kept !== null && 'base' in kept && 'entries' in kept && Array.isArray(kept.entries);

/**
 * The changes to a playlist. What others save is taken up while there are none of mine; then mine stay, and it is told. They
 * are remembered until they are saved or discarded.
 */
export function useDraft(playlist: Playlist): Editing {
  const { id } = playlist;
  const { read, write } = useDrafts();
  const name = `playlist ${id}`;
  const [mine, setMine] = useState(() => {
    const kept = read(name);
    return isDraft(kept) ? kept : undefined;
  });
  const theirs = baseOf(playlist);
  const isDone = mine === undefined || updateOf(mine) === undefined || isSavedAs(mine, theirs);
  const draft = isDone ? draftOf(theirs) : mine;
  const update = updateOf(draft);
  useEffect(() => write(name, update ? draft : undefined), [name, draft, update, write]);
  return {
    ...{ draft, update, edit: setMine },
    conflict: update && draft.base.version < theirs.version ? theirs : undefined,
    discard: () => setMine(undefined),
    rebase: () => setMine(rebased(draft, theirs)),
  };
}
