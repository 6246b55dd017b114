/** Reads the outcome of a prepare Job from the status of its pods. Pure: no I/O, no clock. */

import type { Job, Pod } from '../../kube/core.ts';
import { parseAs } from '../../lib/parse.ts';
import { PrepareResult } from '../../media/prepare/job/task.ts';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../resources/upload/spec.ts';
import { listTerminations } from '../pods/status.ts';

export type Outcome =
  | { kind: 'running'; requeueAt?: Date }
  | { kind: 'done'; result: PrepareResult }
  /** It finished, and what it said can no longer be had: it has to be done again. */
  | { kind: 'lost' };

/** A Job may be seen as finished before its pod is: how long the pod's status may lag behind, in milliseconds. */
const LAG_MS = 15_000;

const failed = (code: UploadErrorCode, message: string): Outcome => ({
  kind: 'done',
  result: { action: 'failed', error: { code, message } },
});

const finished = (job: Job, type: 'Complete' | 'Failed') =>
  job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

/** The last failed pod's own words, when it got as far as to say them. */
function lastError(pods: readonly Pod[]): PrepareResult | undefined {
  const ended = pods.flatMap(listTerminations).filter(({ exitCode }) => exitCode !== 0);
  ended.sort((a, b) => (a.finishedAt ?? '').localeCompare(b.finishedAt ?? ''));
  const result = parseAs(PrepareResult, ended.at(-1)?.message);
  return result?.action === 'failed' ? result : undefined;
}

/** A pod that ended well decides, even before the Job controller has counted it; then the Job's own end does. */
export function readOutcome(job: Job, pods: readonly Pod[], now: Date): Outcome {
  for (const end of pods.flatMap(listTerminations)) {
    if (end.exitCode !== 0) continue;
    const result = parseAs(PrepareResult, end.message);
    return result
      ? { kind: 'done', result }
      : failed(
          'prepare_failed',
          'Preparing the file failed: the Job returned an unreadable result. Import the file again.',
        );
  }
  const failure = finished(job, 'Failed');
  if (failure) {
    // It never had a pod, which a policy or a quota may have refused: nothing is known of the file.
    if (failure.reason === 'DeadlineExceeded' && pods.length === 0 && !job.status?.failed) return { kind: 'lost' };
    if (failure.reason === 'DeadlineExceeded')
      return failed('prepare_timeout', `${UPLOAD_ERRORS.prepare_timeout} Import a shorter file.`);
    const result = lastError(pods);
    return result
      ? { kind: 'done', result }
      : failed('prepare_failed', `${UPLOAD_ERRORS.prepare_failed} Import the file again.`);
  }
  if (!finished(job, 'Complete')) return { kind: 'running' };
  const since = Date.parse(job.status?.completionTime ?? '');
  const requeueAt = new Date(since + LAG_MS);
  return Number.isNaN(since) || now >= requeueAt ? { kind: 'lost' } : { kind: 'running', requeueAt };
}
