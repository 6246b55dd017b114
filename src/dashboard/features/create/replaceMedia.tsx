/** Gives a stream that was just made other media: the first step once more, in a dialog. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { useChoices } from '../streams/choices.ts';
import { EMPTY_DRAFT, type NewStream } from './draft.ts';
import { findFilesProblem } from './fileState.ts';
import { useFileStates } from './files.tsx';
import { makePlaylists } from './makePlaylists.ts';
import { MediaStep } from './media.tsx';
import { findMedia, listPlannedPlaylists } from './steps.ts';

export function ReplaceMedia({ stream, onClose }: { stream: Stream; onClose: () => void }) {
  const { calls } = useApi();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<NewStream>({ ...EMPTY_DRAFT, name: stream.name });
  const [isChosen, setChosen] = useState(false);
  const change = useCallback((more: Partial<NewStream>) => setDraft((before) => ({ ...before, ...more })), []);
  const choices = useChoices();
  const before = choices.uploads?.find(({ objectID }) => objectID === stream.videoUploadObjectID);
  const states = useFileStates(draft.files, choices.uploads, (files) => change({ files }));
  const replace = useMutation({
    mutationFn: async (wanted: NewStream) => {
      const made = await makePlaylists(wanted, listPlannedPlaylists(wanted), calls.playlists);
      await calls.streams.update(stream.id, findMedia(wanted, made));
      // A file that never arrived is of no use, unless something else names it: then the server keeps it.
      if (before?.error && before.durationSeconds === null)
        await calls.uploads.delete(before.objectID).catch(() => undefined);
    },
    onSuccess: onClose,
    onError: () => setChosen(false),
    onSettled: () => queries.invalidateQueries(),
  });
  const isKnown = draft.source !== 'file' || findFilesProblem(states, draft.files) === undefined;
  const { mutate, isPending } = replace;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is sent once, when the server knows the files.
  useEffect(() => {
    if (isChosen && isKnown && !isPending) mutate(draft);
  }, [isChosen, isKnown]);
  return (
    <Dialog title="Replace the file" onClose={onClose} busy={isPending} wide>
      <MediaStep
        draft={draft}
        change={change}
        choices={choices}
        states={states}
        next="Use it"
        onNext={() => setChosen(true)}
      />
      {replace.error && (
        <p className={forms.problem} role="alert">
          {problemText(replace.error)}
        </p>
      )}
    </Dialog>
  );
}
