/** The head of the pages of notifications, and the way from one to the other. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageHead, useTitle } from '../../ui/page.tsx';
import classes from './notifications.module.css';

export function NotificationsHead({ lead, children }: { lead: string; children?: ReactNode }) {
  useTitle('Notifications');
  const way = { className: classes.tab, activeProps: { className: classes.here }, activeOptions: { exact: true } };
  return (
    <>
      <PageHead title="Notifications" lead={lead}>
        {children}
      </PageHead>
      <nav className={classes.tabs} aria-label="Notifications">
        <Link to="/notifications" {...way}>
          Endpoints
        </Link>
        <Link to="/notifications/events" {...way}>
          Events
        </Link>
      </nav>
    </>
  );
}
