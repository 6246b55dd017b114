/** Explains an error to people. */
import { ConnectionError, ProblemError } from '../../service/client/index.ts';

/** The sentence to show for any error. */
export function problemText(error: unknown): string {
  if (error instanceof ProblemError) return error.message;
  return error instanceof ConnectionError
    ? 'The loopstream server does not respond. Your streams keep running without this page.'
    : 'Something failed in this page. Reload it and try again.';
}
