/**
 * Signs users up. A sign-up makes no account: it is a password and names that one browser has sent for an address, and
 * waits for a day. Opening the link in the mail to that address makes the account.
 *
 * The account's password is the one that the same browser signed up with, and that browser is signed in. A browser that has not signed
 * up chooses a password then, and signs in with it. So a stranger who signs up with somebody else's address, before or after its owner, never sets the owner's
 * password, whichever link they open.
 */
import { hash, randomBytes } from 'node:crypto';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import type { Db } from '../db/pool.ts';
import { cookieName, readCookie } from './addresses.ts';
import type { Guesses } from './guesses.ts';
import { type AuthMails, VERIFY_MINUTES } from './mails.ts';
import { findSignUp, findSignUpLink, keepSignUp } from './store.ts';

/** RFC 5321, section 4.5.3.1. */
const MAX_ADDRESS = 254;
/** The syntax of addresses that the auth library uses elsewhere. */
const ADDRESS = /^(?!\.)(?!.*\.\.)([a-z0-9_'+\-.]*)[a-z0-9_+-]@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/i;
/** 32 random bytes as base64url. */
const SECRET = /^[\w-]{43}$/;
const SECONDS = 60 * VERIFY_MINUTES;

const refuse = (code: string, message: string) => new APIError('BAD_REQUEST', { code, message });
const digest = (secret: string): string => hash('sha256', secret, 'base64url');
const makeSecret = (): string => randomBytes(32).toString('base64url');

type SignUpFields = Readonly<Record<string, unknown>>;

/** In lower case, as users are found by it. Throws `INVALID_EMAIL`. */
function readAddress({ email }: SignUpFields): string {
  if (typeof email !== 'string' || email.length > MAX_ADDRESS || !ADDRESS.test(email))
    throw refuse('INVALID_EMAIL', 'The e-mail address is not valid.');
  return email.toLowerCase();
}

interface Chosen {
  password: string;
  firstName: string;
  lastName: string | null;
}

/** The rules (account-rules.ts) have checked names and passwords. */
function readChosen({ password, firstName, lastName }: SignUpFields): Chosen {
  if (typeof password !== 'string') throw refuse('INVALID_PASSWORD', 'Choose a password.');
  if (typeof firstName !== 'string') throw refuse('INVALID_NAME', 'Enter your first name.');
  return { password, firstName, lastName: typeof lastName === 'string' && lastName !== '' ? lastName : null };
}

export interface SignUpSite {
  db: Db;
  publicUrl: string;
  /** Whether strangers may make accounts. */
  isOpen: boolean;
  mails: AuthMails | undefined;
  /** Told where an account is made. */
  guesses?: Guesses | undefined;
}

/** A link by which an address is confirmed; only its hash is kept. */
export function makeLink(): { token: string; hash: string } {
  const token = makeSecret();
  return { token, hash: digest(token) };
}

/** Finds this browser's sign-up for the address by `cookie`, the header. */
export async function findOwnSignUp(db: Db, publicUrl: string, cookie: string, email: string) {
  const secret = readCookie(cookie, cookieName(publicUrl, 'signup')) ?? '';
  if (!SECRET.test(secret) || !ADDRESS.test(email)) return undefined;
  return findSignUp(db, { email: email.toLowerCase(), browser: digest(secret), seconds: SECONDS });
}

export function signUps({ db, publicUrl, isOpen, mails, guesses }: SignUpSite): BetterAuthPlugin {
  const cookie = cookieName(publicUrl, 'signup');
  const attributes = {
    httpOnly: true,
    sameSite: 'lax' as const,
    path: '/',
    maxAge: SECONDS,
    secure: publicUrl.startsWith('https:'),
  };
  const closed = () => refuse('EMAIL_PASSWORD_SIGN_UP_DISABLED', 'Sign-up is closed.');

  // These take the place of the library's endpoints of the same names.
  const signUpEmail = createAuthEndpoint('/sign-up/email', { method: 'POST' }, async (context) => {
    if (!isOpen || !mails) throw closed();
    const fields = (context.body ?? {}) as SignUpFields;
    const email = readAddress(fields);
    const { password, ...names } = readChosen(fields);
    const known = context.getCookie(cookie) ?? '';
    const secret = SECRET.test(known) ? known : makeSecret();
    const hashed = await context.context.password.hash(password);
    await keepSignUp(db, { email, browser: digest(secret), password: hashed, ...names });
    context.setCookie(cookie, secret, attributes);
    await mails.signedUp(email);
    return context.json({ status: true });
  });

  const sendVerificationEmail = createAuthEndpoint('/send-verification-email', { method: 'POST' }, async (context) => {
    const email = readAddress((context.body ?? {}) as SignUpFields);
    await mails?.confirmAgain(email);
    return context.json({ status: true });
  });

  const verifyEmail = createAuthEndpoint('/verify-email', { method: 'POST' }, async (context) => {
    const fields = (context.body ?? {}) as SignUpFields;
    const { token, password } = fields;
    const isToken = typeof token === 'string' && SECRET.test(token);
    const email = isToken ? await findSignUpLink(db, digest(token), SECONDS) : undefined;
    const gone = () => refuse('INVALID_TOKEN', 'The link was used before, or has expired. Request a new one.');
    if (email === undefined) throw gone();
    if (!isOpen) throw closed();
    const { internalAdapter, password: passwords } = context.context;
    const chosen = password === undefined ? undefined : readChosen(fields);
    const signUp = chosen
      ? { ...chosen, password: await passwords.hash(chosen.password) }
      : await findOwnSignUp(db, publicUrl, context.headers?.get('cookie') ?? '', email);
    if (!signUp) {
      const message = 'The sign-up began in another browser. Choose a password for this account.';
      throw new APIError('FORBIDDEN', { code: 'PASSWORD_REQUIRED', message, email });
    }
    const { firstName, lastName } = signUp;
    const person = { firstName, ...(lastName === null ? {} : { lastName }) };
    const name = [firstName, lastName].filter(Boolean).join(' ');
    const user = await internalAdapter
      .createUser({ email, name, emailVerified: true, ...person }, { method: 'email-password' } as never)
      .catch(async (error: unknown) => {
        // Another link was opened at the same moment: the address is unique.
        if (await internalAdapter.findUserByEmail(email)) throw gone();
        throw error;
      });
    const account = { providerId: 'credential', accountId: user.id, password: signUp.password };
    await internalAdapter.linkAccount({ userId: user.id, ...account });
    await guesses?.trust(user.id, context);
    // The browser that signed up has proved the password too. Another one may hold a link that its owner was lured to open.
    if (!chosen) await setSessionCookie(context, { session: await internalAdapter.createSession(user.id), user });
    return context.json({ status: true, email, signedIn: !chosen });
  });

  return { id: 'sign-up', endpoints: { signUpEmail, sendVerificationEmail, verifyEmail } };
}
