/** An upload from a link: the server fetches it, so that the page may be closed. */
import { TextInput } from '@mantine/core';
import { IconMusic, IconPhoto, IconVideo } from '@tabler/icons-react';
import { tidyUrl } from '../../../core/lib/pasted.ts';
import type { Upload, UploadFromLink } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';

interface LinkValues {
  type: Upload['type'];
  url: string;
  name: string;
}

const TYPES = [
  { value: 'VIDEO', label: 'Video', icon: <IconVideo size={22} stroke={1.6} aria-hidden /> },
  { value: 'AUDIO', label: 'Audio', icon: <IconMusic size={22} stroke={1.6} aria-hidden /> },
  { value: 'IMAGE', label: 'Image', icon: <IconPhoto size={22} stroke={1.6} aria-hidden /> },
] as const;

const buildBody = ({ type, url, name }: LinkValues): UploadFromLink => ({
  type,
  url: tidyUrl(url),
  ...(name.trim() !== '' && { name: name.trim() }),
});

export function LinkForm({ onClose, onDone }: { onClose: () => void; onDone: () => unknown }) {
  const { uploads } = useApi().calls;
  const { form, forgetBefore } = useDraftForm<LinkValues>({
    name: 'upload',
    initialValues: { type: 'VIDEO', url: '', name: '' },
    validate: { url: (value) => (tidyUrl(value) === '' ? 'Paste the link to the file.' : null) },
  });
  const { submit, busy, problem } = useSubmit({
    send: (values: LinkValues, idempotencyKey) => uploads.fromLink(buildBody(values), { idempotencyKey }),
    fields: ['url', 'name', 'type'],
    onMistakes: form.setErrors,
    onDone: forgetBefore(onDone),
  });
  const cancel = forgetBefore(onClose);
  return (
    <Dialog title="Add from a link" onClose={cancel} busy={busy}>
      <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
        <TextInput
          label="Link"
          description="A public address of the file itself, not of a page that plays it."
          placeholder="https://example.com/show.mp4"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...form.getInputProps('url')}
        />
        <Choices
          legend="Use it as"
          name="type"
          choices={TYPES}
          value={form.values.type}
          onChange={(type) => form.setFieldValue('type', type)}
        />
        <TextInput
          label="Name"
          description="Leave it empty to use the file’s name."
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <FormEnd problem={problem} busy={busy} onCancel={cancel}>
          Add upload
        </FormEnd>
      </form>
    </Dialog>
  );
}
