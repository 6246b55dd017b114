/**
 * Tests OAuth with clients of others, as editors use it: old and new TypeScript SDKs of MCP, with the redirect URIs of Cursor, VS Code and
 * the Inspector. An old openid-client follows.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consent, type Person, REDIRECT, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { installNpm } from './install.ts';

let site: TestSite;
let ada: Person;
let mcp: string;
let oidc: string;

beforeAll(async () => {
  [site, mcp, oidc] = await Promise.all([
    startTestSite(),
    installNpm('mcp', join(import.meta.dirname, 'mcp')),
    installNpm('oauth', join(import.meta.dirname, 'oauth')),
  ]);
  ada = await site.person('ada');
});

afterAll(() => site?.stop());

/** Acts as the browser: it is sent to a page, the person consents, and it returns to the program. */
async function browse(address: URL): Promise<URL> {
  const response = await fetch(address, { redirect: 'manual', headers: { cookie: ada.cookie } });
  const location = new URL(response.headers.get('location') ?? '', site.url);
  return location.pathname === '/consent' ? consent(site.url, ada, location) : location;
}

/** The state that an editor keeps for the SDK, and its metadata. */
function editor(name: string, redirectUris: string[]) {
  // biome-ignore lint/suspicious/noExplicitAny: each version of the SDK has types of its own.
  const kept: Record<string, any> = {};
  let sentTo: URL | undefined;
  return {
    kept,
    sentTo: () => sentTo,
    provider: {
      redirectUrl: redirectUris[0],
      clientMetadata: {
        client_name: name,
        redirect_uris: redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
      clientInformation: () => kept.client,
      saveClientInformation: (client: object) => {
        kept.client = client;
      },
      tokens: () => kept.tokens,
      saveTokens: (tokens: object) => {
        kept.tokens = tokens;
      },
      redirectToAuthorization: (address: URL) => {
        sentTo = address;
      },
      saveCodeVerifier: (verifier: string) => {
        kept.verifier = verifier;
      },
      codeVerifier: () => kept.verifier,
    },
  };
}

const EDITORS: Record<string, string[]> = {
  Cursor: ['cursor://anysphere.cursor-mcp/oauth/callback'],
  'Visual Studio Code': [
    ...['https://insiders.vscode.dev/redirect', 'https://vscode.dev/redirect'],
    ...['http://127.0.0.1/', 'http://127.0.0.1:33418/'],
  ],
  'MCP Inspector': ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'],
  'An old app': ['com.example.app:/oauth/cb'],
};

describe.each(['sdk-1.12', 'sdk-1.20', 'sdk-1.32'])('the TypeScript SDK, %s', (version) => {
  const load = (file: string) =>
    import(pathToFileURL(join(mcp, 'node_modules', version, 'dist/esm/client', file)).href);

  test.each(Object.entries(EDITORS))('lets %s in, list the tools, and come again', async (name, redirectUris) => {
    const [{ auth }, { Client }, { StreamableHTTPClientTransport }] = await Promise.all(
      ['auth.js', 'index.js', 'streamableHttp.js'].map(load),
    );
    const { provider, kept, sentTo } = editor(name, redirectUris);
    const serverUrl = new URL('/mcp', site.url);
    expect(await auth(provider, { serverUrl, scope: 'service:read offline_access' })).toBe('REDIRECT');
    const address = sentTo();
    if (!address) throw new Error('The person was sent nowhere.');
    const back = await browse(address);
    expect(back.href.startsWith(redirectUris[0] ?? '')).toBe(true);
    const authorizationCode = back.searchParams.get('code') ?? '';
    expect(await auth(provider, { serverUrl, authorizationCode })).toBe('AUTHORIZED');
    const client = new Client({ name, version: '1' });
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }));
    expect((await client.listTools()).tools.length).toBeGreaterThan(40);
    await client.close();
    const before = kept.tokens;
    // A refresh token needs no consent.
    expect(await auth(provider, { serverUrl })).toBe('AUTHORIZED');
    expect(kept.tokens.refresh_token).not.toBe(before.refresh_token);
  });
});

test('openid-client 5 discovers, registers, signs a person in, reads the identity, refreshes and revokes twice', async () => {
  const { Issuer, generators } = await import(
    pathToFileURL(join(oidc, 'node_modules/openid-client/lib/index.mjs')).href
  );
  const issuer = await Issuer.discover(site.url);
  const client = await issuer.Client.register({
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const [code_verifier, state, nonce] = [generators.codeVerifier(), generators.state(), generators.nonce()];
  const address = client.authorizationUrl({
    scope: 'openid email offline_access service:read',
    code_challenge: generators.codeChallenge(code_verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    redirect_uri: REDIRECT,
  });
  const parameters = client.callbackParams((await browse(new URL(address))).href);
  const tokens = await client.callback(REDIRECT, parameters, { code_verifier, state, nonce });
  expect(tokens.claims()).toMatchObject({ iss: site.url, sub: ada.accountId });
  for (const options of [{}, { method: 'POST' }, { method: 'POST', via: 'body' }])
    expect(await client.userinfo(tokens, options)).toMatchObject({ email: ada.email });
  const next = await client.refresh(tokens.refresh_token);
  for (let times = 0; times < 2; times++) await client.revoke(next.refresh_token);
  await expect(client.refresh(next.refresh_token)).rejects.toMatchObject({ error: 'invalid_grant' });
});
