/** The least bitrate of a destination's pictures, which few change: folded away until somebody needs it. */
import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import forms from '../../ui/form.module.css';
import classes from './destinations.module.css';
import type { DestinationValues } from './formValues.ts';

export function LeastBitrateField({ form }: { form: UseFormReturnType<DestinationValues> }) {
  const [isOpen, setOpen] = useState(form.values.leastBitrateKbps !== '');
  // A mistake is shown; the field stays open while somebody mends it.
  if (form.errors.leastBitrateKbps && !isOpen) setOpen(true);
  return (
    <details className={classes.folded} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Least bitrate of stills and slides</summary>
      <div className={forms.form}>
        <p className={forms.help}>
          A still picture needs few bytes, which platforms take for an ill stream. It is filled up to this bitrate;
          viewers see the same. What is sent costs traffic.
        </p>
        <TextInput
          label="Least bitrate in kbit/s"
          description="Leave it empty for what the platform asks for. 0: nothing is filled."
          autoComplete="off"
          inputMode="numeric"
          {...form.getInputProps('leastBitrateKbps')}
        />
      </div>
    </details>
  );
}
