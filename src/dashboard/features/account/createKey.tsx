import { TextInput } from '@mantine/core';
import type { CreatedApiKey } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { ACCESS, EVER, type KeyAccess, listLives, pickLife, pickScopes, RIGHTS } from './keyChoices.ts';

interface KeyValues {
  name: string;
  access: KeyAccess;
  scopes: string[];
  labelSelector: string;
  life: string;
}

interface CreateKeyProps {
  /** The longest life that the account allows. */
  maxKeyDays: number | null;
  onClose: () => void;
  onMade: (key: CreatedApiKey) => void;
}

export function CreateKey({ maxKeyDays, onClose, onMade }: CreateKeyProps) {
  const { apiKeys } = useApi().calls;
  const { form, forgetBefore } = useDraftForm<KeyValues>({
    name: 'key',
    initialValues: { name: '', access: 'read', scopes: ['read'], labelSelector: '', life: pickLife(maxKeyDays) },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter the purpose of the key.' : null),
      scopes: (scopes, { access }) => (access === 'some' && scopes.length === 0 ? 'Choose at least one right.' : null),
    },
  });
  const { submit, busy, problem } = useSubmit<KeyValues, CreatedApiKey>({
    send: ({ name, access, scopes, labelSelector, life }) => {
      const picked = pickScopes(access, scopes);
      return apiKeys.create({
        name: name.trim(),
        ...(picked && { scopes: picked }),
        ...(labelSelector.trim() !== '' && { labelSelector: labelSelector.trim() }),
        ...(life !== EVER && { expiresInDays: Number(life) }),
      });
    },
    fields: ['name', 'scopes', 'labelSelector'],
    onMistakes: form.setErrors,
    onDone: forgetBefore(onMade),
  });
  const cancel = forgetBefore(onClose);
  const { access, scopes, life } = form.values;
  return (
    <Dialog title="New API key" onClose={cancel} busy={busy}>
      <form className={forms.form} aria-label="New API key" onSubmit={form.onSubmit(submit)} noValidate>
        <TextInput
          label="Name"
          description="Purpose of the key, so that you recognize it later."
          placeholder="Playout server"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Choices
          legend="Access"
          name="access"
          choices={ACCESS}
          value={access}
          onChange={(value) => form.setFieldValue('access', value)}
        />
        {access === 'some' && (
          <CheckboxList
            legend="Rights"
            name="scopes"
            ticks={RIGHTS}
            values={scopes}
            most={RIGHTS.length}
            onChange={(next) => {
              form.setFieldValue('scopes', next);
              form.clearFieldError('scopes');
            }}
            error={form.errors.scopes}
          />
        )}
        <TextInput
          label="Only objects with the labels (optional)"
          description="For one team or show alone. The key sees no other objects, no billing and no webhooks."
          placeholder="team=radio"
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('labelSelector')}
        />
        <Choices
          legend="Valid for"
          name="life"
          choices={listLives(maxKeyDays)}
          value={life}
          onChange={(value) => form.setFieldValue('life', value)}
        />
        {maxKeyDays !== null && <p className={forms.help}>Your account allows keys of at most {maxKeyDays} days.</p>}
        <FormEnd problem={problem} busy={busy} onCancel={cancel}>
          Create key
        </FormEnd>
      </form>
    </Dialog>
  );
}
