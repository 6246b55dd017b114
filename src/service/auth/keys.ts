/** Makes API keys, and finds whom a key is of and what it may do. */
import { hash as digest, randomUUID } from 'node:crypto';
import type { Clock } from '../../core/lib/clock.ts';
import type { Db } from '../db/pool.ts';
import { AppError } from '../lib/errors.ts';
import { readReach } from '../lib/reach.ts';
import { type Principal, SCOPES, type Scope } from '../lib/scopes.ts';
import { createCredentialCache } from './credential-cache.ts';
import { generateKey, isKeyLike } from './key-format.ts';
import { type ApiKeyRow, addKey, findKey, markKeysUsed, readKeyScopes } from './store.ts';
import { createUsage } from './usage.ts';

/** A revoked key is refused at once here, and within this time by other replicas. */
const TRUST_MS = 1000;

/** The access of a new key, its life, and its labels. */
export interface KeyBounds {
  /** Without it the key has the full access of its user. */
  scopes?: readonly Scope[] | undefined;
  /** Without it the key is valid until it is revoked. */
  expiresInSeconds?: number | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  /** Without it the key reaches all objects of the account. */
  labelSelector?: string | undefined;
}

const refused = () => new AppError('unauthenticated', 'The API key is not valid.');

const expired = (at: Date) =>
  new AppError('api_key_expired', `The API key expired at ${at.toISOString()}. Create a new key in the dashboard.`);

/** Keys are stored as base64url of their SHA-256; they are random, so a plain hash suffices. */
const hashKey = (apiKey: string) => digest('sha256', apiKey, 'base64url');

export function createKeys({ db, clock }: { db: Db; clock: Clock }) {
  const everything: ReadonlySet<Scope> = new Set(SCOPES);
  const usage = createUsage((uses, at) => markKeysUsed(db, uses, at), clock);
  const recent = createCredentialCache<{ keyId: string; principal: Principal }>(clock);

  function keep(
    apiKey: string,
    { id: keyId, userId, permissions, labelSelector }: ApiKeyRow,
    expiresAt: number,
  ): Principal {
    const named = readKeyScopes(permissions);
    const scopes = named === null ? everything : new Set(named);
    const reach = labelSelector === null ? {} : { reach: readReach(labelSelector) };
    const principal: Principal = { accountId: userId, userId, scopes, via: 'key', ...reach };
    recent.keep(apiKey, { keyId, principal }, { untilMs: clock.monotonicMs() + TRUST_MS, expiresAt });
    return principal;
  }

  async function findPrincipal(apiKey: string, address: string | undefined): Promise<Principal> {
    const row = await findKey(db, hashKey(apiKey));
    if (!row?.enabled) throw refused();
    const { expiresAt } = row;
    if (expiresAt !== null && expiresAt.getTime() <= clock.now().getTime()) throw expired(expiresAt);
    // A key that is in use comes here each second.
    usage.see({ id: row.id, address }, row.lastUsedAt);
    return keep(apiKey, row, expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  }

  return {
    usage,
    known: (apiKey: string): Principal | undefined => recent.get(apiKey)?.principal,
    forget: (id: string) => recent.forget(({ keyId }) => keyId === id),
    forgetAll: () => recent.forget(() => true),

    /** Rejects with `unauthenticated`, and with `api_key_expired`. `address` is where the request comes from. */
    async check(apiKey: string, address: string | undefined): Promise<Principal> {
      if (!isKeyLike(apiKey)) throw refused();
      const known = recent.get(apiKey);
      return known ? known.principal : recent.share(apiKey, () => findPrincipal(apiKey, address));
    },

    /** The key is shown this once; only its hash is kept. */
    async create(
      userId: string,
      name: string,
      { scopes, expiresInSeconds, labels = {}, labelSelector }: KeyBounds,
    ): Promise<{ id: string; key: string }> {
      const [{ key, hint }, id, now] = [generateKey(), randomUUID(), clock.now()];
      const expiresAt = expiresInSeconds === undefined ? null : new Date(now.getTime() + 1000 * expiresInSeconds);
      const bounds = { labels, scopes, labelSelector, expiresAt };
      await addKey(db, { id, userId, name, hint, hash: hashKey(key), ...bounds, createdAt: now });
      return { id, key };
    },
  };
}
