/** Reads the outcome of a prepare Job from the status of its pods. Pure: no I/O, no clock. */

import type { Job, Pod } from '../../kube/core.ts';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../lib/codes/uploads.ts';
import { type PrepareResult, readResult } from '../../protocol/task.ts';
import { listTerminations } from '../pods/status.ts';

export type Outcome =
  | { kind: 'running'; requeueAt?: Date }
  /** `givenUp`: the Job would try again, to no end. */
  | { kind: 'done'; result: PrepareResult; givenUp?: true }
  /** It finished, but its result is lost: it has to run again. */
  | { kind: 'lost' };

/** Pods of one Job that a watchdog ended: the first may have met a node or a program that was ill. */
const ENDLESS_TRIES = 2;

/** A Job may be seen as finished before its pod is: how long the pod's status may lag behind, in milliseconds. */
const LAG_MS = 15_000;

const failed = (code: UploadErrorCode, message: string): Outcome => ({
  kind: 'done',
  result: { action: 'failed', error: { code, message } },
});

const finished = (job: Job, type: 'Complete' | 'Failed') =>
  job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

/** Lists the words of the failed pods, in the order of their ends; undefined for one that did not get as far. */
function listErrors(pods: readonly Pod[]) {
  const ended = pods.flatMap(listTerminations).filter(({ exitCode }) => exitCode !== 0);
  ended.sort((a, b) => (a.finishedAt ?? '').localeCompare(b.finishedAt ?? ''));
  return ended.map(({ message }) => {
    const read = readResult(message);
    return read.ok && read.message.action === 'failed' ? read.message : undefined;
  });
}

/** A pod that ended well decides, even before the Job controller has counted it; then the Job's own end does. */
export function readOutcome(job: Job, pods: readonly Pod[], now: Date): Outcome {
  for (const end of pods.flatMap(listTerminations)) {
    if (end.exitCode !== 0) continue;
    const read = readResult(end.message);
    return read.ok
      ? { kind: 'done', result: read.message }
      : failed('prepare_failed', `${UPLOAD_ERRORS.prepare_failed.meaning} The Job returned an unreadable result.`);
  }
  const errors = listErrors(pods);
  const endless = errors.filter((error) => error?.isEndless === true);
  const failure = finished(job, 'Failed');
  const lastEndless = endless.at(-1);
  if (lastEndless && endless.length >= ENDLESS_TRIES)
    return { kind: 'done', result: lastEndless, ...(!failure && { givenUp: true }) };
  if (failure) {
    // It never had a pod, which a policy or a quota may have refused: nothing is known of the file.
    if (failure.reason === 'DeadlineExceeded' && pods.length === 0 && !job.status?.failed) return { kind: 'lost' };
    if (failure.reason === 'DeadlineExceeded') return failed('prepare_timeout', UPLOAD_ERRORS.prepare_timeout.meaning);
    const result = errors.at(-1);
    return result ? { kind: 'done', result } : failed('prepare_failed', UPLOAD_ERRORS.prepare_failed.meaning);
  }
  if (!finished(job, 'Complete')) return { kind: 'running' };
  const since = Date.parse(job.status?.completionTime ?? '');
  const requeueAt = new Date(since + LAG_MS);
  return Number.isNaN(since) || now >= requeueAt ? { kind: 'lost' } : { kind: 'running', requeueAt };
}
