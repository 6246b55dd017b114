/** Finds the session of a signed-in user by the cookie that the browser sends. */
import { isAPIError } from 'better-auth/api';
import type { Clock } from '../../core/lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { type Principal, SCOPES } from '../lib/scopes.ts';
import { readCookie } from './addresses.ts';
import type { Auth } from './better-auth.ts';
import { createCredentialCache } from './credential-cache.ts';

/** A session that has been ended is refused at once here, and within this time by other replicas. */
const TRUST_MS = 1000;
const MAX_LENGTH = 4096;

export function createSessions(deps: { library: () => Promise<Auth>; cookie: string; clock: Clock }) {
  const { library, cookie, clock } = deps;
  const recent = createCredentialCache<Principal>(clock);
  const scopes = new Set(SCOPES);

  async function findPrincipal(header: string): Promise<Principal | undefined> {
    const value = header.length <= MAX_LENGTH && readCookie(header, cookie);
    if (!value) return undefined;
    const headers = new Headers({ cookie: `${cookie}=${value}` });
    const { api } = await library();
    const found = await api.getSession({ headers, query: { disableRefresh: true } }).catch((error) => {
      if (!isAPIError(error)) throw error;
      throw new AppError('upstream_unavailable', 'The database did not respond. Try again.', { cause: error });
    });
    if (!found) return undefined;
    const { id: sessionId, userId, expiresAt } = found.session;
    const principal: Principal = { accountId: userId, userId, scopes, via: 'session', sessionId };
    const untilMs = clock.monotonicMs() + TRUST_MS;
    recent.keep(header, principal, { untilMs, expiresAt: expiresAt.getTime() });
    return principal;
  }

  return {
    /** By the whole header, as below. */
    known: (header: string): Principal | undefined => recent.get(header),

    /** Undefined when there is no such session, or it has ended. */
    check: (header: string): Promise<Principal | undefined> => recent.share(header, () => findPrincipal(header)),

    forget: () => recent.forget(() => true),
  };
}
