/** Resolves access tokens of programs, once verified, to the account they act for and their scopes. */
import type { Clock } from '../../core/lib/clock.ts';
import { type Principal, SCOPES } from '../lib/scopes.ts';
import { refuseToken, type Verify } from './bearer.ts';
import { createCredentialCache } from './credential-cache.ts';

/** How long a person's consent, and a token that may have been ended, are taken to last without looking again: what is cut off ends within it. */
const TRUST_MS = 5_000;

export interface TokenDeps {
  scopePrefix: string;
  /** Whether the user's consent still holds, and the token has not been ended. */
  isConsented: (userId: string, clientId: string, jti: string) => Promise<boolean>;
  clock: Clock;
}

export interface KnownToken {
  principal: Principal;
  audience: readonly string[];
}

export function createTokens({ scopePrefix, isConsented, clock }: TokenDeps) {
  const recent = createCredentialCache<KnownToken>(clock);

  async function resolveToken(authorization: string, verify: Verify): Promise<KnownToken> {
    const { sub: userId, aud, scope, client_id: clientId, exp, jti } = await verify();
    if (!(await isConsented(userId, String(clientId), String(jti)))) throw refuseToken();
    const named = new Set(typeof scope === 'string' ? scope.split(' ') : []);
    const scopes = new Set(SCOPES.filter((name) => named.has(`${scopePrefix}:${name}`)));
    const principal: Principal = { accountId: userId, userId, scopes, via: 'token' };
    const known = { principal, audience: [aud].flat() };
    recent.keep(authorization, known, { untilMs: clock.monotonicMs() + TRUST_MS, expiresAt: 1000 * exp });
    return known;
  }

  return {
    /** By the whole header, as below: to look for the token in it costs more than to know it. */
    known: (authorization: string): KnownToken | undefined => recent.get(authorization),

    /** Rejects with `unauthenticated`. The resolved token may be for another resource than `audience`. */
    check: (authorization: string, verify: Verify): Promise<KnownToken> =>
      recent.share(authorization, () => resolveToken(authorization, verify)),

    forget: () => recent.forget(() => true),
  };
}
