/**
 * Tests our additions to the library's authorization server for programs: the words of the RFCs that clients rely on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  askToken,
  authorize,
  begin,
  codeForm,
  endReuse,
  exchange,
  getCode,
  type OAuthClient,
  type Person,
  REDIRECT,
  refresh,
  register,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { call } from '../../kit/system/api.ts';

let site: TestSite;
let ada: Person;

beforeAll(async () => {
  site = await startTestSite();
  ada = await site.person('ada');
});

afterAll(() => site?.stop());

const OFFLINE = { scope: 'openid email offline_access service:read' };
const at = (path: string) => `${site.url}/api/auth${path}`;
const getStatus = async (token: string) =>
  (await call(`${site.url}/v1/me`, 'GET', undefined, { authorization: `Bearer ${token}` })).status;
const userInfo = async (token: string) =>
  (await fetch(at('/oauth2/userinfo'), { headers: { authorization: `Bearer ${token}` } })).status;
const revoke = (client: OAuthClient, token: string, more: Record<string, string> = {}) =>
  fetch(at('/oauth2/revoke'), {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.client_id, token, ...more }),
  });
const ask = (metadata: object, url = site.url) =>
  fetch(`${url}/api/auth/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });
const PUBLIC = { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] };

/** Expects the access token, and its userinfo, to end here and on other replicas within seconds. */
async function expectEnded(token: string): Promise<void> {
  await expect.poll(() => getStatus(token), { timeout: 20_000 }).toBe(401);
  expect(await userInfo(token)).toBe(401);
}

describe('an access token ends early', () => {
  test('when its code is used a second time (RFC 6749, section 4.1.2)', async () => {
    const client = await register(site.url);
    const { asked, code } = await getCode(site.url, ada, client, OFFLINE);
    const first = await exchange(site.url, client, asked, code);
    const other = await authorize(site.url, ada, client, OFFLINE);
    const next = (await (await refresh(site.url, client, first.refresh_token ?? '')).json()) as typeof first;
    expect(await getStatus(next.access_token)).toBe(200);
    expect((await askToken(site.url, codeForm(client, asked, code))).status).toBe(400);
    await expectEnded(first.access_token);
    await expectEnded(next.access_token);
    expect((await refresh(site.url, client, next.refresh_token ?? '')).status).toBe(400);
    // The token of another code of the same client stays valid.
    expect(await getStatus(other.access_token)).toBe(200);
    expect((await refresh(site.url, client, other.refresh_token ?? '')).status).toBe(200);
  });

  test('when its refresh token is revoked, and alone when it is revoked itself (RFC 7009, section 2.1)', async () => {
    const client = await register(site.url);
    const [one, two] = [
      await authorize(site.url, ada, client, OFFLINE),
      await authorize(site.url, ada, client, OFFLINE),
    ];
    expect(await getStatus(one.access_token)).toBe(200);
    expect((await revoke(client, one.refresh_token ?? '')).status).toBe(200);
    await expectEnded(one.access_token);
    expect((await revoke(client, two.access_token)).status).toBe(200);
    await expectEnded(two.access_token);
    const next = await refresh(site.url, client, two.refresh_token ?? '');
    expect(next.status).toBe(200);
    expect(await getStatus(((await next.json()) as typeof two).access_token)).toBe(200);
  });

  test('when a refresh token is used a second time, with all of that consent', async () => {
    const client = await register(site.url);
    const first = await authorize(site.url, ada, client, OFFLINE);
    const second = (await (await refresh(site.url, client, first.refresh_token ?? '')).json()) as typeof first;
    await endReuse(site.databaseUrl, client);
    expect((await refresh(site.url, client, first.refresh_token ?? '')).status).toBe(400);
    await expectEnded(second.access_token);
  });
});

describe('a refresh token that is used again a moment later', () => {
  test('as when an answer was lost, gets the same answer, and ends nothing', async () => {
    const client = await register(site.url);
    const first = await authorize(site.url, ada, client, OFFLINE);
    const [one, two] = [
      (await (await refresh(site.url, client, first.refresh_token ?? '')).json()) as typeof first,
      (await (await refresh(site.url, client, first.refresh_token ?? '')).json()) as typeof first,
    ];
    expect(two.refresh_token).toBe(one.refresh_token);
    expect(await getStatus(two.access_token)).toBe(200);
    expect((await refresh(site.url, client, two.refresh_token ?? '')).status).toBe(200);
  });

  test('by windows that refresh at once, gets each of them on', async () => {
    const client = await register(site.url);
    const first = await authorize(site.url, ada, client, OFFLINE);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => refresh(site.url, client, first.refresh_token ?? '')),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const tokens = await Promise.all(answers.map(async (answer) => (await answer.json()) as typeof first));
    expect(new Set(tokens.map((token) => token.refresh_token)).size).toBe(1);
    for (const token of tokens) expect(await getStatus(token.access_token)).toBe(200);
    expect((await refresh(site.url, client, tokens[0]?.refresh_token ?? '')).status).toBe(200);
  });

  test('by another client, ends nothing and gets nothing', async () => {
    const [client, other] = [await register(site.url), await register(site.url)];
    const first = await authorize(site.url, ada, client, OFFLINE);
    const next = (await (await refresh(site.url, client, first.refresh_token ?? '')).json()) as typeof first;
    expect((await refresh(site.url, other, first.refresh_token ?? '')).status).toBe(400);
    expect(await getStatus(next.access_token)).toBe(200);
  });
});

describe('revocation', () => {
  test('of a token that is gone, unknown or another client’s is no error, and ends nothing (RFC 7009, section 2.2)', async () => {
    const [client, other] = [await register(site.url), await register(site.url)];
    const tokens = await authorize(site.url, ada, client, OFFLINE);
    for (const token of ['nope', 'a.b.c', tokens.refresh_token ?? '', tokens.access_token])
      expect((await revoke(other, token)).status, token).toBe(200);
    expect(await getStatus(tokens.access_token)).toBe(200);
    for (let times = 0; times < 2; times++)
      expect((await revoke(client, tokens.refresh_token ?? '', { token_type_hint: 'refresh_token' })).status).toBe(200);
    expect((await revoke(client, '')).status).toBe(400);
  });
});

describe('a client that is not the one it says', () => {
  test('gets that answer first: 401 invalid_client, and its code stays valid', async () => {
    const client = await register(site.url, { token_endpoint_auth_method: 'client_secret_basic' });
    const { asked, code } = await getCode(site.url, ada, client, OFFLINE);
    const { client_secret: _secret, ...form } = codeForm(client, asked, code);
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${client.client_id}:${secret}`).toString('base64')}`,
    });
    for (const fields of [
      form,
      { ...form, code: 'unknown' },
      { grant_type: 'refresh_token', refresh_token: 'unknown', client_id: client.client_id },
    ]) {
      const wrong = await askToken(site.url, fields, basic('wrong'));
      expect([wrong.status, wrong.headers.get('www-authenticate')?.split(' ')[0]]).toEqual([401, 'Basic']);
      expect(await wrong.json()).toMatchObject({ error: 'invalid_client' });
    }
    const gone = await askToken(site.url, { ...form, client_id: 'nobody' });
    expect([gone.status, await gone.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    expect((await askToken(site.url, form, basic(client.client_secret ?? ''))).status).toBe(200);
  });

  test('and a verifier that is wrong is invalid_grant (RFC 7636, section 4.6)', async () => {
    const client = await register(site.url);
    const { asked, code } = await getCode(site.url, ada, client);
    const answer = await askToken(site.url, { ...codeForm(client, asked, code), code_verifier: 'x'.repeat(43) });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
  });
});

describe('authorization', () => {
  test('with prompt=none needs a signed-in person whose consent exists', async () => {
    const native = await register(site.url);
    const web = await register(site.url, { redirect_uris: ['https://app.example.com/cb'] });
    const error = async (client: OAuthClient, who: { cookie?: string }) =>
      (await begin(site.url, who, client, { prompt: 'none' })).location.searchParams.get('error');
    for (const client of [native, web]) {
      expect(await error(client, {})).toBe('login_required');
      expect(await error(client, ada)).toBe('consent_required');
    }
    for (const client of [native, web]) await authorize(site.url, ada, client);
    const { location, state } = await begin(site.url, ada, native, { prompt: 'none' });
    expect(location.href.startsWith(REDIRECT)).toBe(true);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error: 'consent_required',
      state,
      iss: site.url,
    });
    expect(location.searchParams.has('code')).toBe(false);
    expect((await begin(site.url, ada, web, { prompt: 'none' })).location.searchParams.get('code')).toBeTruthy();
  });

  test.each(['fragment', 'form_post', 'query.jwt'])(
    'refuses the response mode %s, in the only supported mode',
    async (mode) => {
      const client = await register(site.url);
      const { location, state } = await begin(site.url, ada, client, { response_mode: mode });
      expect(location.href.startsWith(`${REDIRECT}?`)).toBe(true);
      expect(Object.fromEntries(location.searchParams)).toMatchObject({
        error: 'invalid_request',
        state,
        iss: site.url,
      });
      expect((await begin(site.url, ada, client, { response_mode: 'query' })).location.pathname).toBe('/consent');
      // No redirect leads to an unregistered address.
      const elsewhere = { response_mode: mode, redirect_uri: 'https://evil.example/cb' };
      expect((await begin(site.url, ada, client, elsewhere)).location.origin).toBe(site.url);
    },
  );
});

describe('userinfo', () => {
  test('answers GET and POST with any content type, and says how to authenticate (OpenID Connect Core, section 5.3)', async () => {
    const { access_token: token } = await authorize(site.url, ada, await register(site.url), OFFLINE);
    const headers = { authorization: `Bearer ${token}` };
    const form = 'application/x-www-form-urlencoded';
    for (const options of [
      { method: 'GET', headers },
      { method: 'POST', headers },
      { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{}' },
      { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body: 'x' },
      { method: 'POST', headers: { ...headers, 'content-type': form }, body: '' },
      { method: 'POST', headers: { 'content-type': form }, body: `access_token=${token}` },
    ]) {
      const answer = await fetch(at('/oauth2/userinfo'), options);
      expect([answer.status, await answer.json()]).toMatchObject([200, { sub: ada.accountId, email: ada.email }]);
    }
    const bare = await fetch(at('/oauth2/userinfo'));
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const wrong = await fetch(at('/oauth2/userinfo'), { headers: { authorization: 'Bearer nope' } });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer error="invalid_token"/),
    ]);
  });

  test('the keys may be kept for minutes', async () => {
    expect((await fetch(at('/jwks'))).headers.get('cache-control')).toBe('public, max-age=300');
    expect((await fetch(at('/get-session'))).headers.get('cache-control')).toBe('no-store');
  });
});

describe('registration', () => {
  test('accepts the schemes of apps, and leaves out unusable values where the rest is usable', async () => {
    const uris = [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'http://evil.example/cb',
      'javascript:alert(1)',
      REDIRECT,
    ];
    const answer = await ask({ ...PUBLIC, client_name: 'Cursor', redirect_uris: uris, application_type: 'web' });
    const made = (await answer.json()) as OAuthClient;
    expect([answer.status, made]).toMatchObject([
      201,
      { redirect_uris: [uris[0], REDIRECT], application_type: 'native' },
    ]);
    const { back } = await getCode(site.url, ada, made);
    expect(back.href.startsWith(`${uris[0]}?code=`)).toBe(true);
    const refused = await ask({ ...PUBLIC, redirect_uris: uris.slice(1, 3) });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: 'invalid_redirect_uri', error_description: expect.stringMatching(/http:\/\/evil.*javascript:alert/) },
    ]);
  });

  test('of the same from one address is one client, and does not use up the limit', async () => {
    const narrow = await site.replica({ authLimits: { attempts: 5, registrations: 2, mails: 5 } });
    try {
      const same = { ...PUBLIC, client_name: 'The same', redirect_uris: [REDIRECT, 'https://a.example/cb'] };
      const ids = [];
      for (let times = 0; times < 6; times++) {
        const turned = times % 2 ? { ...same, redirect_uris: same.redirect_uris.toReversed() } : same;
        const answer = await ask(turned, narrow.url);
        expect(answer.status).toBe(201);
        ids.push(((await answer.json()) as OAuthClient).client_id);
      }
      expect(new Set(ids).size).toBe(1);
      expect((await ask({ ...same, client_name: 'Another' }, narrow.url)).status).toBe(201);
      const refused = await ask({ ...same, client_name: 'A third' }, narrow.url);
      expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'application/json; charset=utf-8']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const { error, error_description } = (await refused.json()) as Record<string, string>;
      expect([error, error_description]).toEqual(['temporarily_unavailable', expect.stringContaining('Try again in')]);
      expect((await ask(same, narrow.url)).status).toBe(201);
      // The refusal did not remove anybody's client.
      await authorize(site.url, ada, { client_id: ids[0] ?? '', redirect_uris: [REDIRECT] });
    } finally {
      await narrow.stop();
    }
  });
});

test('the tools at an address with a slash name themselves so, and take tokens of either name (RFC 9728, section 3.3)', async () => {
  for (const slash of ['', '/']) {
    const resource = `${site.url}/mcp${slash}`;
    const refused = await fetch(resource, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    const where = `${site.url}/.well-known/oauth-protected-resource/mcp${slash}`;
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${where}"`);
    const described = (await (await fetch(where)).json()) as { scopes_supported: string[] };
    expect(described).toMatchObject({ resource, authorization_servers: [site.url] });
    expect(described.scopes_supported).toContain('offline_access');
    const token = await site.token('ada', 'service:read', { resource });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    expect((await fetch(resource, { method: 'POST', headers, body })).status).toBe(200);
  }
});
