/**
 * The paths below /api/auth that can be reached, and who comes through each. What the auth library has besides is not there.
 * Pure: no I/O, no clock.
 */

/**
 * Who comes:
 * - `program`: an OAuth client, from anywhere, also from pages of other origins. Its cookies are taken away.
 * - `page`: our own page, with the cookie of a session or on the way to one; no other site's page may do it.
 * - `navigation`: a browser on its way, with the cookie, from any site. What it does must be harmless.
 */
export type Visitor = 'program' | 'page' | 'navigation';

/** How often an address may come: `attempt` is for passwords, `registration` for clients, `mail` for what sends letters. */
export type Allowance = 'usual' | 'attempt' | 'registration' | 'mail';

export interface Door {
  path: string;
  methods: ('GET' | 'POST')[];
  visitor: Visitor;
  allowance?: Allowance;
  /** Whether how long an answer takes could tell if an address has an account; of `refusals` alone, or of each. */
  tells?: 'refusals' | 'all';
}

export const DOORS: Door[] = [
  { path: '/oauth2/authorize', methods: ['GET', 'POST'], visitor: 'navigation' },
  { path: '/oauth2/token', methods: ['POST'], visitor: 'program' },
  { path: '/oauth2/register', methods: ['POST'], visitor: 'program', allowance: 'registration' },
  { path: '/oauth2/revoke', methods: ['POST'], visitor: 'program' },
  { path: '/oauth2/userinfo', methods: ['GET', 'POST'], visitor: 'program' },
  { path: '/jwks', methods: ['GET'], visitor: 'program' },
  // What the pages of signing in and of consent send, and what they show of a client.
  { path: '/oauth2/consent', methods: ['POST'], visitor: 'page' },
  { path: '/oauth2/continue', methods: ['POST'], visitor: 'page' },
  { path: '/oauth2/public-client', methods: ['GET'], visitor: 'page' },
  { path: '/sign-in/email', methods: ['POST'], visitor: 'page', allowance: 'attempt', tells: 'refusals' },
  // At an outside provider: the way there, and the way back.
  { path: '/sign-in/social', methods: ['POST'], visitor: 'page' },
  { path: '/callback/oidc', methods: ['GET'], visitor: 'navigation' },
  { path: '/sign-up/email', methods: ['POST'], visitor: 'page', allowance: 'mail', tells: 'all' },
  { path: '/sign-out', methods: ['POST'], visitor: 'page' },
  { path: '/get-session', methods: ['GET'], visitor: 'page' },
  { path: '/update-user', methods: ['POST'], visitor: 'page' },
  { path: '/change-password', methods: ['POST'], visitor: 'page', allowance: 'attempt' },
  // Passkeys: to sign in with one, and to look after one's own.
  { path: '/passkey/generate-authenticate-options', methods: ['GET'], visitor: 'page' },
  { path: '/passkey/verify-authentication', methods: ['POST'], visitor: 'page' },
  { path: '/passkey/generate-register-options', methods: ['GET'], visitor: 'page' },
  { path: '/passkey/verify-registration', methods: ['POST'], visitor: 'page' },
  { path: '/passkey/list-user-passkeys', methods: ['GET'], visitor: 'page' },
  { path: '/passkey/update-passkey', methods: ['POST'], visitor: 'page' },
  { path: '/passkey/delete-passkey', methods: ['POST'], visitor: 'page' },
  { path: '/send-verification-email', methods: ['POST'], visitor: 'page', allowance: 'mail', tells: 'all' },
  { path: '/verify-email', methods: ['POST'], visitor: 'page' },
  { path: '/request-password-reset', methods: ['POST'], visitor: 'page', allowance: 'mail', tells: 'all' },
  { path: '/reset-password', methods: ['POST'], visitor: 'page', allowance: 'attempt' },
];
