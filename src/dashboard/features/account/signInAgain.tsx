/** Signs a person in again whose session ended in use, over the page, which keeps all that was typed. */
import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useSession } from '../../api/context.tsx';
import type { Person } from '../../api/session.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { AuthApiError, authApi, type SignInResult } from './authApi.ts';
import { AddressField, PasswordField, Problem, useFields } from './fields.tsx';
import { PasswordlessSignIn } from './passwordless.tsx';
import { useAuthAction } from './useAuthAction.ts';

/** Gives the page back to its person. A sign-in to another account is refused: the page is not theirs. */
function useReturn({ id }: Pick<Person, 'id'>) {
  const session = useSession();
  return async ({ person }: SignInResult) => {
    const found = person ?? (await authApi.session());
    if (found && found.id !== id) {
      await authApi.signOut();
      throw new AuthApiError(403, 'OTHER_PERSON', '');
    }
    session.knowPerson(found ?? null);
  };
}

export function SignInAgain({ person }: { person: Person }) {
  const session = useSession();
  const comeBack = useReturn(person);
  const before = useRef(document.activeElement);
  useEffect(() => {
    const focused = before.current;
    return () => (focused instanceof HTMLElement ? focused.focus() : undefined);
  }, []);
  const { email } = person;
  const { run, busy, error } = useAuthAction(
    async (password: string) => comeBack(await authApi.signIn({ email, password })),
    () => undefined,
  );
  const { wrong, problem, props } = useFields(
    ({ password }) => ({ password: password ? undefined : 'Enter your password.' }),
    ({ password = '' }) => run(password),
    error,
  );
  return (
    <Dialog title="Sign in again" onClose={() => session.signOut()} busy={busy}>
      <form className={forms.form} aria-label="Sign in again" {...props}>
        <p className={forms.help}>Your session has ended. Your unsaved work is still here.</p>
        <AddressField defaultValue={email} readOnly />
        <PasswordField wrong={wrong.password} autoFocus />
        <Problem>{problem}</Problem>
        <Button type="submit" size="md" loading={busy} fullWidth>
          Sign in
        </Button>
        <PasswordlessSignIn arrive={comeBack} />
        <DialogActions>
          <Button variant="default" onClick={() => session.signOut()} disabled={busy}>
            Leave
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
