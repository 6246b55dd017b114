/**
 * Configures better-auth: users, their sessions and API keys, and the OAuth 2.1 authorization server, all in Postgres.
 * server/auth/paths.ts and mount.ts decide which of its paths can be reached, and check requests before it.
 */
import { apiKey } from '@better-auth/api-key';
import { oauthProvider } from '@better-auth/oauth-provider';
import { type BetterAuthPlugin, betterAuth } from 'better-auth';
import { isAPIError } from 'better-auth/api';
import { jwt } from 'better-auth/plugins';
import type { Pool } from 'pg';
import { createDb, type Db } from '../db/pool.ts';
import { describePassword, type NoticeKind } from '../lib/mail/notices.ts';
import { SCOPES } from '../lib/scopes.ts';
import { type RulesDeps, rules } from './account-rules.ts';
import { AUTH_PATH, CONSENT_PAGE, cookieName, listResources, SIGN_IN_PAGE, sessionCookieName } from './addresses.ts';
import type { ClientDocuments } from './client-documents.ts';
import { documentClients } from './document-clients.ts';
import { FRESH_SECONDS } from './freshness.ts';
import { createGuesses, type Guesses } from './guesses.ts';
import { type AuthMails, RESET_MINUTES } from './mails.ts';
import { oidcSignIn } from './oidc.ts';
import type { OidcProvider } from './oidc-claims.ts';
import { PASSKEY_COOKIE, PASSKEY_SIGN_IN_PATH, passkeyCookie, passkeys } from './passkeys.ts';
import { MAX_PASSWORD, MIN_PASSWORD } from './password.ts';
import { GRANTS } from './requests.ts';
import { passwordResets, type Revoke } from './reset-password.ts';
import { findOwnSignUp, signUps } from './sign-up.ts';
import { findConsent, findEmailOfJoined, forgetSignUps, readList, revokeAccess } from './store.ts';

/** To the database, of one process. */
export const AUTH_CONNECTIONS = 16;

/** RFC 9068 tokens cannot be called back, so they live for 15 minutes. */
export const ACCESS_TOKEN_SECONDS = 15 * 60;
const REFRESH_TOKEN_SECONDS = 30 * 86_400;
/**
 * A refresh that is repeated within this time gets the same answer: two windows refresh at once, or an answer was lost
 * (RFC 9700, section 4.14.2). A later use of the token ends its family.
 */
const REUSE_SECONDS = 10;
/** RFC 6749, section 4.1.2: ten minutes at most. It is the time that a person has for signing in and consenting, too. */
const CODE_SECONDS = 600;
const SESSION_SECONDS = 14 * 86_400;
const SIGNING_KEY_SECONDS = 30 * 86_400;
/** A retired signing key stays public until all its tokens have expired, with time to spare. */
export const OVERLAP_SECONDS = 4 * ACCESS_TOKEN_SECONDS;

/** The parts that HTTP needs; commands and migrations do without. */
export interface AuthSite {
  /** The public URL of the service, without a slash at the end: the issuer of all tokens. */
  publicUrl: string;
  scopePrefix: string;
  mails?: AuthMails | undefined;
  /** Whether strangers may make accounts; only where mails can be sent. */
  signUp?: boolean;
  /** Passwords that all places without an earlier sign-in together may try for one account in an hour; no bound without it. */
  authLimits?: { attempts: number } | undefined;
  /** Whether somebody here has looked into who made a client. */
  isVerified?: ((clientId: string) => Promise<boolean>) | undefined;
  /** Finds clients that are described by documents of their own; without it there are only registered ones. */
  documents?: ClientDocuments | undefined;
  /** The outside provider of sign-in. */
  outside?: OidcProvider | undefined;
  /** Told, in words without secrets, why nobody could sign in there. */
  onOutsideFailure?: ((reason: string) => void) | undefined;
  /** Called when an account was made whose owner has confirmed the address. */
  onConfirmed?: ((user: { id: string; email: string }) => Promise<void>) | undefined;
  /** Called when API keys, connected apps or sessions were revoked. */
  onRevoked?: (() => void) | undefined;
}

/** For commands, which serve nothing: the library wants an address. */
const NOWHERE = 'http://127.0.0.1';
/** Time for the sign-in at an outside provider; the state stored for it expires then, too. */
const OUTSIDE_SECONDS = 600;

interface Addressed {
  user: { email: string };
  token: string;
}

/** Applies our own effects of changes to an account, and notifies its owner. */
function consequences(
  db: Db,
  { publicUrl = NOWHERE, mails, isVerified, onRevoked }: Partial<AuthSite>,
  guesses: Guesses | undefined,
) {
  const notice = async (email: string, kind: NoticeKind, what: string) =>
    mails?.notice(email, { kind, what, at: new Date() });
  const revoke = async (
    { id, email }: { id: string; email: string },
    what: { keys: boolean; passkeys: boolean; sessions: boolean },
  ): Promise<void> => {
    const { revoked, kept } = await revokeAccess(db, id, what);
    onRevoked?.();
    await notice(email, 'password', describePassword(revoked, kept));
  };
  const ruling: RulesDeps = {
    guesses,
    isVerified: async (clientId) => (await isVerified?.(clientId)) ?? false,
    // The library has ended the other sessions already, and begun a new one here.
    passwordChanged: (user, { keepsAccess }) =>
      revoke(user, { keys: !keepsAccess, passkeys: !keepsAccess, sessions: false }),
    passkeyAdded: (email, name) => notice(email, 'passkey', name),
    listScopes: async (userId, clientId) => readList((await findConsent(db, userId, clientId))?.scopes),
    appConnected: async ({ id, email }, clientId) =>
      notice(email, 'app', (await findConsent(db, id, clientId))?.name ?? ''),
    resetAsked: async (email) => mails?.confirmAgain(email.toLowerCase()),
    hasSignedUp: async (cookie, email) => (await findOwnSignUp(db, publicUrl, cookie, email)) !== undefined,
  };
  const passwordReset: Revoke = (user, { keepsAccess }) =>
    revoke(user, { keys: !keepsAccess, passkeys: true, sessions: true });
  return { ruling, passwordReset, notice };
}

const people = ({ publicUrl = NOWHERE, mails }: Partial<AuthSite>, ruling: RulesDeps) => ({
  hooks: rules(publicUrl, ruling),
  emailAndPassword: {
    enabled: true,
    // An address that is known is then answered like one that is not.
    requireEmailVerification: mails !== undefined,
    minPasswordLength: MIN_PASSWORD,
    maxPasswordLength: MAX_PASSWORD,
    resetPasswordTokenExpiresIn: 60 * RESET_MINUTES,
    ...(mails && {
      sendResetPassword: ({ user, token }: Addressed) => mails.resetPassword(user.email, token),
    }),
  },
});

/**
 * A cookie that no neighbouring host can set over TLS (RFC 6265bis, section 4.1.3.2). `lax`, for a program sends a person here
 * from its own page; what a request with it must prove is in http/samesite.ts.
 */
const cookies = (publicUrl: string) => {
  const secure = publicUrl.startsWith('https:');
  return {
    cookiePrefix: 'loopstream',
    useSecureCookies: false,
    defaultCookieAttributes: { httpOnly: true, sameSite: 'lax' as const, secure },
    cookies: {
      session_token: { name: sessionCookieName(publicUrl) },
      [PASSKEY_COOKIE]: passkeyCookie(publicUrl),
      state: { name: cookieName(publicUrl, 'state'), attributes: { maxAge: OUTSIDE_SECONDS } },
    },
  };
};

const authorizationServer = ({ publicUrl, scopePrefix }: Pick<AuthSite, 'publicUrl' | 'scopePrefix'>) =>
  oauthProvider({
    loginPage: SIGN_IN_PAGE,
    consentPage: CONSENT_PAGE,
    scopes: ['openid', 'profile', 'email', 'offline_access', ...SCOPES.map((scope) => `${scopePrefix}:${scope}`)],
    grantTypes: [...GRANTS],
    resources: publicUrl === NOWHERE ? [] : Object.values(listResources(publicUrl)),
    cachedResources: new Set(Object.values(listResources(publicUrl))),
    enforcePerClientResources: false,
    allowDynamicClientRegistration: true,
    allowUnauthenticatedClientRegistration: true,
    accessTokenExpiresIn: ACCESS_TOKEN_SECONDS,
    refreshTokenExpiresIn: REFRESH_TOKEN_SECONDS,
    refreshTokenReuseInterval: REUSE_SECONDS,
    codeExpiresIn: CODE_SECONDS,
    // Its own type is too narrow for exactOptionalPropertyTypes.
  }) as unknown as BetterAuthPlugin;

/** `pool` must have the search_path `auth`. Keys are stored as SHA-256 only; the first characters are kept as a hint. */
export const createAuth = (pool: Pool, secret: string, site: Partial<AuthSite> = {}) => {
  const { publicUrl = NOWHERE, scopePrefix = 'service', mails, signUp = false, outside } = site;
  const db = createDb(pool);
  const guesses =
    site.authLimits &&
    createGuesses({
      db,
      secret,
      publicUrl,
      limit: site.authLimits.attempts,
      ways: { hasMail: mails !== undefined, provider: outside?.name },
      onRefused: async (email) => mails?.guessed(email),
    });
  const { ruling, passwordReset, notice } = consequences(db, site, guesses);
  return betterAuth({
    database: pool,
    secret,
    baseURL: publicUrl,
    basePath: AUTH_PATH,
    trustedOrigins: [new URL(publicUrl).origin],
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Ours counts for all replicas together (mount.ts).
    rateLimit: { enabled: false },
    advanced: {
      // It would be off where NODE_ENV says that this is a test, and is to be tested as it is.
      disableOriginCheck: false,
      database: { generateId: 'uuid' },
      ipAddress: { ipAddressHeaders: ['x-client-address'] },
      ...cookies(publicUrl),
    },
    session: {
      expiresIn: SESSION_SECONDS,
      updateAge: 86_400,
      freshAge: FRESH_SECONDS,
      cookieCache: { enabled: false },
      additionalFields: { begunBy: { type: 'string', required: false, input: false, returned: false } },
    },
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) =>
            context?.path === PASSKEY_SIGN_IN_PATH ? { data: { ...session, begunBy: 'passkey' } } : undefined,
        },
      },
      user: {
        create: {
          after: async ({ id, email, emailVerified }) => {
            // An address that has an account cannot be confirmed for another one.
            await forgetSignUps(db, email);
            if (emailVerified) await site.onConfirmed?.({ id, email });
          },
        },
      },
      account: {
        create: {
          after: async ({ providerId, userId }) => {
            if (providerId === 'credential' || !outside) return;
            const email = await findEmailOfJoined(db, userId, providerId);
            if (email !== undefined) await notice(email, 'provider', outside.name);
          },
        },
      },
    },
    onAPIError: {
      // The page for a request whose answer cannot be sent to its client, since that may be anybody's.
      errorURL: `${publicUrl}${CONSENT_PAGE}`,
      // Failures, such as a database that is away, are answered as everywhere.
      onError: (error) => {
        if (!isAPIError(error)) throw error;
      },
    },
    ...people(site, ruling),
    // A person's account elsewhere is joined to one here only where both sides know the address to be theirs.
    account: {
      updateAccountOnSignIn: false,
      accountLinking: { requireLocalEmailVerified: true, trustedProviders: [] },
    },
    user: {
      additionalFields: {
        firstName: { type: 'string', required: true },
        lastName: { type: 'string', required: false },
      },
    },
    plugins: [
      // Its table alone is used: keys.ts makes and checks keys. Sessions for keys stay off: they would echo the key.
      apiKey({ rateLimit: { enabled: false } }),
      jwt({
        jwks: {
          keyPairConfig: { alg: 'ES256' },
          rotationInterval: SIGNING_KEY_SECONDS,
          gracePeriod: OVERLAP_SECONDS,
        },
        jwt: { issuer: publicUrl },
        disableSettingJwtHeader: true,
      }),
      authorizationServer({ publicUrl, scopePrefix }),
      ...(site.documents ? [documentClients(site.documents)] : []),
      passkeys(publicUrl),
      signUps({ db, publicUrl, isOpen: signUp, mails, guesses }),
      passwordResets(passwordReset, guesses),
      ...(site.outside ? [oidcSignIn(site.outside, site.onOutsideFailure ?? (() => undefined))] : []),
    ],
  });
};

export type Auth = ReturnType<typeof createAuth>;

/**
 * The library writes to the database as it begins, and never recovers where that fails: it begins with the first call, and
 * again with the next one until it succeeds.
 */
export function beginLazily(make: () => Auth): () => Promise<Auth> {
  let begun: Auth | undefined;
  return async () => {
    begun ??= make();
    const mine = begun;
    try {
      await mine.$context;
      return mine;
    } catch (error) {
      if (begun === mine) begun = undefined;
      throw error;
    }
  };
}
