import { Button, UnstyledButton } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isPagePath } from '../../../service/lib/page-paths.ts';
import { useSession, useWho } from '../../api/context.tsx';
import forms from '../../ui/form.module.css';
import { isByMail, mayFollow, parseNext, readOAuthQuery } from './addresses.ts';
import { AuthApiError, authApi, type SignInResult } from './authApi.ts';
import { explainOutsideError } from './authErrors.ts';
import { ContinueToApp } from './continueToApp.tsx';
import { AddressField, PasswordField, Problem, useFields, wrongAddress } from './fields.tsx';
import classes from './frame.module.css';
import { Frame } from './frame.tsx';
import { KeyForm } from './keyForm.tsx';
import { PasswordlessSignIn } from './passwordless.tsx';
import { findPendingRequest, keepPendingRequest } from './pendingRequest.ts';
import { useOptions } from './queries.ts';
import { SignInLink } from './signInLink.tsx';
import { useAuthAction } from './useAuthAction.ts';

/** A refusal by an outside provider comes back in the address. */
const errorHere = (): string | null => new URLSearchParams(location.search).get('error');

/** Goes on within this site: in the page, or to a document outside of it, such as the reference of the API. */
async function goOn(path: string, navigate: ReturnType<typeof useNavigate>): Promise<void> {
  if (!isPagePath(new URL(path, location.origin).pathname)) return location.replace(path);
  await navigate({ to: path, replace: true });
}

function GoOn({ path }: { path: string }) {
  const navigate = useNavigate();
  useEffect(() => void goOn(path, navigate), [path, navigate]);
  return null;
}

/** Where one goes after signing in: back to the program that sent one here, or on within this site. */
function useArrival() {
  const session = useSession();
  const navigate = useNavigate();
  return async ({ next, person }: SignInResult) => {
    if (next !== undefined && mayFollow(new URL(next, location.href).href)) return location.assign(next);
    // Where a page asked for signing in at its own address, it is that page which is shown now.
    const here = location.pathname === '/sign-in';
    const path = here ? parseNext(location.search, location.origin) : undefined;
    session.knowPerson(person ?? (await authApi.session()) ?? null);
    if (path !== undefined) await goOn(path, navigate);
  };
}

function PasswordForm({ onUnverified }: { onUnverified: (email: string) => void }) {
  const arrive = useArrival();
  /** The address that was confirmed a moment ago, in a browser that has not signed up. */
  const confirmed = useLocation({ select: ({ state }) => state.mail?.email });
  const { run, busy, error } = useAuthAction(async (who: { email: string; password: string }) => {
    try {
      return await authApi.signIn(who, readOAuthQuery(location.search));
    } catch (refusal) {
      if (refusal instanceof AuthApiError && refusal.code === 'EMAIL_NOT_VERIFIED') onUnverified(who.email);
      throw refusal;
    }
  }, arrive);
  const { wrong, problem, props } = useFields(
    ({ email = '', password }) => ({
      email: wrongAddress(email),
      password: password ? undefined : 'Enter your password.',
    }),
    ({ email = '', password = '' }) => run({ email, password }),
    error,
  );
  return (
    <form className={classes.form} aria-label="Sign in" {...props}>
      <AddressField wrong={wrong.email} autoFocus={confirmed === undefined} defaultValue={confirmed} />
      <PasswordField wrong={wrong.password} autoFocus={confirmed !== undefined} />
      <Problem>{problem}</Problem>
      <Button type="submit" size="md" loading={busy} fullWidth>
        Sign in
      </Button>
    </form>
  );
}

/** At its own address, and in the place of any page that needs somebody to have signed in. */
export function SignInPage() {
  const session = useSession();
  const navigate = useNavigate();
  const options = useOptions();
  const arrive = useArrival();
  const [asked] = useState(() => (isByMail(location) ? findPendingRequest() : undefined));
  const [withKey, setWithKey] = useState(false);
  const { key, person, hasKeptKey } = useWho();
  const error = location.pathname === '/sign-in' ? errorHere() : null;
  const forProgram = readOAuthQuery(location.search) !== undefined;
  if (asked !== undefined) return <ContinueToApp title="You already have an account" asked={asked} />;
  // A person who has signed in already, in another tab perhaps, need not do it again.
  if (location.pathname === '/sign-in' && !forProgram && (person || hasKeptKey || key !== undefined))
    return <GoOn path={parseNext(location.search, location.origin)} />;
  const toHome = () => location.pathname === '/sign-in' && void navigate({ to: '/', replace: true });
  const askToConfirm = (email: string) => {
    keepPendingRequest(readOAuthQuery(location.search));
    void navigate({ to: '/check-mail', state: { mail: { email, why: 'verify' } } });
  };
  return (
    <Frame
      title="Sign in to loopstream"
      lead={
        forProgram ? 'An app wants to use your account. Sign in first.' : 'Manage your streams and see what is on air.'
      }
      below={
        options?.signUp && (
          <span>
            New here? <SignInLink to="/sign-up">Create an account</SignInLink>
          </span>
        )
      }
    >
      {session.notice && (
        <p className={forms.warning} role="status">
          {session.notice}
        </p>
      )}
      {error !== null && <Problem>{explainOutsideError(error)}</Problem>}
      {withKey ? <KeyForm onDone={toHome} /> : <PasswordForm onUnverified={askToConfirm} />}
      {!withKey && <PasswordlessSignIn arrive={arrive} />}
      <div className={classes.aside}>
        {!forProgram && (
          <UnstyledButton className={classes.link ?? ''} onClick={() => setWithKey(!withKey)}>
            {withKey ? 'Use your password instead' : 'Use an API key instead'}
          </UnstyledButton>
        )}
        {!withKey && options?.passwordReset && <SignInLink to="/forgot-password">Forgot your password?</SignInLink>}
      </div>
    </Frame>
  );
}
