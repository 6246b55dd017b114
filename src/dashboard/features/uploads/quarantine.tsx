/** Takes an upload off every list for a reason, and puts it back. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBan, IconPlayerTrackNext } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Upload } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatAgo } from '../../lib/format.ts';
import { quote } from '../../lib/isolate.ts';
import type { Act } from '../../ui/actMenu.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import page from '../../ui/page.module.css';
import { useSubmit } from '../../ui/useSubmit.ts';
import { useUploadsChanged } from './queries.ts';
import classes from './uploads.module.css';

/** Ends the quarantine of an upload. */
function useRelease({ objectID, name }: Upload) {
  const { calls } = useApi();
  const changed = useUploadsChanged();
  return useMutation({
    mutationFn: () => calls.uploads.release(objectID),
    onSuccess: changed,
    onError: (error) =>
      notifications.show({
        color: 'red',
        title: `${quote(name)} stays in quarantine`,
        message: problemText(error),
      }),
  });
}

/** Returns what the menu of an upload offers: no list plays an image. */
export function useQuarantineActs(upload: Upload, ask: () => void): Act[] {
  const { mutate } = useRelease(upload);
  if (upload.type === 'IMAGE') return [];
  return [
    upload.quarantine
      ? { label: 'End the quarantine', icon: IconPlayerTrackNext, run: () => mutate() }
      : { label: 'Put in quarantine…', icon: IconBan, run: ask },
  ];
}

/** Says why no stream plays the upload, and since when. */
export function InQuarantine({ upload, quarantine }: { upload: Upload; quarantine: Upload['quarantine'] & object }) {
  const now = useNow(false);
  const { mutate, isPending } = useRelease(upload);
  const { reason, since } = quarantine;
  return (
    <div className={classes.held} data-testid="quarantine">
      <p>{reason}</p>
      <p>
        No stream plays it, and playlists keep it as they are
        {since !== null && `: in quarantine ${formatAgo(new Date(since), new Date(now))}`}.
      </p>
      <Button variant="default" size="xs" loading={isPending} onClick={() => mutate()}>
        End the quarantine
      </Button>
    </div>
  );
}

interface QuarantineProps {
  upload: Upload;
  onClose: () => void;
  onDone: () => unknown;
}

/** Asks for the reason, and whether streams that play the upload go on at once. */
export function QuarantineDialog({ upload: { objectID, name }, onClose, onDone }: QuarantineProps) {
  const { calls } = useApi();
  const [reason, setReason] = useState('');
  const [cut, setCut] = useState(false);
  const [mistake, setMistake] = useState<string>();
  const { submit, busy, problem } = useSubmit<{ reason: string; cut: boolean }, unknown>({
    send: (wish, idempotencyKey) => calls.uploads.quarantine(objectID, wish, { idempotencyKey }),
    fields: ['reason'],
    onMistakes: (fields) => setMistake(fields.reason),
    onDone,
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    const given = reason.trim();
    if (given === '') return setMistake('Enter a reason, so that others know it.');
    submit({ reason: given, cut });
  };
  return (
    <Dialog title={`Put ${quote(name)} in quarantine`} onClose={onClose} busy={busy}>
      <form className={forms.form} onSubmit={send} noValidate>
        <p className={page.dim}>
          No stream plays it any more, and all playlists stay as they are. Ending the quarantine undoes it.
        </p>
        <TextInput
          label="Reason"
          placeholder="A copyright claim is being checked."
          autoComplete="off"
          maxLength={300}
          data-autofocus
          value={reason}
          error={mistake}
          onChange={(event) => {
            setReason(event.currentTarget.value);
            setMistake(undefined);
          }}
        />
        <Checkbox
          label="End it at once where it is on air"
          description="Otherwise it plays to its end. The stream stays connected in both cases."
          checked={cut}
          onChange={({ currentTarget }) => setCut(currentTarget.checked)}
        />
        <FormEnd problem={problem} busy={busy} onCancel={onClose}>
          Put in quarantine
        </FormEnd>
      </form>
    </Dialog>
  );
}
