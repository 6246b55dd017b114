/** Says that a page has nothing to show: an error with a way out, or a missing page. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ProblemError } from '../../service/client/index.ts';
import { problemText } from '../api/problem.ts';
import classes from './notices.module.css';
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

export function NotFound() {
  useTitle('Page not found');
  return (
    <Notice
      title="Page not found"
      actions={
        <Link to="/" className={classes.backHome}>
          Overview
        </Link>
      }
    >
      There is no page at this address.
    </Notice>
  );
}
