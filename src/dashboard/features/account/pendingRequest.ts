/**
 * Keeps the request of a program while the person is at their mail. The link of a mail opens another tab, which knows
 * nothing of the program. The request is a query of the authorization server's, and holds no secret.
 */

const KEY = 'loopstream.asked';
/** Programs do not wait for ever, either. */
const KEEP_MS = 3_600_000;

/** Remembers it, or forgets what was remembered where there is nothing. Browsers may refuse to keep anything. */
export function keepPendingRequest(query: string | undefined): void {
  try {
    if (query === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify({ query, until: Date.now() + KEEP_MS }));
  } catch {
    // The person begins again at the program, as where mail is read on another device.
  }
}

/** Undefined when there is none, or it is too long ago. */
export function findPendingRequest(): string | undefined {
  try {
    const { query, until } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as { query?: unknown; until?: unknown };
    return typeof query === 'string' && typeof until === 'number' && until > Date.now() ? query : undefined;
  } catch {
    return undefined;
  }
}
