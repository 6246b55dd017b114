/**
 * Lists the reachable paths below /api/auth, and the kind of visitor of each. Other paths of the auth library do not exist.
 * Pure: no I/O, no clock.
 */

/**
 * Kind of client that may use a path:
 * - `program`: an OAuth client of any origin, also in a page. Its cookies are removed.
 * - `page`: our own page, with the cookie of a session or of a sign-in. Other sites' pages are rejected.
 * - `navigation`: a browser that follows a link from any site, with the cookie. The request must be harmless.
 */
export type Visitor = 'program' | 'page' | 'navigation';

/** Rate limit of an address: `attempt` is for passwords, `registration` for clients, `mail` for requests that send mail. */
export type RateLimitKind = 'usual' | 'attempt' | 'registration' | 'mail';

export interface AuthPath {
  path: string;
  methods: ('GET' | 'POST')[];
  visitor: Visitor;
  rateLimit?: RateLimitKind;
  /** Responses whose duration could reveal if an address has an account: `refusals`, or `all`. */
  evenTiming?: 'refusals' | 'all';
  /** The request waits for the server of another provider, which may be slow. */
  waitsForProvider?: boolean;
}

export const AUTH_PATHS: AuthPath[] = [
  { path: '/oauth2/authorize', methods: ['GET', 'POST'], visitor: 'navigation' },
  { path: '/oauth2/token', methods: ['POST'], visitor: 'program' },
  { path: '/oauth2/register', methods: ['POST'], visitor: 'program', rateLimit: 'registration' },
  { path: '/oauth2/revoke', methods: ['POST'], visitor: 'program' },
  { path: '/oauth2/userinfo', methods: ['GET', 'POST'], visitor: 'program' },
  { path: '/jwks', methods: ['GET'], visitor: 'program' },
  // Requests of the sign-in and consent pages, and the client details that they show.
  { path: '/oauth2/consent', methods: ['POST'], visitor: 'page' },
  { path: '/oauth2/continue', methods: ['POST'], visitor: 'page' },
  { path: '/oauth2/public-client', methods: ['GET'], visitor: 'page' },
  { path: '/sign-in/email', methods: ['POST'], visitor: 'page', rateLimit: 'attempt', evenTiming: 'refusals' },
  // Sign-in at another provider: start and callback.
  { path: '/sign-in/social', methods: ['POST'], visitor: 'page', waitsForProvider: true },
  { path: '/callback/oidc', methods: ['GET'], visitor: 'navigation', waitsForProvider: true },
  { path: '/sign-up/email', methods: ['POST'], visitor: 'page', rateLimit: 'mail', evenTiming: 'all' },
  { path: '/sign-out', methods: ['POST'], visitor: 'page' },
  { path: '/get-session', methods: ['GET'], visitor: 'page' },
  { path: '/update-user', methods: ['POST'], visitor: 'page' },
  { path: '/change-password', methods: ['POST'], visitor: 'page', rateLimit: 'attempt' },
  // Passkeys: sign-in and management.
  { path: '/passkey/generate-authenticate-options', methods: ['GET'], visitor: 'page' },
  { path: '/passkey/verify-authentication', methods: ['POST'], visitor: 'page' },
  { path: '/passkey/generate-register-options', methods: ['GET'], visitor: 'page' },
  { path: '/passkey/verify-registration', methods: ['POST'], visitor: 'page' },
  { path: '/passkey/list-user-passkeys', methods: ['GET'], visitor: 'page' },
  { path: '/passkey/update-passkey', methods: ['POST'], visitor: 'page' },
  { path: '/passkey/delete-passkey', methods: ['POST'], visitor: 'page' },
  { path: '/send-verification-email', methods: ['POST'], visitor: 'page', rateLimit: 'mail', evenTiming: 'all' },
  { path: '/verify-email', methods: ['POST'], visitor: 'page' },
  { path: '/request-password-reset', methods: ['POST'], visitor: 'page', rateLimit: 'mail', evenTiming: 'all' },
  { path: '/reset-password', methods: ['POST'], visitor: 'page', rateLimit: 'attempt' },
];
