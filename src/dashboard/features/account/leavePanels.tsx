/** Taking everything along, and leaving for good. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSession, useWho } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { saveFile } from '../../lib/download.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { AccountPanel } from './accountPanel.tsx';
import { authApi } from './authApi.ts';
import { AddressField, PasswordField, Problem, useFields } from './fields.tsx';
import { usePasskeys } from './queries.ts';
import { useAuthAction } from './useAuthAction.ts';

export function ExportPanel() {
  const { account } = useApi().calls;
  const { run, busy, error } = useAuthAction(
    () => account.export(),
    (document) =>
      saveFile(new Blob([JSON.stringify(document, null, 2)], { type: 'application/json' }), 'loopstream-account.json'),
  );
  return (
    <AccountPanel
      title="Your data"
      lead="All stored data of your account, as one file. Media and secret keys are not included."
    >
      <Problem>{error && problemText(error)}</Problem>
      <div>
        <Button variant="default" loading={busy} onClick={() => run(undefined)}>
          Download
        </Button>
      </div>
    </AccountPanel>
  );
}

const DELETED = 'Your account is deleted. Streams on air end within a minute.';

function DeleteAccount({ email, onClose }: { email: string; onClose: () => void }) {
  const { account } = useApi().calls;
  const session = useSession();
  const hasPasskey = (usePasskeys().data ?? []).length > 0;
  const { run, busy, error } = useAuthAction(
    async ({ email: typed, password }: { email: string; password: string }) => {
      // A passkey has the device ask who it is, as a password does; the session is a new one then.
      if (password === '' && hasPasskey) await authApi.signInWithPasskey();
      return account.delete({ email: typed, ...(password !== '' && { password }) });
    },
    () => session.signOut(DELETED),
  );
  const { wrong, problem, props } = useFields(
    ({ email: typed = '' }) => ({
      email: typed.toLowerCase() === email.toLowerCase() ? undefined : 'Enter the e-mail address of this account.',
      password: undefined,
    }),
    ({ email: typed = '', password = '' }) => run({ email: typed, password }),
    error,
  );
  return (
    <Dialog title="Delete your account?" onClose={onClose} busy={busy}>
      <form className={forms.form} aria-label="Delete your account" {...props}>
        <p>
          This deletes everything: streams end, and uploads, playlists, destinations, API keys and connected apps are
          deleted. You cannot undo it.
        </p>
        <AddressField label={`Type ${email} to confirm`} wrong={wrong.email} />
        <PasswordField label="Your password" wrong={wrong.password} />
        {hasPasskey && <p>Leave it empty to use a passkey instead.</p>}
        <Problem>{problem}</Problem>
        <DialogActions>
          <Button variant="default" onClick={onClose} disabled={busy}>
            Keep my account
          </Button>
          <Button variant="danger" type="submit" loading={busy}>
            Delete everything
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

export function DeletePanel() {
  const { person } = useWho();
  const [asking, setAsking] = useState(false);
  return (
    <AccountPanel title="Delete the account" lead="Deletes the account and everything in it, permanently.">
      <div>
        <Button variant="danger" onClick={() => setAsking(true)}>
          Delete account…
        </Button>
      </div>
      {asking && person && <DeleteAccount email={person.email} onClose={() => setAsking(false)} />}
    </AccountPanel>
  );
}
