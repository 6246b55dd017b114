import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { type Playlist, problems } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { quote } from '../../lib/isolate.ts';
import { findFieldErrors } from '../../ui/fieldErrors.ts';
import { usePlaylistMutations } from './queries.ts';
import { notifyRestored, RESTORED } from './restored.tsx';
import type { Editing } from './useEditing.ts';

export type PlaylistActs = ReturnType<typeof useActions>;

const refused = (title: string) => (error: unknown) =>
  notifications.show({ color: 'red', autoClose: 12_000, withBorder: true, title, message: problemText(error) });

/** Saving, publishing and restoring, with the questions before them. */
export function useActions(playlist: Playlist, editing: Editing, refetch: () => unknown) {
  const { save, publish, rollback, isActing } = usePlaylistMutations(playlist.id);
  const [asked, setAsked] = useState<number>();
  // Its button asks a question on this page.
  useEffect(() => () => void notifications.hide(RESTORED), []);
  const announce = (after: Playlist, title: string) =>
    notifications.show({ title, message: `${quote(after.name)} is at version ${after.version} now.` });
  const publishNow = (version: number) =>
    !isActing() && publish.mutate(version, { onError: refused(`Version ${version} was not published`) });
  // Nobody notices a change that no stream plays, so there is nothing to ask then.
  const askToPublish = (version: number) => (playlist.streamID === '' ? publishNow(version) : setAsked(version));
  const saveThen = (then: (after: Playlist) => void) => {
    const { update, draft } = editing;
    if (!update || isActing()) return;
    save.mutate(update.name === undefined ? update : { ...update, name: draft.name.trim() }, {
      onSuccess: (after) => {
        editing.discard();
        then(after);
      },
      onError: (error) => {
        if (error instanceof problems.PlaylistVersionConflict) void refetch();
      },
    });
  };
  const isConflict = save.error instanceof problems.PlaylistVersionConflict;
  const mistakes = save.error && !isConflict ? findFieldErrors(save.error, ['name']) : undefined;
  return {
    asked,
    answer: () => setAsked(undefined),
    publishNow,
    askToPublish,
    discard: () => {
      save.reset();
      editing.discard();
    },
    save: () => saveThen((after) => announce(after, 'Saved')),
    saveAndPublish: () => saveThen(({ version }) => askToPublish(version)),
    rollback: (version: number) =>
      !isActing() &&
      rollback.mutate(version, {
        onSuccess: (after) => notifyRestored({ restored: version, after, publish: () => askToPublish(after.version) }),
        onError: refused(`Version ${version} was not restored`),
      }),
    saving: save.isPending,
    busy: save.isPending || publish.isPending || rollback.isPending,
    nameError: editing.draft.name.trim() === '' ? 'Enter a name.' : mistakes?.fields.name,
    problem: mistakes?.rest,
  };
}
