/** Tests the authorization server as programs use it: its documents, its tokens, and their lifetime. */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  askToken,
  authorize,
  begin,
  codeForm,
  consent,
  getCode,
  refresh,
  register,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { query } from '../../kit/real/postgres.ts';
import { call } from '../../kit/system/api.ts';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite();
});

afterAll(() => site?.stop());

const withToken = (token: string, path: string, method = 'GET', body?: unknown, url = site.url) =>
  call(`${url}${path}`, method, body, { authorization: `Bearer ${token}` });
const resourceMetadata = () => `${site.url}/.well-known/oauth-protected-resource`;
const json = async (path: string) => (await fetch(`${site.url}${path}`)).json() as Promise<Record<string, unknown>>;

describe('the documents', () => {
  test('name the same issuer and addresses that answer, for RFC 8414 and for OpenID Connect', async () => {
    const server = await json('/.well-known/oauth-authorization-server');
    expect(server).toMatchObject({
      issuer: site.url,
      authorization_endpoint: `${site.url}/api/auth/oauth2/authorize`,
      token_endpoint: `${site.url}/api/auth/oauth2/token`,
      registration_endpoint: `${site.url}/api/auth/oauth2/register`,
      jwks_uri: `${site.url}/api/auth/jwks`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(await json('/.well-known/openid-configuration')).toEqual(server);
    for (const [name, address] of Object.entries(server))
      if (name.endsWith('_endpoint') || name.endsWith('_uri'))
        expect((await fetch(String(address), { redirect: 'manual' })).status, name).not.toBe(404);
  });

  test('a resource names itself and its server, at the root and by its path (RFC 9728), to pages of any origin', async () => {
    const common = { authorization_servers: [site.url], bearer_methods_supported: ['header'] };
    expect(await json('/.well-known/oauth-protected-resource')).toMatchObject({ resource: site.url, ...common });
    const agents = { resource: `${site.url}/mcp`, ...common };
    expect(await json('/.well-known/oauth-protected-resource/mcp')).toMatchObject(agents);
    for (const path of ['/.well-known/oauth-protected-resource', '/api/auth/jwks']) {
      const { headers } = await fetch(`${site.url}${path}`, { headers: { origin: 'https://elsewhere.example' } });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('the keys are public ones of ES256 and nothing else', async () => {
    await site.token('ada', 'service:read');
    const { keys } = (await json('/api/auth/jwks')) as { keys: Record<string, unknown>[] };
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      expect(key).toMatchObject({ alg: 'ES256', kty: 'EC', crv: 'P-256' });
      expect(key).not.toHaveProperty('d');
    }
  });
});

describe('a program', () => {
  test('is let in by a person, with the scopes that were asked for and no other', async () => {
    const ada = await site.person('ada');
    const client = await register(site.url);
    const { access_token: token, scope, expires_in } = await authorize(site.url, ada, client);
    expect({ scope, expires_in }).toEqual({ scope: 'service:read', expires_in: 900 });
    expect(await withToken(token, '/v1/me')).toMatchObject({ status: 200, body: { id: ada.accountId } });
    const refused = await withToken(token, '/v1/destinations', 'POST', {});
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope', scope: 'service:write' } });
    const challenge = `Bearer error="insufficient_scope", scope="service:write", resource_metadata="${resourceMetadata()}"`;
    expect(refused.headers.get('www-authenticate')).toBe(challenge);
  });

  test('gets a token as RFC 9068 has it', async () => {
    const { access_token: token } = await authorize(site.url, await site.person('ada'), await register(site.url));
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const { iat = 0, exp, ...claims } = decodeJwt(token);
    expect(claims).toMatchObject({ iss: site.url, aud: site.url, sub: (await site.person('ada')).accountId });
    expect(claims).toMatchObject({ client_id: expect.any(String), jti: expect.any(String), scope: 'service:read' });
    expect(exp).toBe(iat + 900);
  });

  test('that names no scope gets the smallest one', async () => {
    const tokens = await authorize(site.url, await site.person('ada'), await register(site.url), { scope: '' });
    expect(tokens.scope).toBe('service:read');
  });

  test('without a token learns where to begin, and with a wrong one that it is wrong', async () => {
    const bare = await call(`${site.url}/v1/me`, 'GET');
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer resource_metadata="${resourceMetadata()}", ApiKey realm="loopstream"`,
    ]);
    const wrong = await withToken('not.a.token', '/v1/me');
    expect(wrong).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(wrong.headers.get('www-authenticate')).toContain('Bearer error="invalid_token", resource_metadata=');
  });

  test('gets a token for the agents’ tools, which is good for nothing else; one for the API is good for both', async () => {
    const agents = await site.token('ada', 'service:read', { resource: `${site.url}/mcp` });
    expect(decodeJwt(agents).aud).toBe(`${site.url}/mcp`);
    expect((await withToken(agents, '/v1/me')).status).toBe(401);
    expect((await withToken(agents, '/graphql', 'POST', { query: '{ me { id } }' })).status).toBe(401);
    // Libraries write an address without a path like this.
    const api = await site.token('ada', 'service:read', { resource: `${site.url}/` });
    expect((await withToken(api, '/v1/me')).status).toBe(200);
  });

  test('with a page of its own asks again for the same without the person being asked, and for more with', async () => {
    const ada = await site.person('ada');
    const client = await register(site.url, { redirect_uris: ['https://app.example.com/callback'] });
    await authorize(site.url, ada, client, { scope: 'service:read service:write' });
    expect((await begin(site.url, ada, client)).location.origin).toBe('https://app.example.com');
    expect((await begin(site.url, ada, client, { scope: 'service:destructive' })).location.pathname).toBe('/consent');
  });

  test('on a person’s machine has the person asked each time, for it could be any (RFC 8252, section 8.6)', async () => {
    const [ada, client] = [await site.person('ada'), await register(site.url)];
    await authorize(site.url, ada, client);
    expect((await begin(site.url, ada, client)).location.pathname).toBe('/consent');
    const silent = await begin(site.url, ada, client, { prompt: 'none' });
    expect(silent.location.searchParams.get('code')).toBeNull();
  });

  test('is sent back with the reason when the person says no, and with fewer scopes when the person says so', async () => {
    const [ada, client] = [await site.person('ada'), await register(site.url)];
    const no = await begin(site.url, ada, client);
    const back = await consent(site.url, ada, no.location, { accept: false });
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'access_denied',
      state: no.state,
      iss: site.url,
    });
    const asked = await begin(site.url, ada, client, { scope: 'service:read service:write' });
    const less = await consent(site.url, ada, asked.location, { scope: 'service:read' });
    expect(less.searchParams.get('code')).toBeTruthy();
  });

  test('is cut off within seconds when the person takes the consent back', async () => {
    const [ada, client] = [await site.person('ada'), await register(site.url)];
    const { access_token: token } = await authorize(site.url, ada, client);
    expect((await withToken(token, '/v1/me')).status).toBe(200);
    await query(site.databaseUrl, `delete from auth."oauthConsent" where "clientId" = '${client.client_id}'`);
    await expect.poll(async () => (await withToken(token, '/v1/me')).status).toBe(401);
  });
});

describe('a refresh token', () => {
  const offline = { scope: 'service:read offline_access' };

  test('is good for one new pair of tokens', async () => {
    const [ada, client] = [await site.person('ada'), await register(site.url)];
    const first = await authorize(site.url, ada, client, offline);
    const response = await refresh(site.url, client, first.refresh_token ?? '');
    const second = (await response.json()) as typeof first;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await withToken(second.access_token, '/v1/me')).status).toBe(200);
  });

  test('ends when it is given back (RFC 7009)', async () => {
    const [ada, client] = [await site.person('ada'), await register(site.url)];
    const { refresh_token: token = '' } = await authorize(site.url, ada, client, offline);
    const revoked = await fetch(`${site.url}/api/auth/oauth2/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token, token_type_hint: 'refresh_token', client_id: client.client_id }),
    });
    expect(revoked.status).toBe(200);
    expect(await (await refresh(site.url, client, token)).json()).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('a signing key', () => {
  test('is followed by another with no token lost, on servers that knew nothing of it', async () => {
    const other = await site.replica();
    try {
      const before = await site.token('ada', 'service:read');
      for (const url of [site.url, other.url])
        expect((await withToken(before, '/v1/me', 'GET', undefined, url)).status).toBe(200);
      await site.auth.rotateSigningKey();
      const after = await site.token('ada', 'service:read');
      const [old, young] = [before, after].map((token) => decodeProtectedHeader(token).kid);
      expect(young).not.toBe(old);
      const { keys } = (await json('/api/auth/jwks')) as { keys: { kid: string }[] };
      expect(keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining([old, young]));
      for (const url of [site.url, other.url])
        for (const token of [before, after])
          await expect.poll(async () => (await withToken(token, '/v1/me', 'GET', undefined, url)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  test('that is in the wrong hands is trusted no more', async () => {
    const stolen = await site.token('ada', 'service:read');
    const own = await site.replica();
    try {
      await site.auth.rotateSigningKey({ revoke: true });
      const { keys } = (await json('/api/auth/jwks')) as { keys: { kid: string }[] };
      expect(keys.map(({ kid }) => kid)).not.toContain(decodeProtectedHeader(stolen).kid);
      expect((await withToken(stolen, '/v1/me', 'GET', undefined, own.url)).status).toBe(401);
      const next = await site.token('ada', 'service:read');
      await expect.poll(async () => (await withToken(next, '/v1/me')).status).toBe(200);
    } finally {
      await own.stop();
    }
  });
});

describe('a hundred people and programs at once', () => {
  test('each get tokens of their own, and none gets two', async () => {
    const ada = await site.person('ada');
    const clients = await Promise.all(Array.from({ length: 100 }, () => register(site.url)));
    const all = await Promise.all(clients.map((client) => authorize(site.url, ada, client)));
    expect(new Set(all.map(({ access_token }) => access_token)).size).toBe(100);
  });

  test('a code that comes twice at the same moment is good for one of the two at most', async () => {
    const [ada, client] = [await site.person('ada'), await register(site.url)];
    for (let n = 0; n < 10; n++) {
      const { asked, code } = await getCode(site.url, ada, client);
      const form = codeForm(client, asked, code);
      const answers = await Promise.all([askToken(site.url, form), askToken(site.url, form)]);
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      expect(
        answers
          .map(({ status }) => status)
          .sort()
          .at(-1),
      ).toBe(400);
    }
  });
});

describe('expired rows', () => {
  test('are removed, with clients that nobody has ever authorized', async () => {
    const [unused, used] = [await register(site.url), await register(site.url)];
    await authorize(site.url, await site.person('ada'), used);
    const ids = `('${unused.client_id}', '${used.client_id}')`;
    await query(
      site.databaseUrl,
      `update auth."oauthClient" set "createdAt" = now() - interval '31 days' where "clientId" in ${ids}`,
    );
    await site.auth.forgetOld(30);
    const left = await query(site.databaseUrl, `select "clientId" from auth."oauthClient" where "clientId" in ${ids}`);
    expect(left).toEqual([{ clientId: used.client_id }]);
  });
});
