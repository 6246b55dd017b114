/**
 * Plans how long an import waits for a server that is away, and when the link is tried next. The Job ends meanwhile, so that the
 * wait takes no place from others. Pure: no I/O, no clock.
 */
import { type Backoff, exponentialMs } from '../../lib/backoff.ts';
import { kubeTime } from '../../lib/clock.ts';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../lib/codes/uploads.ts';
import type { UploadWaiting } from '../../resources/upload/spec.ts';

/** From the first failure on; a server that is away for longer is given up. */
const PATIENCE_MS = 30 * 60_000;
/** Before the second try, doubled with each; a server that says when to come back is obeyed beyond that. */
const BACKOFF: Backoff = { baseMs: 10_000, maxMs: 5 * 60_000 };

interface Failure {
  error: { code: UploadErrorCode; message: string };
  retryAfterSeconds?: number;
}

/** The wait after a try that failed; undefined where the failure lasts, or has lasted for as long as it may. */
export function planWait(
  before: UploadWaiting | undefined,
  { error, retryAfterSeconds }: Failure,
  now: Date,
): UploadWaiting | undefined {
  if (retryAfterSeconds === undefined) return undefined;
  const since = before?.since ?? kubeTime(now);
  const until = Date.parse(since) + PATIENCE_MS;
  if (now.getTime() >= until) return undefined;
  const tries = (before?.tries ?? 0) + 1;
  const next = Math.min(now.getTime() + Math.max(exponentialMs(BACKOFF, tries - 1), retryAfterSeconds * 1000), until);
  const message = error.message.replace(`${UPLOAD_ERRORS[error.code].meaning} `, '');
  return { message, since, until: kubeTime(new Date(until)), nextTryAt: kubeTime(new Date(next)), tries };
}

/** Explains why a server is not waited for any more. */
export const explainGivenUp = ({ error }: Failure, { tries, since }: UploadWaiting): string =>
  `${error.message} The import tried the link ${tries + 1} times since ${since}.`;

export const isWaiting = (waiting: UploadWaiting | undefined, now: Date): waiting is UploadWaiting =>
  waiting !== undefined && Date.parse(waiting.nextTryAt) > now.getTime();

/** Describes the wait in a sentence. */
export const describeWait = ({ message, nextTryAt, until }: UploadWaiting): string =>
  `${message} The import retries the link at ${nextTryAt}, and gives up at ${until}.`;
