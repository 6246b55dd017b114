import { TextInput } from '@mantine/core';
import { IconArrowsShuffle, IconListNumbers, IconMusic, IconVideo } from '@tabler/icons-react';
import type { Playlist, PlaylistCreate } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { ClipChoice } from './picker.tsx';

interface NewPlaylistValues {
  name: string;
  kind: Playlist['kind'];
  mode: Playlist['mode'];
  items: string[];
}

const ICON = { size: 22, stroke: 1.6, 'aria-hidden': true } as const;
const KINDS = [
  { value: 'video', label: 'Video', hint: 'Pictures with their sound', icon: <IconVideo {...ICON} /> },
  { value: 'audio', label: 'Audio', hint: 'Sound over a stream’s pictures', icon: <IconMusic {...ICON} /> },
] as const;
export const MODES = [
  { value: 'sequential', label: 'In order', icon: <IconListNumbers {...ICON} /> },
  { value: 'shuffle', label: 'Shuffled', icon: <IconArrowsShuffle {...ICON} /> },
] as const;

const DELETED = 'One of the clips was deleted in the meantime. Choose the clips again.';

const buildBody = ({ name, kind, mode, items }: NewPlaylistValues): PlaylistCreate => ({
  name: name.trim(),
  kind,
  mode,
  items: items.map((uploadObjectID) => ({ uploadObjectID })),
});

export function CreateForm({ onClose, onDone }: { onClose: () => void; onDone: (playlist: Playlist) => unknown }) {
  const { playlists } = useApi().calls;
  const { form, forgetBefore } = useDraftForm<NewPlaylistValues>({
    name: 'playlist',
    initialValues: { name: '', kind: 'video', mode: 'sequential', items: [] },
    validate: { name: (value) => (value.trim() === '' ? 'Enter a name.' : null) },
  });
  const { submit, busy, problem } = useSubmit({
    send: (values: NewPlaylistValues, idempotencyKey) => playlists.create(buildBody(values), { idempotencyKey }),
    fields: ['name', 'items'],
    onMistakes: form.setErrors,
    onDone: forgetBefore(onDone),
  });
  const cancel = forgetBefore(onClose);
  const { kind, mode, items } = form.values;
  return (
    <Dialog title="New playlist" onClose={cancel} busy={busy} wide>
      <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
        <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <Choices
          legend="Kind"
          name="kind"
          choices={KINDS}
          value={kind}
          // Clips that were chosen for one kind may not do for the other.
          onChange={(next) => form.setValues({ kind: next, items: [] })}
        />
        <Choices
          legend="Order"
          name="mode"
          choices={MODES}
          value={mode}
          onChange={(next) => form.setFieldValue('mode', next)}
        />
        <ClipChoice kind={kind} chosen={items} onChange={(chosen) => form.setFieldValue('items', chosen)} />
        <FormEnd problem={form.errors.items ? DELETED : problem} busy={busy} onCancel={cancel}>
          Create playlist
        </FormEnd>
      </form>
    </Dialog>
  );
}
