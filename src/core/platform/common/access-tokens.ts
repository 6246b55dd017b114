/**
 * Gets access tokens of OAuth 2.0 and keeps them until they expire (RFC 6749, sections 4.4 and 6). Access tokens are in memory alone;
 * what they are made of is read each time.
 */
import type { Clock } from '../../lib/clock.ts';
import type { SendApiRequest } from './http.ts';

/** A token is renewed before it expires, so that no call that is under way fails. */
const MARGIN_MS = 60_000;
/** A token without a lifetime (RFC 6749 only recommends one). */
const DEFAULT_LIFE_MS = 10 * 60_000;
/** A refusal stands so long, so that a revoked grant is not asked for in each round. */
const REFUSED_FOR_MS = 60_000;

export type TokenFailure = 'unauthorized' | 'rate_limited' | 'platform_failed';
export type TokenResult = { token: string } | { failure: TokenFailure };

/** Fields of the request; undefined where there is no grant. */
export type ReadGrant = () => Promise<Readonly<Record<string, string>> | undefined>;

export interface AccessTokens {
  /** `id` names the grant: another grant has another id. */
  get: (id: string, readGrant: ReadGrant) => Promise<TokenResult>;
  /** Of a token that the API does not take any more. */
  forget: (id: string, token: string) => void;
}

const readLifeMs = (seconds: unknown): number =>
  typeof seconds === 'number' && seconds > 0 ? Math.max(0, seconds * 1_000 - MARGIN_MS) : DEFAULT_LIFE_MS;

function readFailure(status: number | undefined): TokenFailure {
  if (status === 429) return 'rate_limited';
  // 400 is the status of `invalid_grant`: revoked, expired, or of another client.
  return status !== undefined && status >= 400 && status < 500 ? 'unauthorized' : 'platform_failed';
}

export function createAccessTokens(send: SendApiRequest, tokenUrl: string, clock: Clock): AccessTokens {
  const kept = new Map<string, { result: TokenResult; untilMs: number }>();
  const pending = new Map<string, Promise<TokenResult>>();

  const fetchToken = async (id: string, readGrant: ReadGrant): Promise<TokenResult> => {
    const form = await readGrant();
    if (!form) return { failure: 'unauthorized' };
    const answer = await send({ url: new URL(tokenUrl), method: 'POST', form });
    const { access_token: token, expires_in: seconds } = (answer?.body ?? {}) as Record<string, unknown>;
    const isGranted = answer?.status === 200 && typeof token === 'string' && token !== '';
    const result: TokenResult = isGranted ? { token } : { failure: readFailure(answer?.status) };
    const lifeMs = isGranted ? readLifeMs(seconds) : REFUSED_FOR_MS;
    const isKept = isGranted || ('failure' in result && result.failure === 'unauthorized');
    if (isKept) kept.set(id, { result, untilMs: clock.now().getTime() + lifeMs });
    return result;
  };

  return {
    async get(id, readGrant) {
      const known = kept.get(id);
      if (known && clock.now().getTime() < known.untilMs) return known.result;
      kept.delete(id);
      const running = pending.get(id) ?? fetchToken(id, readGrant).finally(() => pending.delete(id));
      pending.set(id, running);
      return running;
    },
    forget(id, token) {
      const result = kept.get(id)?.result;
      if (result && 'token' in result && result.token === token) kept.delete(id);
    },
  };
}
