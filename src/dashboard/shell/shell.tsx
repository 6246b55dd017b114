/** The frame around every page: who is signed in, and the sign-in card when nobody is. */
import { ActionIcon, Tooltip, useMantineColorScheme } from '@mantine/core';
import { IconLogout, IconMoon, IconSun, IconSunMoon } from '@tabler/icons-react';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useChanges } from '../changes.ts';
import { ApiProvider, useKey, useSession } from '../context.tsx';
import { useMe } from '../streams/queries.ts';
import { SendingProvider } from '../uploads/sending.tsx';
import { Announcer } from './announce.tsx';
import { Logo } from './logo.tsx';
import { Navigation } from './navigation.tsx';
import { ConnectionBanner } from './notices.tsx';
import classes from './shell.module.css';
import { SignIn } from './signIn.tsx';

const SCHEMES = {
  auto: { next: 'light', label: 'Theme: as your system. Switch to light', icon: IconSunMoon },
  light: { next: 'dark', label: 'Theme: light. Switch to dark', icon: IconSun },
  dark: { next: 'auto', label: 'Theme: dark. Switch to your system’s', icon: IconMoon },
} as const;

function SchemeToggle() {
  // Mantine stops transitions during the switch with an inline style, which the Content-Security-Policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { next, label, icon: Icon } = SCHEMES[colorScheme];
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={() => setColorScheme(next)}>
        <Icon size={19} stroke={1.7} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

function Account() {
  const session = useSession();
  const { data: me } = useMe();
  return (
    <>
      <span className={classes.email} title={me?.email} data-testid="user-email">
        {me?.email}
      </span>
      <SchemeToggle />
      <Tooltip label="Sign out">
        <ActionIcon aria-label="Sign out" onClick={() => session.signOut()}>
          <IconLogout size={19} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

/** The page. Whoever comes to another one by keyboard or screen reader goes on from its beginning. */
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

function SignedIn() {
  useChanges();
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
      <SendingProvider>
        <div className={classes.body}>
          <Navigation />
          <Content />
        </div>
      </SendingProvider>
    </Announcer>
  );
}

export function Shell() {
  const key = useKey();
  if (key === undefined) return <SignIn corner={<SchemeToggle />} />;
  return (
    <ApiProvider key={key} apiKey={key}>
      <SignedIn />
    </ApiProvider>
  );
}
