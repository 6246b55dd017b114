/**
 * Configures passkeys (W3C Web Authentication, level 3): a user's device keeps a key and releases it after it has
 * verified the user. The library makes and checks the ceremonies; our own rules are here.
 */
import { passkey } from '@better-auth/passkey';
import { APIError } from 'better-auth/api';
import { cookieName } from './addresses.ts';

/** For one account: more than a user has devices. */
const MAX_PASSKEYS = 20;
/** The library's name of the cookie of a ceremony. */
export const PASSKEY_COOKIE = 'passkey';
/** The path on which a passkey starts a session. */
export const PASSKEY_SIGN_IN_PATH = '/passkey/verify-authentication';

/** The device must have verified its user by a PIN, a finger or a face: otherwise a thief could sign in with it. */
function askedForPerson(isVerified: boolean): void {
  if (isVerified) return;
  const message =
    'The device did not verify its user. Set up a PIN, a fingerprint or face recognition on the device, and try again.';
  throw new APIError('BAD_REQUEST', { code: 'PERSON_NOT_VERIFIED', message });
}

/** `publicUrl`: its host is what the keys are for, so they are good for nothing elsewhere (section 13.4.9). */
export const passkeys = (publicUrl: string) =>
  passkey({
    rpID: new URL(publicUrl).hostname,
    rpName: 'loopstream',
    origin: new URL(publicUrl).origin,
    // One that the device can find by itself needs no e-mail address to be typed.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    advanced: { webAuthnChallengeCookie: PASSKEY_COOKIE },
    registration: {
      afterVerification: async ({ ctx, verification, user }) => {
        askedForPerson(verification.registrationInfo?.userVerified ?? false);
        const where = [{ field: 'userId', value: user.id }];
        if ((await ctx.context.adapter.count({ model: 'passkey', where })) < MAX_PASSKEYS) return undefined;
        const message = `The account has ${MAX_PASSKEYS} passkeys, the maximum. Remove a passkey that you no longer use.`;
        throw new APIError('BAD_REQUEST', { code: 'TOO_MANY_PASSKEYS', message });
      },
    },
    authentication: {
      afterVerification: async ({ verification }) => askedForPerson(verification.authenticationInfo.userVerified),
    },
  });

/** How the cookie of a ceremony is called. */
export const passkeyCookie = (publicUrl: string) => ({ name: cookieName(publicUrl, PASSKEY_COOKIE) });

const BASE64URL = /^[\w-]+$/;

/** Whether it has the form of a browser's answer (section 5.1), so that it can be checked further. */
export function isCredential(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, rawId, type, response } = value as Record<string, unknown>;
  if (typeof response !== 'object' || response === null || Array.isArray(response)) return false;
  const isText = (text: unknown) => typeof text === 'string' && BASE64URL.test(text);
  const { transports, ...parts } = response as Record<string, unknown>;
  const isList = transports === undefined || (Array.isArray(transports) && transports.every(isText));
  const texts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const areTexts = texts.every((name) => parts[name] === undefined || parts[name] === null || isText(parts[name]));
  return isText(id) && id === rawId && type === 'public-key' && isList && areTexts && isText(parts.clientDataJSON);
}
