/** Where viewers see the stream: an address, or a channel of a platform, which is then looked at. */
import { Checkbox, NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Destination } from '../../../service/client/index.ts';
import forms from '../../ui/form.module.css';
import { canRepair, type DestinationValues, type ViewersAt } from './formValues.ts';

const PLACES: readonly { value: ViewersAt; label: string }[] = [
  { value: 'nowhere', label: 'Not looked at' },
  { value: 'watch', label: 'At an address (HLS, HTTP-FLV, RTMP)' },
  { value: 'youtube', label: 'On YouTube' },
  { value: 'twitch', label: 'On Twitch' },
];

const HELP: Record<ViewersAt, string> = {
  nowhere:
    'A server that takes the stream is no proof that viewers see it. Choose where they do, and you are told when they see nothing.',
  watch: 'The address is opened as a player does. What it shows is compared with what is sent.',
  youtube: 'YouTube is asked whether the broadcast is live.',
  twitch: 'Twitch is asked whether the channel is live.',
};

interface ViewersFieldsProps {
  form: UseFormReturnType<DestinationValues>;
  before: Destination | undefined;
}

function YoutubeFields({ form, before }: ViewersFieldsProps) {
  const hasToken = before?.platform?.hasToken ?? false;
  const mayRepair = canRepair(form.values, before);
  return (
    <>
      <TextInput
        label="Video that viewers open"
        description="Its address or its id. With a token it may stay empty."
        placeholder="https://www.youtube.com/watch?v=…"
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('videoId')}
      />
      <PasswordInput
        label="Refresh token"
        description={
          hasToken
            ? 'Leave it empty to keep the current token.'
            : 'Of an account that manages the channel. Private broadcasts are seen with it, and ended ones can be replaced. Kept secret.'
        }
        autoComplete="off"
        spellCheck={false}
        disabled={form.values.endToken}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the token' }}
        aria-invalid={form.errors.refreshToken ? true : undefined}
        {...form.getInputProps('refreshToken')}
      />
      {hasToken && <Checkbox label="Remove the token" {...form.getInputProps('endToken', { type: 'checkbox' })} />}
      <Checkbox
        label="Start a new broadcast when one has ended"
        description={
          mayRepair
            ? 'Only while the stream is sent. At most 3 in an hour and 10 in a day.'
            : 'This needs a token of an account that manages the channel.'
        }
        disabled={!mayRepair}
        {...form.getInputProps('repairs', { type: 'checkbox' })}
        checked={form.values.repairs && mayRepair}
      />
    </>
  );
}

export function ViewersFields({ form, before }: ViewersFieldsProps) {
  const { viewersAt } = form.values;
  return (
    <div className={forms.form}>
      <div>
        <NativeSelect label="Where viewers see it" data={[...PLACES]} {...form.getInputProps('viewersAt')} />
        <p className={forms.hint}>{HELP[viewersAt]}</p>
      </div>
      {viewersAt === 'watch' && (
        <TextInput
          label="Address that viewers open"
          placeholder="https://cdn.example.com/live/stream.m3u8"
          autoComplete="off"
          spellCheck={false}
          inputMode="url"
          {...form.getInputProps('watchUrl')}
        />
      )}
      {viewersAt === 'twitch' && (
        <TextInput
          label="Twitch channel"
          description="Its name or its address."
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('channel')}
        />
      )}
      {viewersAt === 'youtube' && <YoutubeFields form={form} before={before} />}
    </div>
  );
}
