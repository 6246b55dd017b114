/** Explains the refusals of the authorization server, and what people can do. Pure: no I/O, no clock. */
import { ProblemError } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { type FormErrors, findFieldErrors } from '../../ui/fieldErrors.ts';
import { AuthApiError } from './authApi.ts';

const SENTENCES: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD:
    'The e-mail address or the password is wrong. Check both, or choose a new password below. If you have just ' +
    'signed up, open the link in our mail first.',
  TOO_MANY_GUESSES:
    'Too many passwords were tried for this account. Use a passkey or another way to sign in, a browser in which you ' +
    'have signed in before, or choose a new password below. Otherwise wait an hour.',
  INVALID_EMAIL: 'This is not an e-mail address. It looks like name@example.com.',
  INVALID_PASSWORD: 'This is not your password. Try again, or sign out and choose a new one.',
  PASSWORD_TOO_SHORT: 'This password is too short. Use 10 characters or more.',
  PASSWORD_TOO_LONG: 'This password is too long. Use at most 256 characters.',
  PASSWORD_TOO_WEAK:
    'This password is easy to guess: attackers try common ones first, with digits and signs added. Choose another one, such as several words.',
  INVALID_TOKEN: 'This link was already used, or has expired.',
  TOKEN_EXPIRED: 'This link has expired. Request a new one.',
  EMAIL_PASSWORD_SIGN_UP_DISABLED: 'Sign-up is closed. Ask the operators of this loopstream for an account.',
  EMAIL_NOT_VERIFIED: 'Confirm your e-mail address first: open the link in the mail that we sent you.',
  RESET_PASSWORD_DISABLED: 'This loopstream sends no mail. Ask its operators for a new password.',
  UNAUTHORIZED: 'Your session has ended. Sign in again.',
  SESSION_EXPIRED: 'Your session has ended. Sign in again.',
  SESSION_NOT_FRESH: 'This action needs a sign-in within the last hour. Sign out, sign in again, and come back.',
  PASSKEY_NOT_FOUND: 'This passkey is no longer known here. Sign in another way, and remove it from your device.',
  CHALLENGE_NOT_FOUND: 'This took too long. Try again.',
  TOO_MANY_PASSKEYS: 'You have 20 passkeys already. Remove those that you do not need.',
  PERSON_NOT_VERIFIED: 'This device has not verified you. Set a PIN, a fingerprint or a face there first.',
  AUTHENTICATION_FAILED: 'The passkey was not accepted. Try again, or sign in another way.',
  FAILED_TO_VERIFY_REGISTRATION: 'The passkey was not accepted. Try again, or use another device.',
  OTHER_PERSON:
    'This passkey belongs to another account. Use one of your own, or leave this page and sign in to that account.',
  PROVIDER_UNAVAILABLE: 'The other service does not respond. Try again in a minute, or sign in another way.',
  invalid_signature: 'This request has expired or was changed on its way. Go back to the app and start again.',
};

/** Of the way back from an outside provider, by its code. */
const OUTSIDE = new Map(
  Object.entries({
    access_denied: 'You did not allow the sign-in there, so you are not signed in. Try again, or sign in another way.',
    account_not_linked:
      'An account with your address exists here, but the address was never confirmed. Choose a new password below, ' +
      'then try again.',
    email_not_found:
      'The other service has no confirmed e-mail address of yours. Confirm it there, then try again, or sign in ' +
      'another way.',
    signup_disabled:
      'You have no account here, and sign-up is closed. Ask the operators of this loopstream for an account.',
    state_mismatch: 'The sign-in took too long, or was started in another window. Try again.',
    state_not_found: 'The sign-in took too long, or was started in another window. Try again.',
  }),
);

/** Why somebody who comes back from an outside provider is not signed in. Nothing of the address is repeated. */
export const explainOutsideError = (code: string): string =>
  OUTSIDE.get(code) ?? 'The sign-in failed there. Try again, or sign in another way.';

/** Explains the browser's errors about passkeys, by name (WebAuthn, sections 5.1.3 and 5.1.4). */
const DEVICE: Record<string, string> = {
  NotAllowedError: 'No passkey was chosen, or it took too long. Try again.',
  AbortError: 'No passkey was chosen. Try again.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys do not work at this address.',
  NotSupportedError: 'This device cannot store a passkey.',
};

/** The sentence to show for any error. */
export function explainAuthError(error: unknown): string {
  const ofDevice = error instanceof Error && !(error instanceof AuthApiError) ? DEVICE[error.name] : undefined;
  if (ofDevice !== undefined) return ofDevice;
  if (!(error instanceof AuthApiError)) return problemText(error);
  const known = SENTENCES[error.code];
  if (known === undefined && error.status === 429)
    return error.message || 'Too many attempts. Wait a few minutes, then try again.';
  if (known === undefined && error.status >= 500) return 'The server failed. Try again in a moment.';
  return known ?? (error.message || 'The request failed. Reload the page and try again.');
}

/** By code, the field that it is about, as the forms of signing in call it. */
const FIELDS = new Map([
  ['INVALID_EMAIL', 'email'],
  ['INVALID_PASSWORD', 'password'],
  ['INVALID_NAME', 'firstName'],
  ['PASSWORD_TOO_SHORT', 'newPassword'],
  ['PASSWORD_TOO_LONG', 'newPassword'],
  ['PASSWORD_TOO_WEAK', 'newPassword'],
]);

/** The same for a form with these fields: at the field, where it is about one. */
export function findAuthFieldErrors(error: unknown, names: readonly string[]): FormErrors {
  if (error instanceof ProblemError) return findFieldErrors(error, names);
  const field = error instanceof AuthApiError ? FIELDS.get(error.code) : undefined;
  const text = explainAuthError(error);
  if (field === undefined || !names.includes(field)) return { fields: {}, rest: text };
  return { fields: { [field]: text }, rest: undefined };
}
