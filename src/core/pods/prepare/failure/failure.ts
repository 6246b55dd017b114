/** Defines the failure of a task, in the words of its code. Pure: no I/O, no clock. */
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../../lib/codes/uploads.ts';

interface FailureOptions {
  cause?: unknown;
  again?: boolean;
  retryAfterSeconds?: number;
}

/** A failure that a retry would not change, unless `again` or `retryAfterSeconds` is set. The message is for people. */
export class PrepareError extends Error {
  readonly code: UploadErrorCode;
  /** False when it says no more than the sentence of its code. */
  readonly hasDetail: boolean;
  /** True when the same task may work a minute later: the Job may then retry. */
  readonly again: boolean;
  /**
   * Seconds that the server of a link asks to be left alone, when it may be back later; 0 where it names no time. The
   * Job ends, and the operator makes another one then, so that the wait takes no place from others.
   */
  readonly retryAfterSeconds: number | undefined;

  /** `detail`, if given, is a whole sentence that follows the code's own. */
  constructor(
    code: UploadErrorCode,
    detail?: string,
    { cause, again = false, retryAfterSeconds }: FailureOptions = {},
  ) {
    const { meaning } = UPLOAD_ERRORS[code];
    super(detail ? `${meaning} ${detail}` : meaning, { cause });
    this.name = 'PrepareError';
    this.code = code;
    this.hasDetail = Boolean(detail);
    this.again = again;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
