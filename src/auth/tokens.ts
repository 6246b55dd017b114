/** Access tokens of programs: JWTs that our authorization server has signed (RFC 9068, section 4). */
import { createLocalJWKSet, errors, type JWK, type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { OVERLAP_SECONDS } from './better-auth.ts';
import { createRecent } from './recent.ts';
import { type Principal, SCOPES } from './scopes.ts';
import type { SigningKeyRow } from './store.ts';

/** A key that is not known makes us look for new ones, so that another server may sign with one at once; no oftener. */
const LOOK_AGAIN_MS = 1000;
/** Keys that are taken away are not trusted for longer. */
const KEYS_MS = 60_000;
/** How long a person's consent is taken to last without looking again: what is cut off ends within it. */
const TRUST_MS = 5_000;
/** Clocks of two servers differ by less. */
const LEEWAY_SECONDS = 5;
const MAX_LENGTH = 4096;
/** The scheme has no case (RFC 9110, section 11.1); the token is made of the signs of RFC 6750, section 2.1. */
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;
const USER_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

export interface TokenDeps {
  issuer: string;
  scopePrefix: string;
  signingKeys: () => Promise<SigningKeyRow[]>;
  /** Whether the person still lets the client act. */
  isConsented: (userId: string, clientId: string) => Promise<boolean>;
  clock: Clock;
}

export interface KnownToken {
  principal: Principal;
  audience: readonly string[];
}

const refused = () => new AppError('unauthenticated', 'The access token is not valid, or has expired.');

/** Its key is always one of ours, whatever a token says of keys (RFC 8725, section 3.10). */
function createKeys({ signingKeys, clock }: Pick<TokenDeps, 'signingKeys' | 'clock'>) {
  let known: { byId: Map<string, JWK>; find: ReturnType<typeof createLocalJWKSet> } | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const now = clock.now().getTime();
    const rows = (await signingKeys()).filter(
      ({ alg, retiredAt }) => alg === 'ES256' && (!retiredAt || retiredAt.getTime() + 1000 * OVERLAP_SECONDS > now),
    );
    const keys = rows.map(({ id, publicKey }): JWK => ({ ...JSON.parse(publicKey), kid: id, alg: 'ES256' }));
    known = { byId: new Map(keys.map((key) => [String(key.kid), key])), find: createLocalJWKSet({ keys }) };
    readAt = clock.monotonicMs();
  }

  const forget = () => {
    readAt = Number.NEGATIVE_INFINITY;
  };

  async function find(header: { kid?: string; alg: string }) {
    const age = clock.monotonicMs() - readAt;
    if (age > KEYS_MS || (age > LOOK_AGAIN_MS && !known?.byId.has(header.kid ?? ''))) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    if (!known?.byId.has(header.kid ?? '')) throw new errors.JWKSNoMatchingKey();
    return known.find({ kid: header.kid, alg: 'ES256' } as never);
  }
  return { find, forget };
}

export function createTokens(deps: TokenDeps) {
  const { issuer, scopePrefix, isConsented, clock } = deps;
  const keys = createKeys(deps);
  const recent = createRecent<KnownToken>(clock);

  async function verify(token: string): Promise<JWTPayload> {
    const requiredClaims = ['sub', 'exp', 'iat', 'jti', 'client_id', 'aud'];
    const options = { algorithms: ['ES256'], typ: 'at+jwt', issuer, requiredClaims, clockTolerance: LEEWAY_SECONDS };
    try {
      return (await jwtVerify(token, keys.find, { ...options, currentDate: clock.now() })).payload;
    } catch (error) {
      // A database that does not answer is not the token's fault.
      if (error instanceof errors.JOSEError) throw refused();
      throw error;
    }
  }

  async function look(authorization: string): Promise<KnownToken> {
    const token = authorization.length <= MAX_LENGTH && BEARER.exec(authorization)?.[1];
    if (!token) throw refused();
    const { sub, aud, scope, client_id: clientId, exp = 0 } = await verify(token);
    const userId = String(sub);
    if (!USER_ID.test(userId) || !(await isConsented(userId, String(clientId)))) throw refused();
    const named = new Set(typeof scope === 'string' ? scope.split(' ') : []);
    const scopes = new Set(SCOPES.filter((name) => named.has(`${scopePrefix}:${name}`)));
    const principal: Principal = { accountId: userId, userId, scopes, via: 'token' };
    const known = { principal, audience: [aud ?? []].flat() };
    recent.keep(authorization, known, { untilMs: clock.monotonicMs() + TRUST_MS, expiresAt: 1000 * exp });
    return known;
  }

  return {
    /** By the whole header, as below: to look for the token in it costs more than to know it. */
    known: (authorization: string): KnownToken | undefined => recent.get(authorization),

    /** Rejects with `unauthenticated`. What it resolves to may be asked for something else than `audience` says. */
    check: (authorization: string): Promise<KnownToken> => recent.share(authorization, () => look(authorization)),

    forget: () => recent.forget(() => true),

    forgetKeys(): void {
      keys.forget();
      recent.forget(() => true);
    },
  };
}
