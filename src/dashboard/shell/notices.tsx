/** What a page says when it has nothing to show: an error with a way out, a missing page, a lost connection. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconRefresh, IconWifiOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ProblemError } from '../../client/index.ts';
import { useLostAt, useNow } from '../context.tsx';
import { formatAgo } from '../format.ts';
import { problemText } from '../problem.ts';
import classes from './shell.module.css';

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

/** Of a thing that has a page of its own. */
export const Missing = ({ noun }: { noun: 'stream' | 'playlist' }) => (
  <Notice
    title={noun === 'stream' ? 'Stream not found' : 'Playlist not found'}
    actions={
      <Link to={`/${noun}s`} className={classes.backHome}>
        All {noun}s
      </Link>
    }
  >
    No {noun} of yours has this id. It may have been deleted.
  </Notice>
);

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
