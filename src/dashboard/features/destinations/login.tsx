/** The login of a destination whose server asks for one, which few do: folded away until somebody needs it. */
import { Checkbox, PasswordInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import forms from '../../ui/form.module.css';
import classes from './destinations.module.css';
import type { DestinationValues } from './formValues.ts';

interface LoginFieldsProps {
  form: UseFormReturnType<DestinationValues>;
  /** The destination has a login already. */
  hasLogin: boolean;
}

export function LoginFields({ form, hasLogin }: LoginFieldsProps) {
  const { endLogin } = form.values;
  const isWrong = Boolean(form.errors.rtmpUser ?? form.errors.rtmpPassword);
  const [isOpen, setOpen] = useState(hasLogin);
  // A mistake is shown; the fields stay open while somebody mends it.
  if (isWrong && !isOpen) setOpen(true);
  return (
    <details className={classes.folded} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>This server requires a login</summary>
      <div className={forms.form}>
        <p className={forms.help}>
          {hasLogin
            ? 'Leave both empty to keep the current login.'
            : 'For RTMP servers that require a user name and password in addition to the key. Both are kept secret.'}
        </p>
        <TextInput
          label="User"
          autoComplete="off"
          spellCheck={false}
          disabled={endLogin}
          {...form.getInputProps('rtmpUser')}
        />
        <PasswordInput
          label="Password"
          autoComplete="new-password"
          spellCheck={false}
          disabled={endLogin}
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
          aria-invalid={form.errors.rtmpPassword ? true : undefined}
          {...form.getInputProps('rtmpPassword')}
        />
        {hasLogin && (
          <Checkbox
            label="Remove the login: the server no longer requires one"
            {...form.getInputProps('endLogin', { type: 'checkbox' })}
          />
        )}
      </div>
    </details>
  );
}
