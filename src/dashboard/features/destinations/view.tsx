/** Shows whether viewers see what is sent to a destination, why not, and what to do. */
import { Button } from '@mantine/core';
import { IconEye, IconEyeExclamation, IconEyeOff, IconEyeQuestion, type TablerIcon } from '@tabler/icons-react';
import type { Destination } from '../../../service/client/index.ts';
import type { Tone } from '../../ui/tone.ts';
import { useResumeRepair } from './queries.ts';
import classes from './view.module.css';
import { describeView, type PlatformLive } from './viewText.ts';

const ICONS: Partial<Record<Tone, TablerIcon>> = {
  good: IconEye,
  attention: IconEyeExclamation,
  danger: IconEyeOff,
};

function Issues({ issues }: Pick<PlatformLive, 'issues'>) {
  if (issues.length === 0) return null;
  return (
    <ul className={classes.issues} aria-label="Remarks of the platform">
      {issues.map(({ code, message, fix }) => (
        <li key={code}>
          {message} {fix && <span>{fix}</span>}
        </li>
      ))}
    </ul>
  );
}

export function ResumeRepair({ id }: Pick<Destination, 'id'>) {
  const resume = useResumeRepair(id);
  return (
    <div className={classes.resume}>
      <p>No new broadcast is started any more, until you ask for it.</p>
      <Button variant="default" size="sm" loading={resume.isPending} onClick={() => resume.mutate()}>
        Go on with the repair
      </Button>
    </div>
  );
}

interface ViewProps {
  id: string;
  view: PlatformLive;
  /** Within another list, which has its own distances. */
  isInset?: boolean;
}

export function ViewersView({ id, view, isInset = false }: ViewProps) {
  const { tone, head, facts, cause, fix } = describeView(view);
  const Icon = ICONS[tone] ?? IconEyeQuestion;
  return (
    <div className={classes.view} data-tone={tone} data-inset={isInset || undefined} data-testid="viewers">
      <p className={classes.head}>
        <Icon size={18} stroke={1.8} aria-hidden />
        <span>
          <strong>{head}</strong>
          {facts.map((fact) => ` · ${fact}`)}
        </span>
      </p>
      {cause && <p>{cause}</p>}
      {fix && <p className={classes.fix}>{fix}</p>}
      <Issues issues={view.issues} />
      {view.repairStalled && <ResumeRepair id={id} />}
    </div>
  );
}
