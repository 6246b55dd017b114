import { Button, UnstyledButton } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { Navigate, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession, useWho } from '../context.tsx';
import { KeyForm } from '../shell/keyForm.tsx';
import { hasPasskeys, mayFollow, nextOf, oauthQueryOf, signInAgain } from './addresses.ts';
import { keepAsked } from './asked.ts';
import { AddressField, PasswordField, Problem, useFields, wrongAddress } from './fields.tsx';
import classes from './frame.module.css';
import { Frame } from './frame.tsx';
import { type Arrival, PeopleError, people } from './people.ts';
import { useOptions } from './queries.ts';
import { outsideText } from './sentences.ts';
import { useOnce } from './useOnce.ts';
import { Way } from './way.tsx';

/** Whoever goes through a provider comes back with what it said no to. */
const errorHere = (): string | null => new URLSearchParams(location.search).get('error');

/** Where one goes after signing in: back to the program that sent one here, or on within this site. */
function useArrival() {
  const session = useSession();
  const navigate = useNavigate();
  return async ({ next, person }: Arrival) => {
    if (next !== undefined && mayFollow(new URL(next, location.href).href)) return location.assign(next);
    // Where a page asked for signing in at its own address, it is that page which is shown now.
    const here = location.pathname === '/sign-in';
    const path = here ? nextOf(location.search, location.origin) : undefined;
    session.knowPerson(person ?? (await people.session()) ?? null);
    if (path !== undefined) await navigate({ to: path, replace: true });
  };
}

function PasswordForm({ onUnverified }: { onUnverified: (email: string) => void }) {
  const arrive = useArrival();
  const { run, busy, problem } = useOnce(async (who: { email: string; password: string }) => {
    try {
      return await people.signIn(who, oauthQueryOf(location.search));
    } catch (error) {
      if (error instanceof PeopleError && error.code === 'EMAIL_NOT_VERIFIED') onUnverified(who.email);
      throw error;
    }
  }, arrive);
  const { wrong, props } = useFields(
    ({ email = '', password }) => ({
      email: wrongAddress(email),
      password: password ? undefined : 'Enter your password.',
    }),
    ({ email = '', password = '' }) => run({ email, password }),
  );
  return (
    <form className={classes.form} aria-label="Sign in" {...props}>
      <AddressField wrong={wrong.email} autoFocus />
      <PasswordField wrong={wrong.password} />
      <Problem>{problem}</Problem>
      <Button type="submit" size="md" loading={busy} fullWidth>
        Sign in
      </Button>
    </form>
  );
}

function PasskeyButton() {
  const arrive = useArrival();
  const { run, busy, problem } = useOnce(() => people.signInWithPasskey(oauthQueryOf(location.search)), arrive);
  return (
    <>
      <Button
        variant="default"
        size="md"
        leftSection={<IconFingerprint size={18} aria-hidden />}
        loading={busy}
        onClick={() => run(undefined)}
        fullWidth
      >
        Sign in with a passkey
      </Button>
      <Problem>{problem}</Problem>
    </>
  );
}

function Providers({ providers }: { providers: readonly { id: string; name: string }[] }) {
  const { run, busy, problem } = useOnce(
    (id: string) => {
      const { pathname, search, hash, origin } = location;
      const next = pathname === '/sign-in' ? nextOf(search, origin) : `${pathname}${search}${hash}`;
      const query = oauthQueryOf(search);
      const isOwn = pathname === '/sign-in' || query !== undefined;
      const back = signInAgain(isOwn ? search : `?${new URLSearchParams({ next })}`);
      return people.signInElsewhere(id, { next: `${origin}${next}`, back: `${origin}${back}` }, query);
    },
    (next) => next !== undefined && mayFollow(next) && location.assign(next),
  );
  return (
    <>
      {providers.map(({ id, name }) => (
        <Button key={id} variant="default" size="md" loading={busy} onClick={() => run(id)} fullWidth>
          Continue with {name}
        </Button>
      ))}
      <Problem>{problem}</Problem>
    </>
  );
}

/** At its own address, and in the place of any page that needs somebody to have signed in. */
export function SignInPage() {
  const session = useSession();
  const navigate = useNavigate();
  const options = useOptions();
  const [withKey, setWithKey] = useState(false);
  const { key, person } = useWho();
  const error = location.pathname === '/sign-in' ? errorHere() : null;
  const [withPasskey, others] = [hasPasskeys(location.hostname), options?.providers ?? []];
  const forProgram = oauthQueryOf(location.search) !== undefined;
  // Who has signed in already, in another tab perhaps, need not do it again.
  if (location.pathname === '/sign-in' && !forProgram && (person || key !== undefined))
    return <Navigate to={nextOf(location.search, location.origin)} replace />;
  const toHome = () => location.pathname === '/sign-in' && void navigate({ to: '/', replace: true });
  const askToConfirm = (email: string) => {
    keepAsked(oauthQueryOf(location.search));
    void navigate({ to: '/check-mail', state: { letter: { email, why: 'verify' } } });
  };
  return (
    <Frame
      title="Sign in to loopstream"
      lead={forProgram ? 'An app wants to use your account. Sign in first.' : 'See what is on air, and put it there.'}
      below={
        options?.signUp && (
          <span>
            New here? <Way to="/sign-up">Create an account</Way>
          </span>
        )
      }
    >
      {session.notice && (
        <p className={classes.notice} role="status">
          {session.notice}
        </p>
      )}
      {error !== null && <Problem>{outsideText(error)}</Problem>}
      {withKey ? <KeyForm onDone={toHome} /> : <PasswordForm onUnverified={askToConfirm} />}
      {!withKey && (withPasskey || others.length > 0) && <p className={classes.or}>or</p>}
      {!withKey && withPasskey && <PasskeyButton />}
      {!withKey && <Providers providers={others} />}
      <div className={classes.aside}>
        {!forProgram && (
          <UnstyledButton className={classes.link ?? ''} onClick={() => setWithKey(!withKey)}>
            {withKey ? 'Use your password instead' : 'Use an API key instead'}
          </UnstyledButton>
        )}
        {!withKey && options?.passwordReset && <Way to="/forgot-password">Forgot your password?</Way>}
      </div>
    </Frame>
  );
}
