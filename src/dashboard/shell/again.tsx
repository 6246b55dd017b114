/** A session that ended while somebody was at work: they sign in over the page, which stays as it is with all that was typed. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { AddressField, PasswordField, Problem, useFields } from '../account/fields.tsx';
import { people } from '../account/people.ts';
import { useOnce } from '../account/useOnce.ts';
import { useSession } from '../context.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import forms from '../parts/form.module.css';

export function SignInAgain({ email }: { email: string }) {
  const session = useSession();
  const queries = useQueryClient();
  const before = useRef(document.activeElement);
  useEffect(() => {
    const focused = before.current;
    return () => (focused instanceof HTMLElement ? focused.focus() : undefined);
  }, []);
  const { run, busy, problem } = useOnce(
    async (password: string) => {
      const { person } = await people.signIn({ email, password });
      return person ?? people.session();
    },
    (person) => {
      session.knowPerson(person ?? null);
      return queries.invalidateQueries();
    },
  );
  const { wrong, props } = useFields(
    ({ password }) => ({ password: password ? undefined : 'Enter your password.' }),
    ({ password = '' }) => run(password),
  );
  return (
    <Dialog title="Sign in again" onClose={() => session.signOut()} busy={busy}>
      <form className={forms.form} aria-label="Sign in again" {...props}>
        <p className={forms.help}>Your session has ended. What you were doing is still here.</p>
        <AddressField defaultValue={email} readOnly />
        <PasswordField wrong={wrong.password} autoFocus />
        <Problem>{problem}</Problem>
        <DialogActions>
          <Button variant="default" onClick={() => session.signOut()} disabled={busy}>
            Leave
          </Button>
          <Button type="submit" loading={busy}>
            Sign in
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
