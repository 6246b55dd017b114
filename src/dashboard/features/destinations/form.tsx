/** A destination made or changed. Its key goes in and never comes out: all that is shown of it later is how it ends. */
import { PasswordInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconExternalLink } from '@tabler/icons-react';
import { useState } from 'react';
import { tidyKey, tidyUrl } from '../../../core/lib/pasted.ts';
import type { Destination, DestinationChange, DestinationUpdate } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { quote } from '../../lib/isolate.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { useTriedSubmit } from '../../ui/useTriedSubmit.ts';
import { Named } from '../references/named.tsx';
import { AddressField } from './address.tsx';
import {
  buildViewersValues,
  type DestinationValues,
  FIELDS,
  findAddressKeyNeed,
  findAddressMistake,
  findChanges,
  findLeastBitrateChange,
  findLeastBitrateMistake,
  findPlatformChange,
  nameMistakes,
  showLeastBitrate,
  VIEWERS_FIELDS,
  validateViewers,
} from './formValues.ts';
import { LeastBitrateField } from './leastBitrate.tsx';
import { LoginFields } from './login.tsx';
import { PlatformIcon } from './platform.tsx';
import { findPreset, PRESETS, type Preset, type PresetId, presetById } from './presets.ts';
import { ViewersFields } from './viewersFields.tsx';

const LABELS = {
  name: 'Name',
  rtmpUrl: 'Address',
  leastBitrateKbps: 'Least bitrate',
  viewersAt: 'Where viewers see it',
  watchUrl: 'Address that viewers open',
  channel: 'Twitch channel',
  videoId: 'Video that viewers open',
  repairs: 'Start a new broadcast',
};
const SENT_FIELDS = [...FIELDS, 'leastBitrateKbps', ...Object.keys(VIEWERS_FIELDS)];
type DestinationFormState = UseFormReturnType<DestinationValues>;

export const PLATFORM_CHOICES = PRESETS.map(({ id, label }) => ({ value: id, label, icon: <PlatformIcon id={id} /> }));

export const missing = (what: string) => (value: string) => (value.trim() === '' ? `Enter ${what}.` : null);

export function StreamKey({
  form,
  preset,
  before,
}: {
  form: DestinationFormState;
  preset: Preset;
  before: Destination | undefined;
}) {
  const currentKey = before?.rtmpKeyHint ? `the key that ends in ${before.rtmpKeyHint}` : 'the current key';
  const description =
    findAddressKeyNeed(form.values.rtmpUrl) === 'required'
      ? 'Kept secret. The key is never shown again to anyone.'
      : 'Kept secret. With this address it may stay empty.';
  return (
    <div>
      <PasswordInput
        label={before ? 'New stream key' : 'Stream key'}
        description={before ? `Leave it empty to keep ${currentKey}.` : description}
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
export function usePreset(form: DestinationFormState, before: Destination | undefined) {
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

export const isKeyMissed = ({ rtmpUrl, rtmpKey }: DestinationValues): boolean =>
  tidyKey(rtmpKey) === '' && findAddressKeyNeed(rtmpUrl) === 'optional';

interface Answers {
  onYes: () => void;
  onClose: () => void;
}

export const KeyQuestion = (answers: Answers) => (
  <Confirm title="Add it without a stream key?" yes="Add without a key" no="Enter the key" {...answers}>
    Some servers take the whole address as the name of the stream, and need no key. If yours gave you a key, enter it:
    without one, viewers may see nothing.
  </Confirm>
);

interface InterruptQuestionProps extends Answers {
  destination: string;
  streamIDs: readonly string[];
}

const MOST_NAMES = 3;

function InterruptQuestion({ destination, streamIDs, ...answers }: InterruptQuestionProps) {
  const named = streamIDs.slice(0, MOST_NAMES).map((id) => `"${id}"`);
  const all = streamIDs.length > MOST_NAMES ? [...named, 'others'] : named;
  return (
    <Confirm title={`Change ${quote(destination)} on air?`} yes="Save" no="Keep it as it is" {...answers}>
      <Named>{`${listNames(all)} ${all.length === 1 ? 'is' : 'are'} on air here.`}</Named> Saving ends the broadcast at
      the old address and key, and connects to the new ones. If these do not work, viewers see nothing until they do.
    </Confirm>
  );
}

const listNames = (names: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(names);

const GONE = 'This destination was deleted elsewhere. To get it back, add a new one: your input is still here to copy.';

interface DestinationFormProps {
  /** The one to change; a new one is made without. */
  before?: Destination;
  /** That one has been deleted elsewhere meanwhile. */
  isGone?: boolean;
  onClose: () => void;
  onDone: (destination: Destination) => unknown;
}

const findAllChanges = (values: DestinationValues, before: Destination | undefined) => ({
  ...findChanges(values, before),
  ...findLeastBitrateChange(values, before),
  ...findPlatformChange(values, before),
});

export function DestinationForm({ before, isGone = false, onClose, onDone }: DestinationFormProps) {
  const { destinations } = useApi().calls;
  const [first] = PRESETS;
  const { form, forgetBefore, elsewhere } = useDraftForm<DestinationValues>({
    name: `destination ${before?.id ?? ''}`,
    secrets: ['rtmpKey', 'rtmpUser', 'rtmpPassword', 'endLogin', 'refreshToken', 'endToken'],
    initialValues: {
      name: before?.name ?? first?.label ?? '',
      rtmpUrl: before?.rtmpUrl ?? first?.rtmpUrl ?? '',
      rtmpKey: '',
      rtmpUser: '',
      rtmpPassword: '',
      endLogin: false,
      leastBitrateKbps: showLeastBitrate(before),
      ...buildViewersValues(before?.platform ?? null),
    },
    validateInputOnBlur: ['rtmpUrl'],
    validate: {
      name: missing('a name'),
      rtmpUrl: (url) => findAddressMistake(url, before?.rtmpUrl),
      rtmpKey: (key, { rtmpUrl }) =>
        before || findAddressKeyNeed(rtmpUrl) !== 'required' ? null : missing('the stream key')(key),
      leastBitrateKbps: findLeastBitrateMistake,
      ...validateViewers(before),
    },
  });
  const [preset, choose] = usePreset(form, before);
  const finish = forgetBefore(onDone);
  const creation = useSubmit<DestinationValues, Destination>({
    send: (values, idempotencyKey) => {
      const { name, rtmpUrl, rtmpKey } = values;
      const given = { name, rtmpUrl, rtmpKey, ...findAllChanges(values, undefined) };
      return destinations.create(given, { idempotencyKey });
    },
    fields: SENT_FIELDS,
    onMistakes: (mistakes) => form.setErrors(nameMistakes(mistakes)),
    onDone: finish,
  });
  const change = useTriedSubmit<DestinationUpdate, DestinationChange>({
    send: (changes, call) => destinations.update(before?.id ?? '', changes, call),
    asks: ({ streamIDs }) => streamIDs.length > 0,
    fields: SENT_FIELDS,
    onMistakes: (mistakes) => form.setErrors(nameMistakes(mistakes)),
    onDone: finish,
  });
  const [keyless, setKeyless] = useState<DestinationValues>();
  const save = (values: DestinationValues) => {
    if (!before) return isKeyMissed(values) ? setKeyless(values) : creation.submit(values);
    const changes = findAllChanges(values, before);
    return Object.keys(changes).length === 0 ? finish(before) : change.submit(changes);
  };
  const { question } = change;
  const problem = before ? change.problem : creation.problem;
  const isBusy = creation.busy || change.busy;
  const cancel = forgetBefore(onClose);
  const moved = before && tidyUrl(form.values.rtmpUrl) !== before.rtmpUrl && form.values.rtmpKey.trim() === '';
  return (
    <>
      <Dialog title={before ? 'Change destination' : 'New destination'} onClose={cancel} busy={isBusy}>
        <form className={forms.form} onSubmit={form.onSubmit((values) => void save(values))} noValidate>
          <Choices legend="Platform" name="platform" choices={PLATFORM_CHOICES} value={preset.id} onChange={choose} />
          {preset.note && <p className={forms.help}>{preset.note}</p>}
          <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
          <AddressField form={form} />
          <StreamKey form={form} preset={preset} before={before} />
          <LoginFields form={form} hasLogin={before?.hasLogin ?? false} />
          <LeastBitrateField form={form} />
          <ViewersFields form={form} before={before} />
          {moved && (
            <p className={forms.help} role="status">
              The address has changed. If its key has changed too, enter the new key as well.
            </p>
          )}
          <ChangedElsewhere fields={elsewhere} labels={LABELS} />
          <FormEnd problem={isGone ? GONE : problem} busy={isBusy} onCancel={cancel}>
            {before ? 'Save' : 'Add destination'}
          </FormEnd>
        </form>
      </Dialog>
      {keyless && (
        <KeyQuestion
          onYes={() => {
            setKeyless(undefined);
            creation.submit(keyless);
          }}
          onClose={() => setKeyless(undefined)}
        />
      )}
      {before && question && (
        <InterruptQuestion
          destination={before.name}
          streamIDs={question.change.streamIDs}
          onYes={() => change.answer(question.values)}
          onClose={change.dismiss}
        />
      )}
    </>
  );
}
