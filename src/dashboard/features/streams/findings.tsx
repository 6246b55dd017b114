/** Shows at the top of a stream's page what keeps it from its viewers, and the button that mends it. */
import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Stream } from '../../api/api.ts';
import { formatTime } from '../../lib/format.ts';
import { Named } from '../references/named.tsx';
import classes from './findings.module.css';
import type { StreamCause } from './findings.ts';
import { usePower } from './queries.ts';

interface FindingsProps {
  stream: Stream;
  findings: readonly StreamCause[];
  /** No viewer sees the stream. */
  isOffAir: boolean;
  /** Opens a form of the page. */
  onMend: (form: string) => void;
}

type MendProps = Pick<FindingsProps, 'stream' | 'onMend'> & { finding: StreamCause };

function MendButton({ stream, finding: { mend, destinationID }, onMend }: MendProps) {
  const power = usePower(stream);
  const search = destinationID === undefined ? {} : { form: `edit ${destinationID}` };
  const edit = (form: string, label: string) => (
    <Button variant="default" size="sm" onClick={() => onMend(form)}>
      {label}
    </Button>
  );
  switch (mend) {
    case 'editDestination':
      return (
        <Button component={Link} to="/destinations" search={search as never} variant="default" size="sm">
          Edit destination
        </Button>
      );
    case 'addCredit':
      return (
        <Button component={Link} to="/billing" variant="default" size="sm">
          Add credit
        </Button>
      );
    case 'editStream':
      return edit('edit', 'Edit the stream');
    case 'replaceMedia':
      return edit('edit', 'Replace the file');
    case 'schedule':
      return edit('schedule', 'Change the schedule');
    case 'tryAgain':
      return (
        <Button variant="default" size="sm" loading={power.isPending} onClick={() => power.mutate('start')}>
          Try again
        </Button>
      );
    default:
      return null;
  }
}

export function Findings({ stream, findings, isOffAir, onMend }: FindingsProps) {
  if (findings.length === 0) return null;
  return (
    <ul className={classes.findings} aria-label="Problems" data-testid="findings">
      {findings.map((finding) => {
        const { code, message, fix, since } = finding;
        const time = formatTime(since);
        return (
          <li key={`${code} ${message}`}>
            <IconAlertTriangle size={20} stroke={1.8} aria-hidden />
            <div className={classes.words} role="status">
              <p className={classes.message}>
                <Named>{message}</Named>
              </p>
              {fix && !message.includes(fix) && <p>{fix}</p>}
              <p className={classes.detail}>
                {time && `${isOffAir ? 'Off air since' : 'Since'} ${time} · `}
                <a href={`/docs/errors/${code}`}>About {code.replaceAll('_', ' ')}</a>
              </p>
            </div>
            <MendButton stream={stream} finding={finding} onMend={onMend} />
          </li>
        );
      })}
    </ul>
  );
}
