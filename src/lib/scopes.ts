/** Names what a principal may be allowed, and describes a principal. Pure: no I/O, no clock. */

export const SCOPES = ['read', 'write', 'destructive', 'billing'] as const;
export type Scope = (typeof SCOPES)[number];

/** What only a person who has signed in may do: neither a key nor a program can be given it. */
export const PERSON = 'person';

/** Who is asking. An account is one user's for now; everything is owned by accounts, so that teams can come. */
export interface Principal {
  accountId: string;
  userId: string;
  scopes: ReadonlySet<Scope>;
  /** By what it is known: an API key, a program's access token, or the session of a person who has signed in. */
  via: 'key' | 'token' | 'session';
  /** Of a person who has signed in. */
  sessionId?: string;
  /** Staff have locked the account. */
  isSuspended?: boolean;
}
