import { Link } from '@tanstack/react-router';
import { PageHead } from '../../ui/page.tsx';
import { useBilling } from '../billing/queries.ts';
import classes from './account.module.css';
import { DeletePanel, ExportPanel } from './leavePanels.tsx';
import { LimitsPanel } from './limitsPanel.tsx';
import { PasskeysPanel } from './passkeysPanel.tsx';
import { PasswordPanel, ProfilePanel } from './profilePanels.tsx';
import { SessionsPanel } from './sessionsPanel.tsx';
import { UserOnly } from './userOnly.tsx';

export function AccountPage() {
  const costs = useBilling().data !== undefined;
  return (
    <UserOnly title="Account">
      <PageHead title="Account" lead="Your profile, your sessions and your data." />
      <div className={classes.panels}>
        <div className={classes.ways}>
          {costs && <Link to="/billing">Billing</Link>}
          <Link to="/account/keys">API keys</Link>
          <Link to="/account/apps">Connected apps</Link>
          <a href="/third-party-notices.txt">Open source notices</a>
        </div>
        <ProfilePanel />
        <PasswordPanel />
        <PasskeysPanel />
        <SessionsPanel />
        <LimitsPanel />
        <ExportPanel />
        <DeletePanel />
      </div>
    </UserOnly>
  );
}
