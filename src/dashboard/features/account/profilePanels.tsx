import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useSession, useWho } from '../../api/context.tsx';
import classes from './account.module.css';
import { AccountPanel } from './accountPanel.tsx';
import { authApi } from './authApi.ts';
import {
  AddressField,
  KeepAccess,
  NameField,
  NewPasswordField,
  PasswordField,
  Problem,
  useFields,
  wrongName,
  wrongNewPassword,
  wrongText,
} from './fields.tsx';
import { keys } from './queries.ts';
import { useAuthAction } from './useAuthAction.ts';

export function ProfilePanel() {
  const session = useSession();
  const queries = useQueryClient();
  const { person } = useWho();
  const { run, busy, error } = useAuthAction(
    async ({ firstName, lastName }: { firstName: string; lastName: string }) => {
      await authApi.updateName(firstName, lastName);
      return authApi.session();
    },
    (found) => {
      session.knowPerson(found ?? null);
      notifications.show({ message: 'Your name is saved.' });
      return queries.invalidateQueries({ queryKey: ['me'] });
    },
  );
  const { wrong, problem, props } = useFields(
    ({ firstName = '', lastName = '' }) => ({ firstName: wrongName(firstName), lastName: wrongText(lastName) }),
    ({ firstName = '', lastName = '' }) => run({ firstName, lastName }),
    error,
  );
  if (!person) return null;
  return (
    <AccountPanel title="Profile">
      <form className={classes.form} aria-label="Profile" {...props}>
        <div className={classes.pair}>
          <NameField which="given-name" wrong={wrong.firstName} defaultValue={person.firstName} />
          <NameField which="family-name" wrong={wrong.lastName} defaultValue={person.lastName ?? ''} />
        </div>
        <AddressField defaultValue={person.email} readOnly />
        <Problem>{problem}</Problem>
        <Button type="submit" loading={busy}>
          Save
        </Button>
      </form>
    </AccountPanel>
  );
}

export function PasswordPanel() {
  const queries = useQueryClient();
  const { person } = useWho();
  const form = useRef<HTMLDivElement>(null);
  const { run, busy, error } = useAuthAction(
    ({ before, after, keep }: { before: string; after: string; keep: boolean }) =>
      authApi.changePassword(before, after, keep),
    () => {
      form.current?.querySelector('form')?.reset();
      notifications.show({ message: 'Your password is changed. All other sessions have ended.' });
      // Keys, apps and passkeys may have gone with it.
      return Promise.all(Object.values(keys).map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  );
  const { wrong, problem, props } = useFields(
    ({ password, newPassword = '' }) => ({
      password: password ? undefined : 'Enter your current password.',
      newPassword: wrongNewPassword(newPassword, person?.email),
    }),
    ({ password = '', newPassword = '', keepAccess }) =>
      run({ before: password, after: newPassword, keep: keepAccess === 'yes' }),
    error,
  );
  return (
    <AccountPanel title="Password" lead="A new password ends all other sessions. You get a mail about the change.">
      <div ref={form}>
        <form className={classes.form} aria-label="Password" {...props}>
          {/* So that a password manager knows whose password it is. */}
          <input type="hidden" name="email" autoComplete="username" value={person?.email ?? ''} />
          <PasswordField label="Current password" wrong={wrong.password} />
          <NewPasswordField wrong={wrong.newPassword} />
          <KeepAccess defaultChecked>Keep my API keys, connected apps and passkeys working</KeepAccess>
          <Problem>{problem}</Problem>
          <Button type="submit" loading={busy}>
            Change password
          </Button>
        </form>
      </div>
    </AccountPanel>
  );
}
