/** Shows how far a test came, step by step, and its meaning. */
import { VisuallyHidden } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleDashed, IconCircleXFilled, type TablerIcon } from '@tabler/icons-react';
import { findDestinationFix } from '../../../core/lib/codes/destinations.ts';
import { type Destination, type DestinationTest, ProblemError } from '../../../service/client/index.ts';
import { useNow } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatAgo, formatMs } from '../../lib/format.ts';
import forms from '../../ui/form.module.css';
import { StreamLinks } from '../references/holders.tsx';
import classes from './destinations.module.css';
import { buildSteps, type DestinationTestStep } from './stages.ts';

const ICONS: Record<DestinationTestStep['state'], TablerIcon> = {
  passed: IconCircleCheckFilled,
  failed: IconCircleXFilled,
  'not reached': IconCircleDashed,
};

interface TestResultProps {
  test: DestinationTest;
  rtmpUrl: string;
  /** When that was, for one that was not made now. */
  finishedAt?: string;
}

export function TestResult({ test, rtmpUrl, finishedAt }: TestResultProps) {
  const now = useNow(false);
  const fix = test.ok ? undefined : findDestinationFix(test.code);
  return (
    <div className={classes.result} data-ok={test.ok} role="status" data-testid="test-result">
      {finishedAt && (
        <p className={classes.took}>
          Last test, <time dateTime={finishedAt}>{formatAgo(new Date(finishedAt), new Date(now))}</time>
        </p>
      )}
      <ol className={classes.steps}>
        {buildSteps(rtmpUrl, test).map(({ stage, label, state }) => {
          const Icon = ICONS[state];
          return (
            <li key={stage} data-state={state}>
              <Icon size={17} aria-hidden /> {label}
              <VisuallyHidden>: {state}</VisuallyHidden>
            </li>
          );
        })}
      </ol>
      <p>
        {test.message} <span className={classes.took}>Took {formatMs(test.tookMs)}.</span>
      </p>
      {fix && <p>{fix}</p>}
    </div>
  );
}

interface TestProblemProps {
  error: unknown;
  /** The last result, which stands in for one that would interrupt a stream. */
  last: Destination['lastTest'];
  rtmpUrl: string;
}

/** Why there was no test. */
export function TestProblem({ error, last, rtmpUrl }: TestProblemProps) {
  const streamIDs = error instanceof ProblemError ? (error.problem.streamIDs ?? []) : [];
  // The detail names streams by their ids; their links are below.
  const isOnAir = error instanceof ProblemError && error.code === 'destination_on_air';
  if (!isOnAir)
    return (
      <div className={forms.problem} role="alert">
        {problemText(error)}
        <StreamLinks ids={streamIDs} />
      </div>
    );
  return (
    <>
      <div className={forms.help} role="status">
        No test was needed: a stream is on air here, and a test would interrupt it. Its page says whether the
        destination accepts it.
        <StreamLinks ids={streamIDs} />
      </div>
      {last && <TestResult test={last} rtmpUrl={rtmpUrl} finishedAt={last.finishedAt} />}
    </>
  );
}
