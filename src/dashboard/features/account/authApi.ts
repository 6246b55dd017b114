/**
 * Signing in and what belongs to it, as the authorization server takes it from pages: JSON below /api/auth, with the cookie
 * that the browser keeps. No secret stays in this program.
 */
import { ConnectionError } from '../../../service/client/index.ts';
import type { Person } from '../../api/session.ts';

/** A refusal by the server. `code` is its own; `detail` is for people, where there is one; `email` is the address it is about. */
export class AuthApiError extends Error {
  override readonly name = 'AuthApiError';
  readonly status: number;
  readonly code: string;
  readonly email: string;

  constructor(status: number, code: string, detail: string, email = '') {
    super(detail);
    this.status = status;
    this.code = code;
    this.email = email;
  }
}

/** A passkey of the person. */
export interface Passkey {
  id: string;
  name: string;
  createdAt: string;
}

/** The program that a page asks consent for. */
export interface AskingClient {
  name: string | undefined;
  uri: string | undefined;
  /** Whether somebody here has looked into its author. */
  isVerified: boolean;
}

/** The server's answer to a sign-in: where to go next, and mostly who the person is, so that it need not be asked. */
export interface SignInResult {
  next: string | undefined;
  person: Person | undefined;
}

type AuthAnswer = Record<string, unknown>;

const TIMEOUT_MS = 15_000;

async function ask(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<AuthAnswer> {
  let response: Response;
  try {
    response = await fetch(`/api/auth${path}`, {
      method,
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(method === 'POST' && {
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body ?? {}),
      }),
    });
  } catch (cause) {
    throw new ConnectionError('The loopstream server did not respond.', { cause });
  }
  const answer = (await response.json().catch(() => undefined)) as AuthAnswer | null | undefined;
  if (response.ok) return answer ?? {};
  const text = (name: string) => (typeof answer?.[name] === 'string' ? answer[name] : '');
  throw new AuthApiError(response.status, text('code') || text('error'), text('detail'), text('email'));
}

/** Where the browser is to go next, where the server says so. */
const readNext = (answer: AuthAnswer): string | undefined => {
  const next = answer.url ?? answer.redirect_uri;
  return typeof next === 'string' && answer.redirect !== false ? next : undefined;
};

const toSignInResult = (answer: AuthAnswer): SignInResult => ({
  next: readNext(answer),
  person: answer.user as Person | undefined,
});

/** With the query of a program, the server goes on with the wish of that program. */
const withQuery = (oauthQuery: string | undefined) => (oauthQuery === undefined ? {} : { oauth_query: oauthQuery });

export const authApi = {
  /** Undefined when nobody has signed in here. */
  async session(): Promise<Person | undefined> {
    const { user } = await ask('GET', '/get-session');
    return user as Person | undefined;
  },

  async signIn(who: { email: string; password: string }, oauthQuery?: string): Promise<SignInResult> {
    return toSignInResult(await ask('POST', '/sign-in/email', { ...who, ...withQuery(oauthQuery) }));
  },

  signUp: (who: { email: string; password: string; firstName: string; lastName?: string }) =>
    ask('POST', '/sign-up/email', { ...who, name: [who.firstName, who.lastName].filter(Boolean).join(' ') }),

  signOut: () => ask('POST', '/sign-out'),

  /** Whether the browser keeps an API key that is good, for all tabs. */
  keepsKey: async (): Promise<boolean> => (await ask('GET', '/key-session')).kept === true,

  /** Has the browser keep an API key, in a cookie that no page can read. */
  keepKey: (key: string) => ask('POST', '/key-session', undefined, { 'x-api-key': key }),

  forgetKey: () => ask('POST', '/key-session/end'),

  sendVerification: (email: string) => ask('POST', '/send-verification-email', { email }),

  /**
   * Confirms an address, and returns it. `chosen`, in a browser that has not signed up: without it that is refused with
   * `PASSWORD_REQUIRED`. The browser that has signed up is signed in.
   */
  async verify(
    token: string,
    chosen?: { password: string; firstName: string; lastName?: string },
  ): Promise<string | undefined> {
    const { email } = await ask('POST', '/verify-email', { token, ...chosen });
    return typeof email === 'string' ? email : undefined;
  },

  requestReset: (email: string) => ask('POST', '/request-password-reset', { email }),

  /** `keepAccess`: API keys and connected apps stay good. */
  reset: (token: string, newPassword: string, keepAccess: boolean) =>
    ask('POST', '/reset-password', { token, newPassword, keepAccess }),

  /** `keepAccess`: API keys, connected apps and passkeys stay good. */
  changePassword: (currentPassword: string, newPassword: string, keepAccess: boolean) =>
    ask('POST', '/change-password', { currentPassword, newPassword, keepAccess }),

  updateName: (firstName: string, lastName: string) =>
    ask('POST', '/update-user', { firstName, lastName, name: [firstName, lastName].filter(Boolean).join(' ') }),

  async client(id: string): Promise<AskingClient> {
    const {
      client_name: name,
      client_uri: uri,
      verified,
    } = await ask('GET', `/oauth2/public-client?${new URLSearchParams({ client_id: id })}`);
    return {
      name: typeof name === 'string' ? name : undefined,
      uri: typeof uri === 'string' ? uri : undefined,
      isVerified: verified === true,
    };
  },

  consent: async (accept: boolean, oauthQuery: string): Promise<string | undefined> =>
    readNext(await ask('POST', '/oauth2/consent', { accept, oauth_query: oauthQuery })),

  /**
   * Begins to sign in with an account that somebody has elsewhere; answers where the browser goes for that. It comes back to
   * `next`, or with an error to `back`, both addresses of this site.
   */
  signInElsewhere: async (
    provider: string,
    { next, back }: { next: string; back: string },
    oauthQuery?: string,
  ): Promise<string | undefined> =>
    readNext(
      await ask('POST', '/sign-in/social', {
        provider,
        callbackURL: next,
        errorCallbackURL: back,
        ...withQuery(oauthQuery),
      }),
    ),

  /** Has the device ask for its passkey, and signs in its owner. Rejects with the browser's error where there is none. */
  async signInWithPasskey(oauthQuery?: string): Promise<SignInResult> {
    const { startAuthentication } = await import('@simplewebauthn/browser');
    const options = await ask('GET', '/passkey/generate-authenticate-options');
    // The server insists on it; its library does not ask the device for it.
    const optionsJSON = { ...options, userVerification: 'required' } as never;
    const response = await startAuthentication({ optionsJSON });
    return toSignInResult(await ask('POST', '/passkey/verify-authentication', { response, ...withQuery(oauthQuery) }));
  },

  /** Has the device make one for this account, under this name. */
  async addPasskey(name: string): Promise<void> {
    const { startRegistration } = await import('@simplewebauthn/browser');
    const options = await ask('GET', '/passkey/generate-register-options');
    const response = await startRegistration({ optionsJSON: options as never });
    await ask('POST', '/passkey/verify-registration', { response, name });
  },

  /** Newest first. */
  async passkeys(): Promise<Passkey[]> {
    const list = (await ask('GET', '/passkey/list-user-passkeys')) as unknown as Partial<Passkey>[];
    const all = list.map(({ id = '', name, createdAt = '' }) => ({ id, name: name || 'A passkey', createdAt }));
    return all.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  },

  renamePasskey: (id: string, name: string) => ask('POST', '/passkey/update-passkey', { id, name }),

  removePasskey: (id: string) => ask('POST', '/passkey/delete-passkey', { id }),
};
