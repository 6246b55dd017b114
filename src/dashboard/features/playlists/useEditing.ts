import { useEffect } from 'react';
import type { Playlist } from '../../../service/client/index.ts';
import { useDraft } from '../../lib/drafts/useDraft.ts';
import { type Base, buildUpdate, createDraft, isSavedAs, type PlaylistDraft, rebased, toBase } from './draft.ts';

export interface Editing {
  draft: PlaylistDraft;
  /** The changes to save; undefined when nothing is changed. */
  update: ReturnType<typeof buildUpdate>;
  /** The version that others have saved meanwhile, while there are changes of mine to an older one. */
  conflict: Base | undefined;
  edit: (draft: PlaylistDraft) => void;
  /** Away with my changes: they are saved, or not wanted. */
  discard: () => void;
  /** My changes to the version that others have saved. */
  rebase: () => void;
}

const isPlaylistDraft = (stored: unknown): stored is PlaylistDraft =>
  typeof stored === 'object' &&
  stored !== null &&
  'base' in stored &&
  'entries' in stored &&
  Array.isArray(stored.entries) &&
  // A draft may be of a version that edited no rules.
  'rules' in stored &&
  Array.isArray(stored.rules);

/**
 * Keeps the changes to a playlist until they are saved or discarded. Changes of others are adopted while there are none
 * of mine; then mine stay, with a notice.
 */
export function useEditing(playlist: Playlist): Editing {
  const {
    draft: mine,
    change,
    forget,
  } = useDraft(`playlist ${playlist.id}`, (stored) => (isPlaylistDraft(stored) ? stored : undefined));
  const theirs = toBase(playlist);
  const isDone = mine === undefined || buildUpdate(mine) === undefined || isSavedAs(mine, theirs);
  const draft = isDone ? createDraft(theirs) : mine;
  const update = buildUpdate(draft);
  useEffect(() => {
    if (mine !== undefined && update === undefined) forget();
  }, [mine, update, forget]);
  return {
    draft,
    update,
    edit: (next) => change(() => next),
    conflict: update && draft.base.version < theirs.version ? theirs : undefined,
    discard: () => change(() => undefined),
    rebase: () => change(() => rebased(draft, theirs)),
  };
}
