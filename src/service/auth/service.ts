/** Authenticates callers: users, their API keys, and the check of a request's credentials. */
import { hash as digest } from 'node:crypto';
import { type Clock, systemClock } from '../../core/lib/clock.ts';
import type { Db } from '../db/pool.ts';
import { AppError } from '../lib/errors.ts';
import type { Principal } from '../lib/scopes.ts';
import { keyCookieName, listResources, readCookie, sessionCookieName } from './addresses.ts';
import { parseBearer, type TokenRules, type Verify } from './bearer.ts';
import { type Auth, type AuthSite, OVERLAP_SECONDS } from './better-auth.ts';
import { createPrograms } from './client-requests.ts';
import { forgetOldGuesses } from './guesses/store.ts';
import { API_KEY_PREFIX } from './key-format.ts';
import { createKeys, type KeyBounds } from './keys.ts';
import { createSessions } from './sessions.ts';
import { createSigningKeys } from './signing-keys.ts';
import {
  disableKey,
  dropSigningKeys,
  findSigningKeys,
  findUser,
  findUserByEmail,
  forgetOldAccess,
  isConsented,
  retireSigningKeys,
  type UserRow,
  wasRefreshTokenUsed,
} from './store.ts';
import { createTokens, type KnownToken } from './tokens.ts';

export interface Credentials {
  apiKey: string | undefined;
  /** The header: `Bearer` with an access token, or with an API key, which counts as one in `apiKey`. */
  authorization: string | undefined;
  /** Verifies the token in `authorization`; without it no token is taken that is not known yet. */
  verify?: Verify | undefined;
  /** The header; it counts only where neither of the others was sent. */
  cookie?: string | undefined;
  /** Where the request comes from; it is kept as the address of the key's last use. */
  address?: string | undefined;
}

export interface NewUser {
  email: string;
  firstName: string;
  lastName?: string;
}

export interface AuthServiceDeps {
  library: () => Promise<Auth>;
  db: Db;
  /** Without it there are neither tokens nor sessions. */
  site?: Pick<AuthSite, 'publicUrl' | 'scopePrefix'> | undefined;
  clock?: Clock;
}

export type AuthService = ReturnType<typeof createAuthService>;

const refused = (detail: string) => new AppError('unauthenticated', detail);

/** Many clients can send a Bearer credential and no other header: an API key is taken there too. */
function keyIn(authorization: string): string | undefined {
  const bearer = parseBearer(authorization);
  return bearer?.startsWith(API_KEY_PREFIX) ? bearer : undefined;
}

/** Tokens and sessions, where there is a site that they are of. */
function openSite({ library, db, site, clock = systemClock }: AuthServiceDeps) {
  if (!site) return undefined;
  const { publicUrl, scopePrefix } = site;
  const signingKeys = createSigningKeys({ read: () => findSigningKeys(db), clock });
  const tokens = createTokens({
    scopePrefix,
    isConsented: (userId, clientId, jti) => isConsented(db, userId, clientId, jti),
    clock,
  });
  const { api, agents } = listResources(publicUrl);
  /** A token for the whole API is good for the agents' tools too, and not the other way round. */
  const accepted = { api: [api], agents: [agents, api] };
  const tokenRules: TokenRules = { issuer: publicUrl, audience: [api, agents], findKey: signingKeys.find };
  return {
    signingKeys,
    tokens,
    tokenRules,
    accepted,
    sessions: createSessions({ library, cookie: sessionCookieName(publicUrl), clock }),
  };
}

export function createAuthService(deps: AuthServiceDeps) {
  const { library, db, clock = systemClock } = deps;
  const openContext = async () => (await library()).$context;
  const keys = createKeys({ db, clock });
  const site = openSite(deps);

  const isFor = ({ audience }: KnownToken, resource: keyof NonNullable<typeof site>['accepted']): boolean =>
    site?.accepted[resource].some((accepted) => audience.includes(accepted)) ?? false;

  /** The API key that the browser keeps, which counts only where nobody has signed in. */
  const findKeptKey = (cookie: string): string | undefined =>
    deps.site && readCookie(cookie, keyCookieName(deps.site.publicUrl));
  const byCookie = (principal: Principal): Principal => ({ ...principal, isKeyCookie: true });

  /** The principal of a checked token; the token must be made for the requested resource (RFC 8707, section 2). */
  function allow(token: KnownToken, resource: 'api' | 'agents'): Principal {
    if (!isFor(token, resource)) throw refused('The access token was issued for another resource.');
    return token.principal;
  }

  return {
    usage: keys.usage,

    /** Requests of programs to the authorization server. */
    programs: createPrograms({ db, onEnded: () => site?.tokens.forget() }),

    /** The accepted access tokens; none where it is undefined. */
    tokenRules: site?.tokenRules,

    /** The one whom `authenticate` would resolve to, if the database need not be asked. */
    known({ apiKey, authorization, cookie }: Credentials): Principal | undefined {
      if (apiKey) return keys.known(apiKey);
      if (authorization) {
        const token = site?.tokens.known(authorization);
        if (token) return isFor(token, 'api') ? token.principal : undefined;
        const key = keyIn(authorization);
        return key === undefined ? undefined : keys.known(key);
      }
      return cookie === undefined ? undefined : site?.sessions.known(cookie);
    },

    /**
     * Rejects with `unauthenticated` (401), and with `api_key_expired` (401). A session has the full access of its user; a token
     * has its scopes, and so has an API key that was made with some. `resource`: the requested resource, which the token must have been made for.
     */
    async authenticate(
      { apiKey, authorization, verify, cookie, address }: Credentials,
      { resource = 'api' }: { resource?: 'api' | 'agents' } = {},
    ): Promise<Principal> {
      if (apiKey) return keys.check(apiKey, address);
      if (authorization) {
        const key = keyIn(authorization);
        if (key !== undefined) return keys.check(key, address);
        if (!site || !verify) throw refused('This service accepts no access tokens. Send an API key in X-API-Key.');
        return allow(site.tokens.known(authorization) ?? (await site.tokens.check(authorization, verify)), resource);
      }
      const person =
        cookie === undefined ? undefined : (site?.sessions.known(cookie) ?? (await site?.sessions.check(cookie)));
      if (person) return person;
      const kept = cookie === undefined ? undefined : findKeptKey(cookie);
      if (kept) return byCookie(await keys.check(kept, address));
      throw refused(
        'The request has no credentials. Send an API key in the header X-API-Key, or an API key or access token as `Authorization: Bearer …`.',
      );
    },

    /** Something about sessions or consents has changed: all are looked up anew. */
    forgetCredentials(): void {
      site?.sessions.forget();
      site?.tokens.forget();
    },

    /** Keys, sessions and consents have been taken back: all are looked up anew. */
    forgetAll(): void {
      keys.forgetAll();
      site?.sessions.forget();
      site?.tokens.forget();
    },

    /** Whether a refresh token was exchanged, or given back, before: the auth library keeps SHA-256 of them. */
    wasUsed: (refreshToken: string): Promise<boolean> =>
      wasRefreshTokenUsed(db, digest('sha256', refreshToken, 'base64url')),

    /** Answers the id of the user with this e-mail address, making the user first when there is none. */
    async ensureUser({ email, firstName, lastName }: NewUser): Promise<string> {
      const known = await findUserByEmail(db, email);
      if (known) return known.id;
      const { internalAdapter } = await openContext();
      const name = [firstName, lastName].filter(Boolean).join(' ');
      try {
        const user = { email, name, emailVerified: false, firstName, ...(lastName ? { lastName } : {}) };
        return (await internalAdapter.createUser(user, { method: 'email' } as never)).id;
      } catch (error) {
        // Two at once: the address is unique, and the other one has made it.
        const other = await findUserByEmail(db, email);
        if (other) return other.id;
        throw error;
      }
    },

    /** Sets the user's password and confirms the address: only its owner gets a password from us. */
    async setPassword(userId: string, password: string): Promise<void> {
      const { internalAdapter, password: passwords } = await openContext();
      const hash = await passwords.hash(password);
      const accounts = await internalAdapter.findAccounts(userId);
      if (accounts.some(({ providerId }) => providerId === 'credential'))
        await internalAdapter.updatePassword(userId, hash);
      else await internalAdapter.linkAccount({ userId, providerId: 'credential', accountId: userId, password: hash });
      await internalAdapter.updateUser(userId, { emailVerified: true });
    },

    /** Whether this is the user's password. */
    async hasPassword(userId: string, password: string): Promise<boolean> {
      const { internalAdapter, password: passwords } = await openContext();
      const accounts = await internalAdapter.findAccounts(userId);
      const hash = accounts.find(({ providerId }) => providerId === 'credential')?.password;
      return hash ? passwords.verify({ hash, password }) : false;
    },

    /** Makes a key. It is shown this once; only its hash is kept. */
    createApiKey: (userId: string, name: string, bounds: KeyBounds = {}): Promise<{ id: string; key: string }> =>
      keys.create(userId, name, bounds),

    /** The key stops working at once. False when there is no such key. */
    async revokeApiKey(id: string): Promise<boolean> {
      const done = await disableKey(db, id);
      keys.forget(id);
      return done;
    },

    /**
     * From now on tokens are signed with a new key. Those of the old one stay good until they are over, unless `revoke` says
     * that it is in the wrong hands: then they end at once here, and within a minute elsewhere.
     */
    async rotateSigningKey({ revoke = false } = {}): Promise<void> {
      await (revoke ? dropSigningKeys(db) : retireSigningKeys(db));
      if (!revoke) return;
      site?.signingKeys.forget();
      site?.tokens.forget();
    },

    /** Deletes expired rows; to be called now and then. */
    async forgetOld(unusedClientDays: number): Promise<void> {
      await forgetOldAccess(db, { unusedClientDays, overlapSeconds: OVERLAP_SECONDS });
      await forgetOldGuesses(db);
    },

    /** The record of a user; `unauthenticated` when it is gone. */
    async user(userId: string): Promise<UserRow> {
      const user = await findUser(db, userId);
      if (!user) throw refused('The user of this API key no longer exists.');
      return user;
    },
  };
}
