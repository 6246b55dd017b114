import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { readOAuthQuery } from './addresses.ts';
import { authApi } from './authApi.ts';
import {
  AddressField,
  NameField,
  NewPasswordField,
  Problem,
  useFields,
  wrongAddress,
  wrongName,
  wrongNewPassword,
  wrongText,
} from './fields.tsx';
import classes from './frame.module.css';
import { Frame } from './frame.tsx';
import { keepPendingRequest } from './pendingRequest.ts';
import { useOptions } from './queries.ts';
import { SignInLink } from './signInLink.tsx';
import { Support } from './support.tsx';
import { useAuthAction } from './useAuthAction.ts';

interface NewPerson {
  email: string;
  password: string;
  firstName: string;
  lastName?: string;
}

/** The answer is the same whether the address has an account or not: its owner learns the truth by mail. */
function SignUpForm() {
  const navigate = useNavigate();
  const { run, busy, error } = useAuthAction(
    (who: NewPerson) => authApi.signUp(who).then(() => who.email),
    (email) => {
      keepPendingRequest(readOAuthQuery(location.search));
      return navigate({ to: '/check-mail', state: { mail: { email, why: 'verify' } } });
    },
  );
  const { wrong, problem, props } = useFields(
    ({ firstName = '', lastName = '', email = '', newPassword = '' }) => ({
      firstName: wrongName(firstName),
      lastName: wrongText(lastName),
      email: wrongAddress(email),
      newPassword: wrongNewPassword(newPassword, email),
    }),
    ({ firstName = '', lastName = '', email = '', newPassword = '' }) =>
      run({ email, password: newPassword, firstName, ...(lastName && { lastName }) }),
    error,
  );
  return (
    <form className={classes.form} aria-label="Create an account" {...props}>
      <NameField which="given-name" wrong={wrong.firstName} autoFocus />
      <NameField which="family-name" wrong={wrong.lastName} />
      <AddressField wrong={wrong.email} />
      <NewPasswordField label="Password" wrong={wrong.newPassword} />
      <Problem>{problem}</Problem>
      <Button type="submit" size="md" loading={busy} fullWidth>
        Create account
      </Button>
    </form>
  );
}

export function SignUpPage() {
  const options = useOptions();
  const toSignIn = (
    <span>
      Have an account? <SignInLink to="/sign-in">Sign in</SignInLink>
    </span>
  );
  if (options && !options.signUp)
    return (
      <Frame
        title="Sign-up is closed"
        lead={
          <>
            New accounts are not open to everyone here. Ask <Support /> for one.
          </>
        }
        below={toSignIn}
      />
    );
  return (
    <Frame title="Create your account" lead="Put your first stream on air within a minute." below={toSignIn}>
      <SignUpForm />
    </Frame>
  );
}
