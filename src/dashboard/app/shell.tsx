/** The frame around every page, and the sign-in card when nobody has signed in. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconBell, IconLogout, IconUser } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { isPagePath } from '../../service/lib/page-paths.ts';
import { ApiProvider, useSession, useWho } from '../api/context.tsx';
import { useMe } from '../api/me.ts';
import { isOpenPage } from '../features/account/addresses.ts';
import { authApi } from '../features/account/authApi.ts';
import { SignInAgain } from '../features/account/signInAgain.tsx';
import { SignInPage } from '../features/account/signInPage.tsx';
import { UnknownPage } from '../features/account/unknownPage.tsx';
import { CreditBanner } from '../features/billing/creditBanner.tsx';
import { SendingProvider } from '../features/uploads/sending.tsx';
import { DraftsProvider } from '../lib/drafts/context.tsx';
import { Announcer } from '../ui/announce.tsx';
import { Logo } from '../ui/logo.tsx';
import { Failure } from '../ui/notices.tsx';
import { SchemeToggle } from '../ui/schemeToggle.tsx';
import { ConnectionBanner } from './connectionBanner.tsx';
import { useChanges } from './followChanges.ts';
import { Navigation } from './navigation.tsx';
import classes from './shell.module.css';
import { Shortcuts } from './shortcuts.tsx';

function Account() {
  const session = useSession();
  const { data: me } = useMe();
  /** A session that cannot be ended is still there: then the person stays, and can try again. */
  const signOut = async () => {
    if (session.key === undefined && !session.who.hasKeptKey) await authApi.signOut();
    session.signOut();
  };
  return (
    <>
      <span className={classes.email} title={me?.email} data-testid="user-email">
        {me?.email}
      </span>
      <Shortcuts />
      <SchemeToggle />
      <Link to="/notifications" className={classes.wayOnPhone} aria-label="Notifications">
        <IconBell size={19} stroke={1.7} aria-hidden />
      </Link>
      <Link to="/account" className={classes.wayOnPhone} aria-label="Account">
        <IconUser size={19} stroke={1.7} aria-hidden />
      </Link>
      <Tooltip label="Sign out">
        <ActionIcon aria-label="Sign out" onClick={signOut}>
          <IconLogout size={19} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

/** The page. The focus moves to its beginning when somebody comes to another one. */
function Content() {
  const main = useRef<HTMLElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <main id="content" ref={main} className={classes.main} tabIndex={-1}>
      <Outlet />
    </main>
  );
}

/** Reads all anew once the person is back, in this tab or in another. */
function useReturned(): void {
  const { isOver } = useWho();
  const queries = useQueryClient();
  const wasOver = useRef(false);
  useEffect(() => {
    if (wasOver.current && !isOver) void queries.invalidateQueries();
    wasOver.current = isOver;
  }, [isOver, queries]);
}

function SignedIn() {
  useChanges();
  useReturned();
  const { data: me, isPending } = useMe();
  return (
    <Announcer>
      <a className={classes.skip} href="#content">
        Skip to content
      </a>
      <header className={classes.header}>
        <div className={classes.bar}>
          <Link to="/" className={classes.brand} aria-label="loopstream, home">
            <Logo />
            <span>loopstream</span>
          </Link>
          <div className={classes.account}>
            <Account />
          </div>
        </div>
      </header>
      <ConnectionBanner />
      <CreditBanner />
      <DraftsProvider account={me?.id} pending={isPending}>
        <SendingProvider>
          <div className={classes.body}>
            <Navigation />
            <Content />
          </div>
        </SendingProvider>
      </DraftsProvider>
    </Announcer>
  );
}

/** Asks the server once who has signed in, and again when somebody comes back to the page. */
function useAsking(): { failed: unknown; again: () => void } {
  const session = useSession();
  const { key, person, isOver } = useWho();
  const isOpen = key === undefined && (person === undefined || isOver);
  const { error, refetch } = useQuery({
    queryKey: ['session'],
    queryFn: async () => {
      const found = (await authApi.session()) ?? null;
      const keepsKey = found === null && session.keepsKeys && !session.who.isOver && (await authApi.keepsKey());
      // While the page waits for its person, nobody is no news, and somebody else is another page.
      if (!session.who.isOver || found?.id === session.who.person?.id) session.knowPerson(found, keepsKey);
      return found;
    },
    enabled: isOpen,
    refetchOnWindowFocus: 'always',
    gcTime: 0,
  });
  return { failed: error, again: () => void refetch() };
}

export function Shell() {
  const { key, person, hasKeptKey, isOver } = useWho();
  const { failed, again } = useAsking();
  const standsAlone = useLocation({ select: ({ pathname }) => isOpenPage(pathname) });
  const isUnknown = useLocation({ select: ({ pathname }) => !isPagePath(pathname) });
  if (standsAlone) return <Outlet />;
  if (key === undefined && !person && !hasKeptKey) {
    if (person === null) return isUnknown ? <UnknownPage /> : <SignInPage />;
    if (!failed) return null;
    return (
      <main className={classes.main}>
        <Failure title="loopstream does not respond" error={failed} retry={again} />
      </main>
    );
  }
  return (
    <ApiProvider key={key ?? person?.id ?? 'kept key'} apiKey={key}>
      <SignedIn />
      {isOver && person && <SignInAgain person={person} />}
    </ApiProvider>
  );
}
