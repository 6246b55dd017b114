/** What people are told of what the authorization server refuses, and what they can do. Pure: no I/O, no clock. */
import { problemText } from '../problem.ts';
import { PeopleError } from './people.ts';

const SENTENCES: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD:
    'The e-mail address or the password is not right. Check both, or choose a new password below.',
  INVALID_EMAIL: 'This is not an e-mail address. It looks like name@example.com.',
  INVALID_PASSWORD: 'This is not your password. Try again, or sign out and choose a new one.',
  PASSWORD_TOO_SHORT: 'This password is too short. Use 10 characters or more.',
  PASSWORD_TOO_LONG: 'This password is too long. Use at most 256 characters.',
  PASSWORD_TOO_WEAK: 'Many people have this password, so it is tried first. Choose another one.',
  INVALID_TOKEN: 'This link has been used, or is no longer good. Ask for a new one.',
  TOKEN_EXPIRED: 'This link is no longer good: links work for a while only. Ask for a new one.',
  EMAIL_PASSWORD_SIGN_UP_DISABLED: 'Nobody can sign up here. Ask whoever runs this loopstream for an account.',
  EMAIL_NOT_VERIFIED: 'Confirm your e-mail address first: we have just sent you the link again.',
  RESET_PASSWORD_DISABLED: 'This loopstream sends no mail. Ask whoever runs it for a new password.',
  UNAUTHORIZED: 'Your session has ended. Sign in again.',
  SESSION_EXPIRED: 'Your session has ended. Sign in again.',
  invalid_signature: 'This request is too old or was changed on its way. Go back to the app and begin again.',
};

/** The sentence to show for any error. */
export function peopleText(error: unknown): string {
  if (!(error instanceof PeopleError)) return problemText(error);
  if (error.status === 429) return error.message || 'Too many attempts. Wait a few minutes, then try again.';
  if (error.status >= 500) return 'Something went wrong on our side. Try again in a moment.';
  return SENTENCES[error.code] ?? (error.message || 'This did not work. Reload the page and try again.');
}
