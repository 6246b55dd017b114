/** The address of a destination, as a platform or the manual of a server shows it. */
import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { DestinationValues } from './formValues.ts';

export const AddressField = ({ form }: { form: UseFormReturnType<DestinationValues> }) => (
  <TextInput
    label="Address (RTMP, RTMPS or SRT)"
    placeholder="rtmp://host/app"
    autoComplete="off"
    spellCheck={false}
    inputMode="url"
    {...form.getInputProps('rtmpUrl')}
  />
);
