import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { PersonSession } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatAgo } from '../../lib/format.ts';
import classes from './account.module.css';
import { AccountPanel } from './accountPanel.tsx';
import { nameBrowser } from './browsers.ts';
import { Problem } from './fields.tsx';
import { keys, useSessions } from './queries.ts';
import { useAuthAction } from './useAuthAction.ts';

function SessionLine({ session, now }: { session: PersonSession; now: number }) {
  const { sessions } = useApi().calls;
  const queries = useQueryClient();
  const { run, busy, error } = useAuthAction(
    () => sessions.end(session.id),
    () => queries.invalidateQueries({ queryKey: keys.sessions }),
  );
  const where = nameBrowser(session.userAgent);
  return (
    <li>
      <div>
        <p>
          {where} {session.isCurrent && <strong>· this one</strong>}
        </p>
        <p className={classes.dim}>
          {session.address && `From ${session.address}, `}
          {formatAgo(new Date(session.createdAt), new Date(now))}
        </p>
        <Problem>{error && problemText(error)}</Problem>
      </div>
      {!session.isCurrent && (
        <Button
          variant="default"
          size="xs"
          loading={busy}
          onClick={() => run(undefined)}
          aria-label={`End the session of ${where}`}
        >
          End
        </Button>
      )}
    </li>
  );
}

export function SessionsPanel() {
  const { sessions } = useApi().calls;
  const queries = useQueryClient();
  const now = useNow(false);
  const { data, error } = useSessions();
  const others = useAuthAction(
    () => sessions.endOthers(),
    () => queries.invalidateQueries({ queryKey: keys.sessions }),
  );
  return (
    <AccountPanel
      title="Sessions"
      lead="Browsers that are signed in to your account. If you do not recognize one, end it and change your password."
    >
      <Problem>{error && problemText(error)}</Problem>
      <ul className={classes.sessions}>
        {data?.data.map((session) => (
          <SessionLine key={session.id} session={session} now={now} />
        ))}
      </ul>
      <Problem>{others.error && problemText(others.error)}</Problem>
      {data && data.data.length > 1 && (
        <div>
          <Button variant="default" loading={others.busy} onClick={() => others.run(undefined)}>
            End all other sessions
          </Button>
        </div>
      )}
    </AccountPanel>
  );
}
