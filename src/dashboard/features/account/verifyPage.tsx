import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/context.tsx';
import { tokenIn } from './addresses.ts';
import { AuthApiError, authApi } from './authApi.ts';
import { ContinueToApp } from './continueToApp.tsx';
import {
  AddressField,
  NameField,
  NewPasswordField,
  Problem,
  useFields,
  wrongName,
  wrongNewPassword,
  wrongText,
} from './fields.tsx';
import classes from './frame.module.css';
import { Frame } from './frame.tsx';
import { findPendingRequest } from './pendingRequest.ts';
import { useAuthAction } from './useAuthAction.ts';

const back = <Link to="/sign-in">Back to sign-in</Link>;

interface Chosen {
  password: string;
  firstName: string;
  lastName?: string;
}

/** Confirms the address, and goes on to the next page. */
function useVerify(token: string) {
  const session = useSession();
  const navigate = useNavigate();
  const [asked] = useState(findPendingRequest);
  const once = useAuthAction(
    async (chosen: Chosen | undefined) => {
      const email = await authApi.verify(token, chosen);
      return { email, person: await authApi.session() };
    },
    ({ email, person }) => {
      if (person) session.knowPerson(person);
      else session.signOut('Your address is confirmed. Sign in with your password.');
      if (asked !== undefined) return undefined;
      // The address holds the token, and is not to be gone back to.
      if (person) return navigate({ to: '/', replace: true });
      return navigate({ to: '/sign-in', replace: true, ...(email && { state: { mail: { email, why: 'verify' } } }) });
    },
  );
  return { ...once, asked };
}

/** In a browser that has not signed up: another browser's values may be a stranger's, so they count for nothing here. */
function ChoosePassword({ token, email }: { token: string; email: string }) {
  const { run, busy, done, error, asked } = useVerify(token);
  const { wrong, problem, props } = useFields(
    ({ firstName = '', lastName = '', newPassword = '' }) => ({
      firstName: wrongName(firstName),
      lastName: wrongText(lastName),
      newPassword: wrongNewPassword(newPassword, email),
    }),
    ({ firstName = '', lastName = '', newPassword = '' }) =>
      run({ password: newPassword, firstName, ...(lastName && { lastName }) }),
    error,
  );
  if (done && asked !== undefined) return <ContinueToApp title="Your address is confirmed" asked={asked} />;
  return (
    <Frame
      title="Choose your password"
      lead="You signed up in another browser. Choose the password for your new account here. If you did not sign up, close this page: no account is created."
      below={back}
    >
      <form className={classes.form} aria-label="Choose your password" {...props}>
        <AddressField defaultValue={email} readOnly />
        <NameField which="given-name" wrong={wrong.firstName} autoFocus />
        <NameField which="family-name" wrong={wrong.lastName} />
        <NewPasswordField label="Password" wrong={wrong.newPassword} />
        <Problem>{problem}</Problem>
        <Button type="submit" size="md" loading={busy} fullWidth>
          Confirm and create account
        </Button>
      </form>
    </Frame>
  );
}

function Confirm({ token }: { token: string }) {
  const { run, busy, done, problem, error, asked } = useVerify(token);
  if (error instanceof AuthApiError && error.code === 'PASSWORD_REQUIRED')
    return <ChoosePassword token={token} email={error.email} />;
  if (done && asked !== undefined) return <ContinueToApp title="Your address is confirmed" asked={asked} />;
  return (
    <Frame
      title="Confirm your address"
      lead="In the browser in which you signed up, this also signs you in."
      below={back}
    >
      <Problem>
        {problem && `${problem} If you have confirmed your address, sign in. If not, sign up again to get a new link.`}
      </Problem>
      {!error && (
        <Button size="md" loading={busy} onClick={() => run(undefined)} autoFocus fullWidth>
          Confirm my address
        </Button>
      )}
    </Frame>
  );
}

/**
 * Where the link of the mail leads. It waits for a press: programs that look into mails open every link, and would confirm
 * addresses in the name of people who never signed up.
 */
export function VerifyPage() {
  const [token] = useState(() => tokenIn(location.hash));
  if (token !== undefined) return <Confirm token={token} />;
  return (
    <Frame
      title="This link is incomplete"
      lead="Copy the whole address from the mail, or sign up again to get another link."
      below={back}
    />
  );
}
