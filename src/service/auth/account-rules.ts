/**
 * Adds our rules to the auth library's: the passwords and names that are allowed, and the effects of a changed password
 * or a sign-in. The pages check the same while the user types; this check holds for every request.
 */
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import { systemClock } from '../../core/lib/clock.ts';
import { DISPLAY_NAME_PATTERN } from '../../core/lib/sentences.ts';
import { isFresh, needsFreshSession } from './freshness.ts';
import type { Guesses } from './guesses.ts';
import { isCredential, PASSKEY_SIGN_IN_PATH } from './passkeys.ts';
import { findCommon, findWeakness } from './password.ts';

const MAX_NAME = 100;
/** RFC 5321, section 4.5.3.1. */
const MAX_ADDRESS = 254;
/** As for all other names: control characters would garble lists and mails. */
// linear-time: one class of signs, repeated once.
const PLAIN = new RegExp(DISPLAY_NAME_PATTERN);

const MAX_PASSKEY_NAME = 64;
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

type RequestFields = Record<string, unknown>;

const refuse = (code: string, message: string) => new APIError('BAD_REQUEST', { code, message });

function checkNames(fields: RequestFields): void {
  for (const name of ['name', 'firstName', 'lastName']) {
    const value = fields[name];
    // A last name can be taken away; the others are kept in no other way.
    if (value === undefined || (value === null && name === 'lastName')) continue;
    const limit = name === 'name' ? 2 * MAX_NAME + 1 : MAX_NAME;
    if (typeof value !== 'string' || value.length > limit || !PLAIN.test(value))
      throw refuse('INVALID_NAME', `A name must have at most ${MAX_NAME} characters, and no control characters.`);
  }
  if (typeof fields.firstName === 'string' && fields.firstName.trim() === '')
    throw refuse('INVALID_NAME', 'Enter your first name.');
}

async function checkPassword(password: unknown, email: unknown): Promise<void> {
  const text = String(password ?? '');
  // Few requests set a password, so a server that starts need not read the list.
  const { COMMON_PASSWORDS } = await import('./common-passwords.ts');
  const weakness = findWeakness(text, typeof email === 'string' ? email : '') ?? findCommon(text, COMMON_PASSWORDS);
  if (weakness !== undefined) throw refuse('PASSWORD_TOO_WEAK', weakness);
}

async function checkNewPassword(password: unknown): Promise<void> {
  if (typeof password !== 'string') throw refuse('INVALID_PASSWORD', 'Choose a new password.');
  await checkPassword(password, undefined);
}

function checkKeep(keepAccess: unknown): void {
  if (keepAccess !== undefined && typeof keepAccess !== 'boolean')
    throw refuse('INVALID_KEEP_ACCESS', 'keepAccess must be true or false.');
}

function checkPasskeyName(name: unknown): void {
  const isName = typeof name === 'string' && name.trim() !== '' && name.length <= MAX_PASSKEY_NAME && PLAIN.test(name);
  if (!isName)
    throw refuse('INVALID_NAME', `A name must have 1 to ${MAX_PASSKEY_NAME} characters, and no control characters.`);
}

/** The database takes nothing else for an id. */
function checkPasskeyId(id: unknown): void {
  if (typeof id !== 'string' || !ID.test(id))
    throw refuse('PASSKEY_NOT_FOUND', 'The account has no passkey with this id.');
}

function checkCredential(response: unknown): void {
  if (!isCredential(response)) throw refuse('INVALID_CREDENTIAL', 'The response is not that of a passkey device.');
}

/** Checks of a request's fields before the library sees them, by path. */
const CHECKS: Record<string, (fields: RequestFields) => void | Promise<void>> = {
  '/sign-up/email': async (fields) => {
    if (String(fields.email ?? '').length > MAX_ADDRESS)
      throw refuse('INVALID_EMAIL', 'The e-mail address is too long.');
    checkNames(fields);
    await checkPassword(fields.password, fields.email);
  },
  '/update-user': checkNames,
  '/verify-email': async (fields) => {
    if (fields.password === undefined) return;
    checkNames(fields);
    await checkPassword(fields.password, undefined);
  },
  '/reset-password': async (fields) => {
    await checkNewPassword(fields.newPassword);
    checkKeep(fields.keepAccess);
  },
  '/change-password': async (fields) => {
    await checkNewPassword(fields.newPassword);
    checkKeep(fields.keepAccess);
  },
  '/passkey/verify-registration': (fields) => {
    checkPasskeyName(fields.name);
    checkCredential(fields.response);
  },
  '/passkey/verify-authentication': (fields) => checkCredential(fields.response),
  '/passkey/update-passkey': (fields) => {
    checkPasskeyName(fields.name);
    checkPasskeyId(fields.id);
  },
  '/passkey/delete-passkey': (fields) => checkPasskeyId(fields.id),
};

/** The fields that our page sends for a sign-in at an outside provider; further fields are ignored. */
const FOR_OUTSIDE = ['provider', 'callbackURL', 'errorCallbackURL', 'oauth_query'];

/** Pictures would have to be loaded from wherever their address says. */
const WITHOUT_PICTURE = ['/sign-up/email', '/update-user'];

const WAYS = ['callbackURL', 'errorCallbackURL', 'newUserCallbackURL', 'redirectTo'];

/** No redirect leads to another site, whatever a request says (RFC 9700, section 4.11.2). */
function checkWays(fields: RequestFields, publicUrl: string): void {
  for (const name of WAYS) {
    const value = fields[name];
    if (value === undefined) continue;
    const { origin } = new URL(publicUrl);
    const isOurs = typeof value === 'string' && URL.canParse(value, origin) && new URL(value, origin).origin === origin;
    if (!isOurs) throw refuse('INVALID_CALLBACK_URL', `${name} must be a URL of this site.`);
  }
}

/** Paths on which a session shows that its user is the owner. On others the library renews one, which may be stolen. */
const PROOFS = ['/sign-in/email', PASSKEY_SIGN_IN_PATH, '/callback/:id', '/change-password'];

/** The functions of other modules that the rules call. */
export interface RulesDeps {
  /** Bounds the passwords that are tried; none where nothing is limited. */
  guesses: Guesses | undefined;
  isVerified(clientId: string): Promise<boolean>;
  /** The owner has a new password, by the old one. */
  passwordChanged(user: { id: string; email: string }, options: { keepsAccess: boolean }): Promise<void>;
  passkeyAdded(email: string, name: string): Promise<void>;
  /** The scopes that the user has allowed the client. */
  listScopes(userId: string, clientId: string): Promise<readonly string[]>;
  /** The user has allowed a client, or has extended its scopes. */
  appConnected(user: { id: string; email: string }, clientId: string): Promise<void>;
  /** A user has requested a link to choose a new password. */
  resetAsked(email: string): Promise<void>;
  /** Whether this browser has signed up with the address, and nobody has confirmed it; by its cookies. */
  hasSignedUp(cookie: string, email: string): Promise<boolean>;
}

/** The client that a page of consent was opened for. */
const clientIn = ({ oauth_query: query }: RequestFields): string =>
  typeof query === 'string' ? (new URLSearchParams(query).get('client_id') ?? '') : '';

/** The scopes that the user is about to allow. */
function scopesIn({ scope, oauth_query: query }: RequestFields): string[] {
  const asked = typeof query === 'string' ? new URLSearchParams(query).get('scope') : null;
  return (typeof scope === 'string' ? scope : (asked ?? '')).split(' ').filter((one) => one !== '');
}

export const rules = (publicUrl: string, deps: RulesDeps) => {
  /** For requests in progress: the scopes that the user had granted the client before. */
  const allowedBefore = new WeakMap<object, readonly string[]>();
  /** For requests in progress: takes back that their password was counted as a guess. */
  const counted = new WeakMap<object, () => Promise<void>>();
  return {
    before: createAuthMiddleware(async (context) => {
      const { path, request } = context;
      const fields = (context.body ?? {}) as RequestFields;
      checkWays({ ...(context.query as RequestFields | undefined), ...fields }, publicUrl);
      await CHECKS[path]?.(fields);
      if (path === '/sign-in/email') {
        const uncount = await deps.guesses?.admit(String(fields.email), context);
        if (uncount && request) counted.set(request, uncount);
      }
      if (WITHOUT_PICTURE.includes(path)) delete fields.image;
      if (path === '/sign-in/social')
        for (const name of Object.keys(fields)) if (!FOR_OUTSIDE.includes(name)) delete fields[name];
      if (path === '/change-password') {
        // A stranger who has the old password may be signed in.
        fields.revokeOtherSessions = true;
        const session = deps.guesses && (await getSessionFromCtx(context));
        if (session) await deps.guesses?.admitSession(session.session.token);
      }
      if (path === '/oauth2/consent' && fields.accept === true && request) {
        const session = await getSessionFromCtx(context);
        if (session) {
          const before = await deps.listScopes(session.user.id, clientIn(fields));
          // A cookie that was stolen once must not become access that outlives it.
          if (
            !isFresh(new Date(session.session.createdAt), systemClock.now()) &&
            needsFreshSession(scopesIn(fields), before)
          )
            throw new APIError('FORBIDDEN', {
              code: 'SESSION_NOT_FRESH',
              message: 'To give a program this access, sign in again.',
            });
          allowedBefore.set(request, before);
        }
      }
    }),
    after: createAuthMiddleware(async (endpoint) => {
      const { path, context, query, json, body, request, headers } = endpoint;
      const { returned, session, newSession } = context;
      // A provider's user is signed in by a redirect, which the library throws.
      if (newSession && PROOFS.includes(path)) {
        await deps.guesses?.trust(newSession.user.id, endpoint);
        if (request) await counted.get(request)?.();
      }
      const fields = (body ?? {}) as RequestFields;
      if (returned instanceof APIError) {
        // The library takes a passkey that is none for a failure of its own.
        if (returned.body?.code === 'FAILED_TO_VERIFY_REGISTRATION')
          throw refuse('FAILED_TO_VERIFY_REGISTRATION', 'The response of the device is not valid. Try again.');
        // The browser knows the address, so the answer is the same whether it has an account or not.
        const isUnknown = path === '/sign-in/email' && returned.status === 'UNAUTHORIZED';
        if (isUnknown && (await deps.hasSignedUp(headers?.get('cookie') ?? '', String(fields.email))))
          throw new APIError('FORBIDDEN', {
            code: 'EMAIL_NOT_VERIFIED',
            message: 'Confirm your e-mail address first.',
          });
        return undefined;
      }
      const user = session?.user;
      if (path === '/change-password' && user)
        await deps.passwordChanged(user, { keepsAccess: fields.keepAccess !== false });
      if (path === '/passkey/verify-registration' && user) await deps.passkeyAdded(user.email, String(fields.name));
      if (path === '/request-password-reset') await deps.resetAsked(String(fields.email));
      const before = path === '/oauth2/consent' && user && request ? allowedBefore.get(request) : undefined;
      if (before && user) {
        const clientId = clientIn(fields);
        const now = await deps.listScopes(user.id, clientId);
        if (now.some((scope) => !before.includes(scope))) await deps.appConnected(user, clientId);
      }
      if (path === '/oauth2/public-client')
        return json({ ...(returned as object), verified: await deps.isVerified(String(query?.client_id)) });
      return undefined;
    }),
  };
};
