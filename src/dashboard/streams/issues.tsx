/** Why a stream is not ready: the reason, and what to do about it beside it. */
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import type { ReadinessIssue } from '../../client/index.ts';
import type { Readiness } from '../api.ts';
import classes from './issues.module.css';

export function IssueLines({ issues }: { issues: readonly ReadinessIssue[] }) {
  return (
    <ul className={classes.issues}>
      {issues.map((issue) => (
        <li key={`${issue.code} ${issue.message}`}>
          <IconCircleX size={18} stroke={1.8} aria-hidden />
          <div>
            <p>{issue.message}</p>
            {issue.fix && <p className={classes.fix}>{issue.fix}</p>}
          </div>
        </li>
      ))}
    </ul>
  );
}

export function ReadinessPanel({ readiness }: { readiness: Readiness }) {
  if (readiness.issues.length > 0) return <IssueLines issues={readiness.issues} />;
  return readiness.ready ? (
    <p className={classes.ready}>
      <IconCircleCheck size={18} stroke={1.8} aria-hidden /> Ready: nothing stands in its way.
    </p>
  ) : (
    <p className={classes.unknown}>Not checked yet.</p>
  );
}
