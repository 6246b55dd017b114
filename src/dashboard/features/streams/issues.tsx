/** Shows why a stream is not ready, with the remedy beside each reason. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import type { ReadinessIssue } from '../../../service/client/index.ts';
import type { Readiness } from '../../api/api.ts';
import { withoutIds } from '../../api/readable.ts';
import { Named } from '../references/named.tsx';
import { buildChecks, type ChecklistItem, formatWarnings } from './checklist.ts';
import classes from './issues.module.css';

interface IssueLinesProps {
  issues: readonly ReadinessIssue[];
  /** With names in place of ids: within a page, where they can be asked for. */
  named?: boolean;
}

export function IssueLines({ issues, named = false }: IssueLinesProps) {
  return (
    <ul className={classes.issues}>
      {issues.map((issue) => (
        <li key={`${issue.code} ${issue.message}`}>
          <IconCircleX size={18} stroke={1.8} aria-hidden />
          <div>
            <p>{named ? <Named>{issue.message}</Named> : withoutIds(issue.message)}</p>
            {issue.fix && <p className={classes.fix}>{issue.fix}</p>}
          </div>
        </li>
      ))}
    </ul>
  );
}

type Mend = NonNullable<ChecklistItem['mend']>;
const MENDS: Record<Mend, string> = { edit: 'Edit the stream', schedule: 'Change the schedule' };

const describeUnpaid = (label: string): string => (label === 'Credit' ? ' missing' : ' waits for credit');

/** Each requirement, ticked off or with the remedy; `onMend` opens the form for it. */
export function Checklist({
  readiness,
  told = [],
  onMend,
}: {
  readiness: Readiness;
  /** Codes that the page tells of elsewhere. */
  told?: readonly string[];
  onMend: (mend: Mend) => void;
}) {
  return (
    <ul className={classes.issues} data-testid="readiness" data-ready={readiness.ready}>
      {buildChecks(readiness).map(({ label, issues, isUnpaid = false, mend }) => (
        <li key={label} data-fine={(issues.length === 0 && !isUnpaid) || undefined}>
          {issues.length === 0 && !isUnpaid ? (
            <IconCircleCheck size={18} stroke={1.8} aria-hidden />
          ) : (
            <IconCircleX size={18} stroke={1.8} aria-hidden />
          )}
          <div>
            <p>
              <strong>{label}</strong>
              {issues.length === 0 && (
                <span className={classes.state}>{isUnpaid ? describeUnpaid(label) : ' ready'}</span>
              )}
            </p>
            {issues.some(({ code }) => told.includes(code)) && (
              <p className={classes.state}>Not ready: see the top of the page.</p>
            )}
            {issues
              .filter(({ code }) => !told.includes(code))
              .map(({ code, message, fix }) => (
                <div key={`${code} ${message}`}>
                  <p>
                    <Named>{message}</Named>
                  </p>
                  {fix && <p className={classes.fix}>{fix}</p>}
                </div>
              ))}
            {mend && !issues.every(({ code }) => told.includes(code)) && (
              <Button size="compact-sm" variant="default" mt={8} onClick={() => onMend(mend)}>
                {MENDS[mend]}
              </Button>
            )}
          </div>
        </li>
      ))}
      {formatWarnings(readiness).map((text) => (
        <li key={text} data-testid="left-out">
          <IconAlertTriangle size={18} stroke={1.8} aria-hidden />
          <div>
            <p>
              <Named>{text}</Named>
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}
