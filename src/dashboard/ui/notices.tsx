/** What a page says when it has nothing to show: an error with a way out, a missing page, a lost connection. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconRefresh, IconWifiOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ProblemError } from '../../client/index.ts';
import { useLostAt, useNow } from '../api/context.tsx';
import { problemText } from '../api/problem.ts';
import classes from '../app/shell.module.css';
import { formatAgo } from '../lib/format.ts';
import { useTitle } from './page.tsx';

export function Notice({ title, children, actions }: { title: string; children: ReactNode; actions?: ReactNode }) {
  return (
    <section className={classes.notice}>
      <IconAlertTriangle size={30} stroke={1.6} aria-hidden className={classes.noticeIcon} />
      <h1>{title}</h1>
      <p>{children}</p>
      {actions && <div className={classes.noticeActions}>{actions}</div>}
    </section>
  );
}

export function Failure({ title, error, retry }: { title: string; error: unknown; retry: () => void }) {
  return (
    <div role="alert">
      <Notice
        title={title}
        actions={
          <Button variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={retry}>
            Try again
          </Button>
        }
      >
        {problemText(error)}
        {error instanceof ProblemError && <small className={classes.code}> ({error.code})</small>}
      </Notice>
    </div>
  );
}

export const NotFound = () => (
  <Notice
    title="Nothing here"
    actions={
      <Link to="/" className={classes.backHome}>
        Overview
      </Link>
    }
  >
    No page has this address.
  </Notice>
);

type Noun = 'stream' | 'playlist';

/** What is left of it, and where one makes another. */
const NOUNS = {
  stream: {
    word: 'Stream',
    left: 'It is off air. What it played and where it was sent to are still among your uploads and destinations.',
    anew: <Link to="/create">Create a stream</Link>,
  },
  playlist: {
    word: 'Playlist',
    left: 'What was in it is still among your uploads.',
    anew: (
      <Link to="/playlists" search={{ form: 'new' }}>
        New playlist
      </Link>
    ),
  },
};

const Ways = ({ noun }: { noun: Noun }) => (
  <p className={classes.ways}>
    <Link to={`/${noun}s`}>All {noun}s</Link>
    {NOUNS[noun].anew}
  </p>
);

/** An address of a thing that has a page of its own, where there is none. */
export function Missing({ noun }: { noun: Noun }) {
  const title = `${NOUNS[noun].word} not found`;
  useTitle(title);
  return (
    <Notice title={title} actions={<Ways noun={noun} />}>
      No {noun} of yours has this address. It may have been deleted, or belong to another account. Look for it among all
      of yours, or make a new one.
    </Notice>
  );
}

/** Of one that was there a moment ago: another window or a program has deleted it. */
export function Deleted({ noun, name }: { noun: Noun; name: string }) {
  const title = `“${name}” was deleted`;
  useTitle(title);
  return (
    <div role="alert">
      <Notice title={title} actions={<Ways noun={noun} />}>
        This {noun} was deleted in another window, or by a program. {NOUNS[noun].left}
      </Notice>
    </div>
  );
}

/** Shown while the server does not answer; what is on the page then is as old as it says. */
export function ConnectionBanner() {
  const lostAt = useLostAt();
  const now = useNow(lostAt !== undefined);
  if (lostAt === undefined) return null;
  return (
    <div className={classes.banner} role="status">
      <IconWifiOff size={18} aria-hidden />
      <span>
        Connection lost <time>{formatAgo(new Date(lostAt), new Date(now))}</time>, retrying. Your streams run on without
        this page.
      </span>
    </div>
  );
}
