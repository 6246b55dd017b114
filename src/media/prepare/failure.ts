/** Why a task cannot be done, in the words of UPLOAD_ERRORS. Pure: no I/O, no clock. */
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../resources/upload/spec.ts';

interface FailureOptions {
  cause?: unknown;
  again?: boolean;
  retryAfterSeconds?: number;
}

/** An end that trying again would not change, unless `again` or `retryAfterSeconds` says so. The message is for people. */
export class PrepareError extends Error {
  readonly code: UploadErrorCode;
  /** True when the same task may work a minute later: the Job is then allowed another try. */
  readonly again: boolean;
  /**
   * Set when the server of a link may be back later: how long it asks to be left alone, 0 where it says nothing. The Job ends, and
   * the operator makes another one then, so that the wait takes no place from others.
   */
  readonly retryAfterSeconds: number | undefined;

  /** `detail`, if given, is a whole sentence that follows the code's own. */
  constructor(
    code: UploadErrorCode,
    detail?: string,
    { cause, again = false, retryAfterSeconds }: FailureOptions = {},
  ) {
    super(detail ? `${UPLOAD_ERRORS[code]} ${detail}` : UPLOAD_ERRORS[code], { cause });
    this.name = 'PrepareError';
    this.code = code;
    this.again = again;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
