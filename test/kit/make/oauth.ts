/**
 * Takes a person and a program through OAuth over HTTP, as the pages and a client would:
 *
 *     const site = await startTestSite();                  // an API server that listens on its public address
 *     const ada = await site.person('ada');                // an account with a password, signed in: has a cookie
 *     const client = await register(site.url, { ... });    // dynamic registration
 *     const { access_token } = await authorize(site.url, ada, client, { scope: 'service:read' });
 *     const token = await site.token('ada', 'service:read service:write', { resource: `${site.url}/mcp` });  // all at once
 *
 * Each step is a function too: `begin` → `consent` → `exchange`, and `signIn` for the cookie.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { ApiConfig } from '../../../src/service/server/setup/settings.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { query } from '../real/postgres.ts';
import { type Client as KeyClient, startTestApi, type TestApi } from '../system/api.ts';

export interface Person extends KeyClient {
  email: string;
  password: string;
  /** The header `cookie` of its session. */
  cookie: string;
}

export interface OAuthClient {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
}

export interface Tokens {
  access_token: string;
  refresh_token?: string;
  id_token?: string;
  token_type: string;
  expires_in: number;
  scope: string;
}

export interface TestSite extends TestApi {
  person(name: string): Promise<Person>;
  /** An access token of the person of this name, for a client made for it. */
  token(name: string, scope: string, more?: Record<string, string>): Promise<string>;
}

/** Benchmarks use this too: a failure shows the answer instead of an assertion. */
async function must(response: Response, status: number): Promise<void> {
  if (response.status === status) return;
  throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
}

/** Retries when the server asks for it, as clients do, for a minute at most. */
async function patiently(ask: () => Promise<Response>): Promise<Response> {
  const until = performance.now() + 60_000;
  for (;;) {
    const response = await ask();
    const seconds = Number(response.headers.get('retry-after'));
    if (response.status !== 429 || !(seconds > 0) || performance.now() + seconds * 1000 > until) return response;
    await response.body?.cancel();
    await setTimeout(seconds * 1000);
  }
}

export const REDIRECT = 'http://127.0.0.1:7777/callback';

/** The limits on attempts are high; a test of limits sets its own. */
export async function startTestSite(overrides: Partial<ApiConfig> = {}): Promise<TestSite> {
  const port = await reserveFreePort();
  const url = `http://127.0.0.1:${port}`;
  const authLimits = { attempts: 10_000, registrations: 10_000, mails: 10_000 };
  const api = await startTestApi({ port, publicUrl: url, authLimits, ...overrides });
  const people = new Map<string, Promise<Person>>();
  const person = (name: string): Promise<Person> => {
    const known = people.get(name) ?? makePerson(api, name);
    people.set(name, known);
    return known;
  };
  return {
    ...api,
    person,
    // A replica shares the public address, and listens elsewhere.
    replica: (more = {}) => api.replica({ port: 0, ...more }),
    async token(name, scope, more = {}) {
      const client = await register(url);
      return (await authorize(url, await person(name), client, { scope, ...more })).access_token;
    },
  };
}

/** Returns the headers that our own page sends for a signed-in person. */
export const pageHeaders = (publicUrl: string, { cookie }: Pick<Person, 'cookie'>): Record<string, string> => ({
  cookie,
  origin: new URL(publicUrl).origin,
});

/** Makes an account with this name and a new password, signed in. */
async function makePerson(api: TestApi, name: string): Promise<Person> {
  const client = await api.client(name);
  const [email, password] = [`${name}@example.com`, randomBytes(12).toString('base64url')];
  await api.auth.setPassword(client.accountId, password);
  const cookie = await signIn(api.url, { email, password }, api.config.publicUrl);
  return { ...client, email, password, cookie };
}

/** Returns our page's headers for the person of this name, also where the API listens elsewhere than its public address. */
export const makeSessionHeaders = async (api: TestApi, name: string): Promise<Record<string, string>> =>
  pageHeaders(api.config.publicUrl, await makePerson(api, name));

/** Returns the headers of our own page in a browser. */
export const ownPage = (url: string): Record<string, string> => ({
  origin: new URL(url).origin,
  'content-type': 'application/json',
});

/** Returns the cookie of the session, as a header holds it. */
const sessionCookieIn = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0] ?? '')
    .find((cookie) => cookie.includes('loopstream.session=')) ?? '';

export const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...ownPage(url), ...headers },
    body: JSON.stringify(body),
  });

/** Returns the cookie of a new session. */
export async function signIn(
  url: string,
  { email, password }: Pick<Person, 'email' | 'password'>,
  publicUrl = url,
): Promise<string> {
  const response = await post(`${url}/api/auth/sign-in/email`, { email, password }, ownPage(publicUrl));
  await must(response, 200);
  return sessionCookieIn(response);
}

/** Registers a public client with a refresh token, unless `metadata` differs. Each call makes a client of its own. */
export async function register(url: string, metadata: Record<string, unknown> = {}): Promise<OAuthClient> {
  const body = JSON.stringify({
    client_name: 'A program',
    software_id: randomUUID(),
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...metadata,
  });
  const headers = { 'content-type': 'application/json' };
  const response = await patiently(() => fetch(`${url}/api/auth/oauth2/register`, { method: 'POST', headers, body }));
  await must(response, 201);
  return (await response.json()) as OAuthClient;
}

export interface Pkce {
  verifier: string;
  challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export interface Asked {
  state: string;
  proof: Pkce;
  redirectUri: string;
  /** The first redirect: a page of ours, or back to the client. */
  location: URL;
}

/** Sends the browser to the authorization server, as the program does. `more` replaces parameters; an empty one is left out. */
export async function begin(
  url: string,
  { cookie }: { cookie?: string },
  { client_id, redirect_uris }: OAuthClient,
  more: Record<string, string> = {},
): Promise<Asked> {
  const [state, proof] = [randomBytes(8).toString('hex'), pkce()];
  const all = {
    response_type: 'code',
    client_id,
    redirect_uri: redirect_uris[0] ?? '',
    scope: 'service:read',
    state,
    code_challenge: proof.challenge,
    code_challenge_method: 'S256',
    ...more,
  };
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== ''));
  const response = await patiently(() =>
    fetch(`${url}/api/auth/oauth2/authorize?${query}`, { redirect: 'manual', headers: cookie ? { cookie } : {} }),
  );
  await must(response, 302);
  const location = new URL(response.headers.get('location') ?? '', url);
  return { state: all.state, proof, redirectUri: all.redirect_uri, location };
}

/** Acts as the consent page: returns its own query, and follows the redirect. */
export async function consent(
  url: string,
  { cookie }: { cookie: string },
  page: URL,
  { accept = true, scope }: { accept?: boolean; scope?: string } = {},
): Promise<URL> {
  const body = { accept, oauth_query: page.search.slice(1), ...(scope === undefined ? {} : { scope }) };
  const response = await patiently(() => post(`${url}/api/auth/oauth2/consent`, body, { cookie }));
  await must(response, 200);
  return new URL(((await response.json()) as { url: string }).url, url);
}

export const askToken = (url: string, form: Record<string, string>, headers = {}): Promise<Response> =>
  fetch(`${url}/api/auth/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form),
  });

/** Returns the form that exchanges a code for tokens. */
export const codeForm = (client: OAuthClient, asked: Asked, code: string): Record<string, string> => ({
  grant_type: 'authorization_code',
  client_id: client.client_id,
  ...(client.client_secret ? { client_secret: client.client_secret } : {}),
  redirect_uri: asked.redirectUri,
  code,
  code_verifier: asked.proof.verifier,
});

export async function exchange(url: string, client: OAuthClient, asked: Asked, code: string): Promise<Tokens> {
  const response = await patiently(() => askToken(url, codeForm(client, asked, code)));
  await must(response, 200);
  return (await response.json()) as Tokens;
}

export const refresh = (url: string, client: OAuthClient, refreshToken: string, more: Record<string, string> = {}) =>
  askToken(url, {
    grant_type: 'refresh_token',
    client_id: client.client_id,
    ...(client.client_secret ? { client_secret: client.client_secret } : {}),
    refresh_token: refreshToken,
    ...more,
  });

/** Goes from the program to the code; a signed-in person consents where asked. */
export async function getCode(
  url: string,
  person: Person,
  client: OAuthClient,
  more: Record<string, string> = {},
): Promise<{ asked: Asked; code: string; back: URL }> {
  const asked = await begin(url, person, client, more);
  const back = asked.location.pathname === '/consent' ? await consent(url, person, asked.location) : asked.location;
  const code = back.searchParams.get('code') ?? '';
  if (code === '') throw new Error(`there is no code in ${back}`);
  return { asked, code, back };
}

/** Goes the whole way, to the tokens. */
export async function authorize(
  url: string,
  person: Person,
  client: OAuthClient,
  more: Record<string, string> = {},
): Promise<Tokens> {
  const { asked, code } = await getCode(url, person, client, more);
  return exchange(url, client, asked, code);
}

/** Lets the time pass in which a refresh token of a client may be used again. */
export const endReuse = (databaseUrl: string, { client_id: clientId }: Pick<OAuthClient, 'client_id'>) =>
  query(
    databaseUrl,
    `update auth."oauthRefreshToken" set "rotationReplayExpiresAt" = now() - interval '1 s'
      where "clientId" = '${clientId}' and "rotationReplayExpiresAt" is not null`,
  );
