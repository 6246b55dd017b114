/** The fields that the pages of signing in have in common. Password managers know them by their `autocomplete`. */
import { PasswordInput, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { weaknessOf } from '../../account/password.ts';
import forms from '../parts/form.module.css';

/** Field → what is wrong with it; a field that is right has none. */
export type Wrong = Readonly<Record<string, string | undefined>>;

/** RFC 5321, section 4.5.3.1. */
const MAX_ADDRESS = 254;
const MAX_NAME = 100;

export const wrongAddress = (email: string): string | undefined =>
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) ? undefined : 'Enter your e-mail address. It looks like name@example.com.';

export const wrongName = (name: string): string | undefined => (name === '' ? 'Enter your first name.' : undefined);

/** What is missing is said before what is weak. */
export const wrongNewPassword = (password: string, email = ''): string | undefined =>
  password === '' ? 'Choose a password.' : weaknessOf(password, email);

interface FieldProps {
  wrong?: string | undefined;
  label?: string;
  autoFocus?: boolean;
  defaultValue?: string | undefined;
}

const of = ({ wrong, autoFocus, defaultValue }: FieldProps) => ({
  error: wrong,
  // Mantine's field for passwords says nothing of it to screen readers.
  ...(wrong !== undefined && { 'aria-invalid': true as const }),
  ...(autoFocus && { autoFocus: true, 'data-autofocus': true }),
  ...(defaultValue !== undefined && { defaultValue }),
});

export const AddressField = ({ readOnly = false, ...props }: FieldProps & { readOnly?: boolean }) => (
  <TextInput
    type="email"
    name="email"
    label={props.label ?? 'E-mail address'}
    size="md"
    autoComplete="username"
    inputMode="email"
    autoCapitalize="none"
    spellCheck={false}
    maxLength={MAX_ADDRESS}
    readOnly={readOnly}
    {...of(props)}
  />
);

export const PasswordField = (props: FieldProps & { name?: string }) => (
  <PasswordInput
    name={props.name ?? 'password'}
    label={props.label ?? 'Password'}
    size="md"
    autoComplete="current-password"
    visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
    {...of(props)}
  />
);

export const NewPasswordField = (props: FieldProps) => (
  <PasswordInput
    name="newPassword"
    label={props.label ?? 'New password'}
    description="10 characters or more. Several words are easier to remember, and harder to guess."
    size="md"
    autoComplete="new-password"
    visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
    {...of(props)}
  />
);

export const NameField = ({ which, ...props }: FieldProps & { which: 'given-name' | 'family-name' }) => (
  <TextInput
    name={which === 'given-name' ? 'firstName' : 'lastName'}
    label={which === 'given-name' ? 'First name' : 'Last name (optional)'}
    size="md"
    autoComplete={which}
    maxLength={MAX_NAME}
    {...of(props)}
  />
);

/** Why it did not work. */
export const Problem = ({ children }: { children: ReactNode }) =>
  children ? (
    <p className={forms.problem} role="alert">
      {children}
    </p>
  ) : null;

type Values = Readonly<Record<string, string>>;

/**
 * A form whose fields are the browser's own. Texts come without spaces around them, passwords as they are. What is wrong is said
 * at each field, and the first of those gets the focus.
 */
export function useFields(check: (values: Values) => Wrong, submit: (values: Values) => void) {
  const [wrong, setWrong] = useState<Wrong>({});
  const form = useRef<HTMLFormElement>(null);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entries = [...new FormData(event.currentTarget)].map(([name, value]) => {
      const text = String(value);
      return [name, /password/i.test(name) ? text : text.trim()] as const;
    });
    const values = Object.fromEntries(entries);
    const found = check(values);
    setWrong(found);
    const first = Object.keys(found).find((name) => found[name] !== undefined);
    if (first === undefined) return submit(values);
    form.current?.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
  };
  return { wrong, props: { ref: form, onSubmit, noValidate: true } };
}
