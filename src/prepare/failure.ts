/** Why a task cannot be done, in the words of UPLOAD_ERRORS. Pure: no I/O, no clock. */
import { UPLOAD_ERRORS, type UploadErrorCode } from '../uploads/spec.ts';

/** An end that trying again would not change, unless `again` says so. The message is for people. */
export class PrepareError extends Error {
  readonly code: UploadErrorCode;
  /** True when the same task may work a minute later: the Job is then allowed another try. */
  readonly again: boolean;

  /** `detail`, if given, is a whole sentence that follows the code's own. */
  constructor(code: UploadErrorCode, detail?: string, options: { cause?: unknown; again?: boolean } = {}) {
    super(detail ? `${UPLOAD_ERRORS[code]} ${detail}` : UPLOAD_ERRORS[code], { cause: options.cause });
    this.name = 'PrepareError';
    this.code = code;
    this.again = options.again ?? false;
  }
}
