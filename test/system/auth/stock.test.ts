/** Tests the whole flow with unmodified clients of others: openid-client and oauth4webapi. */
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consent, type Person, REDIRECT, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { call } from '../../kit/system/api.ts';

let site: TestSite;
let ada: Person;

beforeAll(async () => {
  site = await startTestSite();
  ada = await site.person('ada');
});

afterAll(() => site?.stop());

/** Acts as the browser: it is sent to a page, the user consents, and it comes back to the program. */
async function browse(address: URL): Promise<URL> {
  const response = await fetch(address, { redirect: 'manual', headers: { cookie: ada.cookie } });
  const location = new URL(response.headers.get('location') ?? '', site.url);
  return location.pathname === '/consent' ? consent(site.url, ada, location) : location;
}

const me = async (token: string) =>
  (await call(`${site.url}/v1/me`, 'GET', undefined, { authorization: `Bearer ${token}` })).body;

describe('openid-client', () => {
  test('discovers, registers, signs a person in, reads the identity, refreshes and revokes', async () => {
    const options = { execute: [openid.allowInsecureRequests] };
    const metadata = {
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_post',
    };
    const config = await openid.dynamicClientRegistration(new URL(site.url), metadata, undefined, options);
    expect(config.serverMetadata().supportsPKCE()).toBe(true);

    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT,
      scope: 'openid email offline_access service:read',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
      resource: site.url,
    });
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    const tokens = await openid.authorizationCodeGrant(config, await browse(address), checks);
    expect(tokens.claims()).toMatchObject({ iss: site.url, sub: ada.accountId });
    expect(await me(tokens.access_token)).toMatchObject({ id: ada.accountId, email: ada.email });
    expect(await openid.fetchUserInfo(config, tokens.access_token, ada.accountId)).toMatchObject({ email: ada.email });

    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(await me(next.access_token)).toMatchObject({ id: ada.accountId });
    await openid.tokenRevocation(config, next.refresh_token ?? '');
    await expect(openid.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});

describe('oauth4webapi', () => {
  const http = { [oauth.allowInsecureRequests]: true };

  test('goes from the refusal of the API to its resource, its server, a client and a token', async () => {
    const resource = new URL(site.url);
    const refused = (await fetch(`${site.url}/v1/me`)).headers.get('www-authenticate');
    expect(refused).toContain(`resource_metadata="${site.url}/.well-known/oauth-protected-resource"`);
    const described = await oauth.processResourceDiscoveryResponse(
      resource,
      await oauth.resourceDiscoveryRequest(resource, http),
    );
    const issuer = new URL(described.authorization_servers?.[0] ?? '');
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const registration = { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none', client_name: 'oauth4webapi' };
    const registered = await oauth.dynamicClientRegistrationRequest(server, registration, http);
    const client = await oauth.processDynamicClientRegistrationResponse(registered);

    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const ask = new URL(server.authorization_endpoint ?? '');
    ask.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'service:read',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      // The slash is part of the URL's usual form.
      resource: resource.href,
    }).toString();
    const parameters = oauth.validateAuthResponse(server, client, await browse(ask), state);
    const granted = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      REDIRECT,
      verifier,
      http,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, granted);
    const answer = await oauth.protectedResourceRequest(
      tokens.access_token,
      'GET',
      new URL(`${site.url}/v1/me`),
      undefined,
      undefined,
      http,
    );
    expect(await answer.json()).toMatchObject({ id: ada.accountId });
    // An independent resource server accepts the token too.
    const request = new Request(site.url, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    const claims = await oauth.validateJwtAccessToken(server, request, site.url, http);
    expect(claims).toMatchObject({ sub: ada.accountId, client_id: client.client_id, scope: 'service:read' });
  });
});
