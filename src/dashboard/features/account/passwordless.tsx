/** Signing in without the password: by a passkey, or with an account that somebody has elsewhere. */
import { Button } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { Name } from '../../ui/name.tsx';
import { findPasskeySite, mayFollow, parseNext, readOAuthQuery, signInAgain } from './addresses.ts';
import { authApi, type SignInResult } from './authApi.ts';
import { Problem } from './fields.tsx';
import classes from './frame.module.css';
import { useOptions } from './queries.ts';
import { useAuthAction } from './useAuthAction.ts';

type Arrive = (arrival: SignInResult) => Promise<unknown>;

function PasskeyButton({ arrive }: { arrive: Arrive }) {
  const { run, busy, problem } = useAuthAction(
    async () => arrive(await authApi.signInWithPasskey(readOAuthQuery(location.search))),
    () => undefined,
  );
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

/** The browser goes there, and comes back to this very page: the tab keeps the drafts. */
function Providers({ providers }: { providers: readonly { id: string; name: string }[] }) {
  const { run, busy, problem } = useAuthAction(
    (id: string) => {
      const { pathname, search, hash, origin } = location;
      const next = pathname === '/sign-in' ? parseNext(search, origin) : `${pathname}${search}${hash}`;
      const query = readOAuthQuery(search);
      const isOwn = pathname === '/sign-in' || query !== undefined;
      const back = signInAgain(isOwn ? search : `?${new URLSearchParams({ next })}`);
      return authApi.signInElsewhere(id, { next: `${origin}${next}`, back: `${origin}${back}` }, query);
    },
    (next) => next !== undefined && mayFollow(next) && location.assign(next),
  );
  return (
    <>
      {providers.map(({ id, name }) => (
        <Button key={id} variant="default" size="md" loading={busy} onClick={() => run(id)} fullWidth>
          {/* One element: a space at the edge of a flex item is lost. */}
          <span>
            Continue with <Name>{name}</Name>
          </span>
        </Button>
      ))}
      <Problem>{problem}</Problem>
    </>
  );
}

/** `arrive` takes a passkey's answer; its rejection is shown. */
export function PasswordlessSignIn({ arrive }: { arrive: Arrive }) {
  const { providers = [], publicUrl } = useOptions() ?? {};
  const site = findPasskeySite(location, publicUrl);
  if (site === undefined && providers.length === 0) return null;
  return (
    <>
      <p className={classes.or}>or</p>
      {site === 'here' && <PasskeyButton arrive={arrive} />}
      {site instanceof URL && (
        <p className={classes.elsewhere}>
          Passkeys work at <a href={site.href}>{site.host}</a>.
        </p>
      )}
      <Providers providers={providers} />
    </>
  );
}
