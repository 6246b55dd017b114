/** Who is asking: people, their API keys, and the check of a request's credentials. */
import { hash as digest } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import type { Db } from '../db/pool.ts';
import { AppError } from '../errors.ts';
import { API_KEY_PREFIX, type Auth } from './better-auth.ts';
import { type Principal, SCOPES } from './scopes.ts';
import { disableKey, findKey, findUser, findUserByEmail, type KeyRow, type UserRow } from './store.ts';

/** A revoked key is refused at once here, and within this time by other replicas. */
const CACHE_MS = 1000;
const CACHE_ENTRIES = 10_000;
const MAX_KEY_LENGTH = 200;

export interface Credentials {
  apiKey: string | undefined;
  authorization: string | undefined;
}

export interface NewUser {
  email: string;
  firstName: string;
  lastName?: string;
}

export type AuthService = ReturnType<typeof createAuthService>;

const refused = (detail: string) => new AppError('unauthenticated', detail);

export function createAuthService(deps: { auth: Auth; db: Db; clock?: Clock }) {
  const { auth, db, clock = systemClock } = deps;
  const scopes = new Set(SCOPES);
  /** By the key itself: to hash it takes several microseconds of each request. What has had its time is thrown away. */
  const cache = new Map<string, { until: number; expiresAt: number; keyId: string; principal: Principal }>();
  let sweepAt = 0;

  const mayBeKey = (text: string) => text.startsWith(API_KEY_PREFIX) && text.length <= MAX_KEY_LENGTH;
  /** The auth library stores keys as base64url of their SHA-256; they are random, so a plain hash suffices. */
  const hashOf = (apiKey: string) => digest('sha256', apiKey, 'base64url');

  function cached(apiKey: string): Principal | undefined {
    const known = cache.get(apiKey);
    if (known && known.until > clock.monotonicMs() && known.expiresAt > clock.now().getTime()) return known.principal;
    return undefined;
  }

  function keep(apiKey: string, { id: keyId, userId }: KeyRow, expiresAt: number): Principal {
    const now = clock.monotonicMs();
    if (now >= sweepAt) {
      sweepAt = now + CACHE_MS;
      for (const [key, { until }] of cache) if (until <= now) cache.delete(key);
    }
    if (cache.size >= CACHE_ENTRIES) cache.clear();
    const principal = { accountId: userId, userId, scopes };
    cache.set(apiKey, { until: now + CACHE_MS, expiresAt, keyId, principal });
    return principal;
  }

  async function byKey(apiKey: string): Promise<Principal> {
    if (!mayBeKey(apiKey)) throw refused('The API key is not valid.');
    const known = cached(apiKey);
    if (known) return known;
    const row = await findKey(db, hashOf(apiKey));
    const expiresAt = row?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    if (!row?.enabled || expiresAt <= clock.now().getTime()) throw refused('The API key is not valid.');
    return keep(apiKey, row, expiresAt);
  }

  return {
    /** The one whom `authenticate` would resolve to, if the database need not be asked. */
    known: ({ apiKey }: Credentials): Principal | undefined => (apiKey ? cached(apiKey) : undefined),

    /** Rejects with `unauthenticated` (401). An API key has the full access of its owner. */
    async authenticate({ apiKey, authorization }: Credentials): Promise<Principal> {
      if (apiKey) return byKey(apiKey);
      if (authorization) throw refused('Access tokens are not enabled here; send an API key in X-API-Key.');
      throw refused('Send an API key in the header X-API-Key.');
    },

    /** Answers the id of the user with this e-mail address, making the user first when there is none. */
    async ensureUser({ email, firstName, lastName }: NewUser): Promise<string> {
      const known = await findUserByEmail(db, email);
      if (known) return known.id;
      const { internalAdapter } = await auth.$context;
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

    /** Makes a key. It is shown this once; only its hash is kept. `expiresInSeconds` is a day at least. */
    async createApiKey(userId: string, name: string, expiresInSeconds?: number): Promise<{ id: string; key: string }> {
      const made = await auth.api.createApiKey({
        body: { userId, name, ...(expiresInSeconds ? { expiresIn: expiresInSeconds } : {}) },
      });
      return { id: made.id, key: made.key };
    },

    /** The key stops working at once. False when there is no such key. */
    async revokeApiKey(id: string): Promise<boolean> {
      const done = await disableKey(db, id);
      for (const [key, { keyId }] of cache) if (keyId === id) cache.delete(key);
      return done;
    },

    /** The record of a user; `unauthenticated` when it is gone. */
    async user(userId: string): Promise<UserRow> {
      const user = await findUser(db, userId);
      if (!user) throw refused('The user of this key does not exist any more.');
      return user;
    },
  };
}
