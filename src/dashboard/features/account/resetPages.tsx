/** A forgotten password: asking for the link, and choosing a new one by it. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/context.tsx';
import { readOAuthQuery, tokenIn } from './addresses.ts';
import { authApi } from './authApi.ts';
import { ContinueToApp } from './continueToApp.tsx';
import {
  AddressField,
  KeepAccess,
  NewPasswordField,
  Problem,
  useFields,
  wrongAddress,
  wrongNewPassword,
} from './fields.tsx';
import classes from './frame.module.css';
import { Frame } from './frame.tsx';
import { findPendingRequest, keepPendingRequest } from './pendingRequest.ts';
import { useOptions } from './queries.ts';
import { SignInLink } from './signInLink.tsx';
import { Support } from './support.tsx';
import { useAuthAction } from './useAuthAction.ts';

const Back = () => <SignInLink to="/sign-in">Back to sign-in</SignInLink>;

export function ForgotPasswordPage() {
  const options = useOptions();
  const navigate = useNavigate();
  const { run, busy, error } = useAuthAction(
    (email: string) => authApi.requestReset(email).then(() => email),
    (email) => {
      keepPendingRequest(readOAuthQuery(location.search));
      return navigate({ to: '/check-mail', state: { mail: { email, why: 'reset' } } });
    },
  );
  const { wrong, problem, props } = useFields(
    ({ email = '' }) => ({ email: wrongAddress(email) }),
    ({ email = '' }) => run(email),
    error,
  );
  if (options && !options.passwordReset)
    return (
      <Frame
        title="This loopstream sends no mail"
        lead={
          <>
            It cannot send you a link. Ask <Support /> for a new password.
          </>
        }
        below={<Back />}
      />
    );
  return (
    <Frame title="Choose a new password" lead="We send a link to your address." below={<Back />}>
      <form className={classes.form} aria-label="Choose a new password" {...props}>
        <AddressField wrong={wrong.email} autoFocus />
        <Problem>{problem}</Problem>
        <Button type="submit" size="md" loading={busy} fullWidth>
          Send the link
        </Button>
      </form>
    </Frame>
  );
}

export function ResetPasswordPage() {
  const session = useSession();
  const navigate = useNavigate();
  const [token] = useState(() => tokenIn(location.hash));
  const [asked] = useState(findPendingRequest);
  const { run, busy, done, error } = useAuthAction(
    ({ value, password, keep }: { value: string; password: string; keep: boolean }) =>
      authApi.reset(value, password, keep),
    () => {
      session.signOut(
        'Your new password is set, and all sessions with the old one have ended. Sign in with the new password. A ' +
          'mail lists what was revoked.',
      );
      return asked === undefined && navigate({ to: '/sign-in', replace: true });
    },
  );
  const { wrong, problem, props } = useFields(
    ({ newPassword = '' }) => ({ newPassword: wrongNewPassword(newPassword) }),
    ({ newPassword = '', keepAccess }) =>
      token && run({ value: token, password: newPassword, keep: keepAccess === 'yes' }),
    error,
  );
  if (done && asked !== undefined) return <ContinueToApp title="Your new password is set" asked={asked} />;
  const again = <Link to="/forgot-password">Request a new link</Link>;
  if (token === undefined)
    return <Frame title="This link is incomplete" lead="Copy the whole address from the mail." below={again} />;
  return (
    <Frame
      title="Choose a new password"
      lead="A new password ends every session. Someone with the old password may have created keys, so your API keys, connected apps and passkeys are revoked too."
      below={again}
    >
      <form className={classes.form} aria-label="Choose a new password" {...props}>
        <NewPasswordField wrong={wrong.newPassword} autoFocus />
        <KeepAccess defaultChecked={false}>
          Keep my API keys and connected apps working. I am sure that nobody else has used my account.
        </KeepAccess>
        <Problem>{problem}</Problem>
        <Button type="submit" size="md" loading={busy} fullWidth>
          Set the new password
        </Button>
      </form>
    </Frame>
  );
}
