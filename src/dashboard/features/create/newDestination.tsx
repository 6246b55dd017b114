/** A destination made on the way to a stream needs its platform and its key alone. */
import { Button } from '@mantine/core';
import { useRef, useState } from 'react';
import type { Destination } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { Choices } from '../../ui/choices.tsx';
import forms from '../../ui/form.module.css';
import { useSubmit } from '../../ui/useSubmit.ts';
import { AddressField } from '../destinations/address.tsx';
import { isKeyMissed, KeyQuestion, missing, PLATFORM_CHOICES, StreamKey, usePreset } from '../destinations/form.tsx';
import {
  buildViewersValues,
  type DestinationValues,
  FIELDS,
  findAddressKeyNeed,
  findAddressMistake,
  findChanges,
} from '../destinations/formValues.ts';
import { LoginFields } from '../destinations/login.tsx';
import { PRESETS } from '../destinations/presets.ts';
import classes from './create.module.css';
import { nameDestination } from './nameDestination.ts';

interface NewDestinationProps {
  /** Names of the account's destinations. */
  taken: readonly string[];
  onBack: () => void;
  onDone: (destination: Destination) => unknown;
}

export function NewDestination({ taken, onBack, onDone }: NewDestinationProps) {
  const { destinations } = useApi().calls;
  const { form, forgetBefore } = useDraftForm<DestinationValues>({
    name: 'destination of a new stream',
    secrets: ['rtmpKey', 'rtmpUser', 'rtmpPassword', 'endLogin'],
    initialValues: {
      name: '',
      rtmpUrl: PRESETS[0]?.rtmpUrl ?? '',
      rtmpKey: '',
      rtmpUser: '',
      rtmpPassword: '',
      endLogin: false,
      leastBitrateKbps: '',
      ...buildViewersValues(null),
    },
    validateInputOnBlur: ['rtmpUrl'],
    validate: {
      rtmpUrl: (url) => findAddressMistake(url),
      rtmpKey: (key, { rtmpUrl }) =>
        findAddressKeyNeed(rtmpUrl) === 'required' ? missing('the stream key')(key) : null,
    },
  });
  const [preset, choose] = usePreset(form, undefined);
  const named = useRef<{ address: string; name: string }>(undefined);
  const { submit, busy, problem } = useSubmit<DestinationValues, Destination>({
    send: (values, idempotencyKey) => {
      const { rtmpUrl = '', rtmpKey = '', ...login } = findChanges(values, undefined);
      // Sent again after its answer was lost, it has the same name, which is taken by then.
      const address = `${preset.id} ${rtmpUrl}`;
      if (named.current?.address !== address)
        named.current = { address, name: nameDestination(preset, rtmpUrl, taken) };
      const { name } = named.current;
      return destinations.create({ ...login, name, rtmpUrl, rtmpKey }, { idempotencyKey });
    },
    fields: FIELDS.filter((field) => field !== 'name'),
    onMistakes: form.setErrors,
    onDone: forgetBefore(onDone),
  });
  const [keyless, setKeyless] = useState<DestinationValues>();
  const save = (values: DestinationValues) => (isKeyMissed(values) ? setKeyless(values) : submit(values));
  const isCustom = preset.id === 'custom';
  return (
    <>
      <form className={forms.form} onSubmit={form.onSubmit(save)} noValidate>
        <Choices legend="Platform" name="platform" choices={PLATFORM_CHOICES} value={preset.id} onChange={choose} />
        {preset.note && <p className={forms.help}>{preset.note}</p>}
        {(isCustom || form.errors.rtmpUrl) && <AddressField form={form} />}
        <StreamKey form={form} preset={preset} before={undefined} />
        {isCustom && <LoginFields form={form} hasLogin={false} />}
        {problem && (
          <p className={forms.problem} role="alert">
            {problem}
          </p>
        )}
        <div className={classes.buttons}>
          <Button variant="default" onClick={onBack} disabled={busy}>
            Back
          </Button>
          <Button type="submit" loading={busy}>
            Next
          </Button>
        </div>
      </form>
      {keyless && (
        <KeyQuestion
          onYes={() => {
            setKeyless(undefined);
            submit(keyless);
          }}
          onClose={() => setKeyless(undefined)}
        />
      )}
    </>
  );
}
