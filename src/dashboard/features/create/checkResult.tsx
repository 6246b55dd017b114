import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import page from '../../ui/page.module.css';
import { TestProblem, TestResult } from '../destinations/result.tsx';
import classes from './create.module.css';
import type { DestinationCheck } from './useDestinationCheck.ts';

/** The test of the destination with this id, where one was made here. */
export function CheckResult({ check, id }: { check: DestinationCheck; id: string }) {
  const { destination, result, error, isPending, begin } = check;
  if (destination?.id !== id) return null;
  if (isPending)
    return (
      <p className={page.dim} role="status">
        Testing “{destination.name}” with two seconds of black video and silence…
      </p>
    );
  return (
    <div>
      {result && <TestResult test={result} rtmpUrl={destination.rtmpUrl} />}
      {error && <TestProblem error={error} last={destination.lastTest} rtmpUrl={destination.rtmpUrl} />}
      {result && !result.ok && (
        <div className={classes.acts}>
          <Button
            component={Link}
            to="/destinations"
            search={{ form: `edit ${id}` } as never}
            variant="default"
            size="sm"
          >
            Edit destination
          </Button>
          <Button variant="default" size="sm" onClick={() => begin(destination)}>
            Test again
          </Button>
        </div>
      )}
    </div>
  );
}
