/** A destination made or changed. Its key goes in and never comes out: all that is shown of it later is how it ends. */
import { PasswordInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconExternalLink } from '@tabler/icons-react';
import { useState } from 'react';
import type { Destination } from '../../../client/index.ts';
import { tidyUrl } from '../../../lib/pasted.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { type DestinationValues, FIELDS, findChanges, mayLackKey } from './formValues.ts';
import { LoginFields } from './login.tsx';
import { PlatformIcon } from './platform.tsx';
import { findPreset, PRESETS, type Preset, type PresetId, presetById } from './presets.ts';

const LABELS = { name: 'Name', rtmpUrl: 'Address' };
type DestinationFormState = UseFormReturnType<DestinationValues>;

const CHOICES = PRESETS.map(({ id, label }) => ({ value: id, label, icon: <PlatformIcon id={id} /> }));

const missing = (what: string) => (value: string) => (value.trim() === '' ? `Enter ${what}.` : null);

function KeyField({
  form,
  preset,
  before,
}: {
  form: DestinationFormState;
  preset: Preset;
  before: Destination | undefined;
}) {
  const currentKey = before?.rtmpKeyHint ? `the key that ends in ${before.rtmpKeyHint}` : 'the current key';
  return (
    <div>
      <PasswordInput
        label={before ? 'New stream key' : 'Stream key'}
        description={
          before ? `Leave it empty to keep ${currentKey}.` : 'Kept secret. The key is never shown again to anyone.'
        }
        autoComplete="off"
        spellCheck={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
        // Mantine's own says nothing of it to screen readers.
        aria-invalid={form.errors.rtmpKey ? true : undefined}
        {...form.getInputProps('rtmpKey')}
      />
      <p className={forms.hint}>
        {preset.keyHelp}{' '}
        {preset.keysUrl && (
          <a href={preset.keysUrl} target="_blank" rel="noreferrer">
            Open {preset.label} <IconExternalLink size={13} aria-label="in a new tab" />
          </a>
        )}
      </p>
    </div>
  );
}

/** Choosing a platform fills in its address, and a name where none was given. */
function usePreset(form: DestinationFormState, before: Destination | undefined) {
  const [chosen, setChosen] = useState<PresetId>();
  const { id } = chosen ? presetById(chosen) : findPreset(form.values.rtmpUrl);
  const choose = (next: PresetId) => {
    const [old, preset] = [presetById(id), presetById(next)];
    const { name } = form.getValues();
    setChosen(next);
    form.setFieldValue('rtmpUrl', preset.rtmpUrl);
    form.clearFieldError('rtmpUrl');
    if (!before && (name === '' || name === old.label))
      form.setFieldValue('name', next === 'custom' ? '' : preset.label);
  };
  return [presetById(id), choose] as const;
}

const GONE = 'This destination was deleted elsewhere. To get it back, add a new one: your input is still here to copy.';

interface DestinationFormProps {
  /** The one to change; a new one is made without. */
  before?: Destination;
  /** That one has been deleted elsewhere meanwhile. */
  isGone?: boolean;
  onClose: () => void;
  onDone: (destination: Destination) => unknown;
}

export function DestinationForm({ before, isGone = false, onClose, onDone }: DestinationFormProps) {
  const { destinations } = useApi().calls;
  const [first] = PRESETS;
  const { form, forget, elsewhere } = useDraftForm<DestinationValues>({
    name: `destination ${before?.id ?? ''}`,
    secrets: ['rtmpKey', 'rtmpUser', 'rtmpPassword', 'endLogin'],
    initialValues: {
      name: before?.name ?? first?.label ?? '',
      rtmpUrl: before?.rtmpUrl ?? first?.rtmpUrl ?? '',
      rtmpKey: '',
      rtmpUser: '',
      rtmpPassword: '',
      endLogin: false,
    },
    validate: {
      name: missing('a name'),
      rtmpUrl: missing('the destination’s address'),
      rtmpKey: (key, { rtmpUrl }) => (before || mayLackKey(rtmpUrl) ? null : missing('the stream key')(key)),
    },
  });
  const [preset, choose] = usePreset(form, before);
  const { submit, busy, problem } = useSubmit<DestinationValues, Destination>({
    send: (values, idempotencyKey) => {
      const changes = findChanges(values, before);
      if (!before) {
        const { name, rtmpUrl, rtmpKey } = values;
        return destinations.create({ name, rtmpUrl, rtmpKey, ...changes }, { idempotencyKey });
      }
      return Object.keys(changes).length === 0 ? Promise.resolve(before) : destinations.update(before.id, changes);
    },
    fields: FIELDS,
    onMistakes: form.setErrors,
    onDone: (destination) => {
      forget();
      return onDone(destination);
    },
  });
  const cancel = () => {
    forget();
    onClose();
  };
  const moved = before && tidyUrl(form.values.rtmpUrl) !== before.rtmpUrl && form.values.rtmpKey.trim() === '';
  return (
    <Dialog title={before ? 'Change destination' : 'New destination'} onClose={cancel} busy={busy}>
      <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
        <Choices legend="Platform" name="platform" choices={CHOICES} value={preset.id} onChange={choose} />
        {preset.note && <p className={forms.help}>{preset.note}</p>}
        <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
        <TextInput
          label="Address (RTMP, RTMPS or SRT)"
          placeholder="rtmp://host/app"
          autoComplete="off"
          spellCheck={false}
          inputMode="url"
          {...form.getInputProps('rtmpUrl')}
        />
        <KeyField form={form} preset={preset} before={before} />
        <LoginFields form={form} hasLogin={before?.hasLogin ?? false} />
        {moved && (
          <p className={forms.help} role="status">
            The address has changed. If its key has changed too, enter the new key as well.
          </p>
        )}
        <ChangedElsewhere fields={elsewhere} labels={LABELS} />
        <FormEnd problem={isGone ? GONE : problem} busy={busy} onCancel={cancel}>
          {before ? 'Save' : 'Add destination'}
        </FormEnd>
      </form>
    </Dialog>
  );
}
