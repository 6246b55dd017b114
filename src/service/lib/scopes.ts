/** Names what a principal may be allowed, and describes a principal. Pure: no I/O, no clock. */

import type { Reach } from './reach.ts';

export const SCOPES = ['read', 'write', 'destructive', 'billing'] as const;
export type Scope = (typeof SCOPES)[number];

/** Operations for a signed-in user only: no key and no program can have this scope. */
export const PERSON = 'person';

/** The authenticated caller. An account is one user's for now; accounts own everything, keys too, so that teams can come. */
export interface Principal {
  accountId: string;
  userId: string;
  scopes: ReadonlySet<Scope>;
  /** The kind of credential: an API key, a program's access token, or the session of a signed-in user. */
  via: 'key' | 'token' | 'session';
  /** A browser sent the key by itself, in a cookie: the request must come from our page. */
  isKeyCookie?: true;
  /** Set for a signed-in user. */
  sessionId?: string;
  /** Of an API key that may touch only some objects. */
  reach?: Reach;
  /** Staff have locked the account. */
  isSuspended?: boolean;
  /** Where the owner of a suspended account asks for the reason. */
  supportUrl?: string;
}
