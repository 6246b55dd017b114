/** The fields that the pages of signing in have in common. Password managers know them by their `autocomplete`. */
import { Checkbox, PasswordInput, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { brokenRule, DISPLAY_NAME } from '../../../core/lib/sentences.ts';
import { asSentence } from '../../api/problem.ts';
import forms from '../../ui/form.module.css';
import { findAuthFieldErrors } from './authErrors.ts';
import { explainWeakness, loadCommonPasswords } from './weakness.ts';

/** Field → what is wrong with it; a field that is right has none. */
export type Wrong = Readonly<Record<string, string | undefined>>;

/** RFC 5321, section 4.5.3.1. */
const MAX_ADDRESS = 254;
const MAX_NAME = 100;

const tooLong = (text: string, most: number): string | undefined =>
  text.length > most ? `Use at most ${most} characters.` : undefined;

export const wrongAddress = (email: string): string | undefined =>
  // linear-time: a person writes it into their own browser.
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)
    ? tooLong(email, MAX_ADDRESS)
    : 'Enter your e-mail address. It looks like name@example.com.';

/** The mistake in a name of a person or a thing. */
export function wrongText(text: string, most = MAX_NAME): string | undefined {
  const broken = brokenRule(DISPLAY_NAME, text);
  return tooLong(text, most) ?? (broken && asSentence(broken));
}

export const wrongName = (name: string): string | undefined =>
  name === '' ? 'Enter your first name.' : wrongText(name);

/** A missing password is reported before a weak one. */
export const wrongNewPassword = (password: string, email = ''): string | undefined =>
  password === '' ? 'Choose a password.' : explainWeakness(password, email);

interface FieldProps {
  wrong?: string | undefined;
  label?: string;
  autoFocus?: boolean;
  defaultValue?: string | undefined;
}

const inputProps = ({ wrong, autoFocus, defaultValue }: FieldProps) => ({
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
    spellCheck={false}
    readOnly={readOnly}
    {...inputProps(props)}
  />
);

export const PasswordField = (props: FieldProps & { name?: string }) => (
  <PasswordInput
    name={props.name ?? 'password'}
    label={props.label ?? 'Password'}
    size="md"
    autoComplete="current-password"
    visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
    {...inputProps(props)}
  />
);

export const NewPasswordField = (props: FieldProps) => {
  useEffect(() => void loadCommonPasswords(), []);
  return (
    <PasswordInput
      name="newPassword"
      label={props.label ?? 'New password'}
      description="At least 10 characters. Several words are easier to remember, and harder to guess."
      size="md"
      autoComplete="new-password"
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
      {...inputProps(props)}
    />
  );
};

export const NameField = ({ which, ...props }: FieldProps & { which: 'given-name' | 'family-name' }) => (
  <TextInput
    name={which === 'given-name' ? 'firstName' : 'lastName'}
    label={which === 'given-name' ? 'First name' : 'Last name (optional)'}
    size="md"
    autoComplete={which}
    {...inputProps(props)}
  />
);

/** Whether API keys and connected apps outlive the old password. */
export const KeepAccess = ({ children, ...props }: { children: ReactNode; defaultChecked: boolean }) => (
  <Checkbox name="keepAccess" value="yes" label={children} {...props} />
);

/** Why it did not work. */
export const Problem = ({ children }: { children: ReactNode }) =>
  children ? (
    <p className={forms.problem} role="alert">
      {children}
    </p>
  ) : null;

type FieldTexts = Readonly<Record<string, string>>;

/** Whether nothing is said of any field. */
const isRight = (wrong: Wrong): boolean => Object.values(wrong).every((text) => text === undefined);

/**
 * A form whose fields are the browser's own. Texts come without spaces around them, passwords as they are. Mistakes are shown
 * at each field, and the first of those gets the focus. `failure`: why it could not be done; what of it belongs to no field that
 * is checked is the `problem`.
 */
export function useFields(
  check: (values: FieldTexts) => Wrong,
  submit: (values: FieldTexts) => void,
  failure?: unknown,
) {
  const [found, setFound] = useState<Wrong>({});
  const form = useRef<HTMLFormElement>(null);
  const focusFirst = (wrong: Wrong) => {
    const first = Object.keys(wrong).find((name) => wrong[name] !== undefined);
    if (first) form.current?.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
  };
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entries = [...new FormData(event.currentTarget)].map(([name, value]) => {
      const text = String(value);
      return [name, /password/i.test(name) ? text : text.trim()] as const;
    });
    const values = Object.fromEntries(entries);
    const wrong = check(values);
    setFound(wrong);
    if (isRight(wrong)) return submit(values);
    focusFirst(wrong);
  };
  // An error of the last request is old news when the fields are wrong now.
  const { fields, rest } =
    failure && isRight(found) ? findAuthFieldErrors(failure, Object.keys(found)) : { fields: found, rest: undefined };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each failure.
  useEffect(() => focusFirst(fields), [failure]);
  return { wrong: fields, problem: rest, props: { ref: form, onSubmit, noValidate: true } };
}
