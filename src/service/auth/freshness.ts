/** Tells whether a session is young enough for what outlives it. Pure: no I/O, no clock. */

/** A user who adds a permanent credential must have signed in at most this long ago. */
export const FRESH_SECONDS = 3600;

/** Whether a session that began then is fresh. */
export const isFresh = (begunAt: Date, now: Date): boolean => now.getTime() - begunAt.getTime() < FRESH_SECONDS * 1000;

/** Scopes that any session may allow a program: what ends with the access token, and changes nothing. */
const HARMLESS = new Set(['openid', 'profile', 'email', 'service:read']);

/** Whether a program would have more than before, and more than a session that is not fresh may allow. */
export const needsFreshSession = (asked: readonly string[], before: readonly string[]): boolean =>
  asked.some((scope) => !HARMLESS.has(scope) && !before.includes(scope));
