/** Tests attacks on the way from a program to a code and from the code to tokens, by the sections that describe them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Asked,
  askToken,
  authorize,
  begin,
  codeForm,
  endReuse,
  exchange,
  getCode,
  type OAuthClient,
  type Person,
  pkce,
  REDIRECT,
  refresh,
  register,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { call } from '../../kit/system/api.ts';

let site: TestSite;
let ada: Person;
let client: OAuthClient;
let url: string;

beforeAll(async () => {
  site = await startTestSite();
  url = site.url;
  ada = await site.person('ada');
  client = await register(url);
});

afterAll(() => site?.stop());

/** Returns the error of the redirect for such a request, and checks that the redirect has nothing else. */
const refusedWith = async (more: Record<string, string>, by = client) => {
  const { location, state } = await begin(url, ada, by, more);
  expect(location.origin, location.href).toBe(new URL(REDIRECT).origin);
  expect(location.searchParams.get('code')).toBeNull();
  expect(location.searchParams.get('state')).toBe(state);
  expect(location.searchParams.get('iss')).toBe(url);
  return location.searchParams.get('error');
};

const askWith = async (asked: Asked, code: string, changes: Record<string, string>, by = client) => {
  const form = Object.entries({ ...codeForm(by, asked, code), ...changes }).filter(([, value]) => value !== '');
  const response = await askToken(url, Object.fromEntries(form));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe('authorization codes', () => {
  test('OAuth 2.1 §4.1.3, RFC 9700 §4.5: a code is valid once, and the second try revokes the first one’s tokens', async () => {
    const { asked, code } = await getCode(url, ada, client, { scope: 'service:read offline_access' });
    const tokens = await exchange(url, client, asked, code);
    expect(await askWith(asked, code, {})).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const again = await refresh(url, client, tokens.refresh_token ?? '');
    expect(await again.json()).toMatchObject({ error: 'invalid_grant' });
  });

  test('RFC 9700 §4.5: of many concurrent uses of a code, one gets tokens', async () => {
    const { asked, code } = await getCode(url, ada, client);
    const answers = await Promise.all(Array.from({ length: 10 }, () => askWith(asked, code, {})));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
  });

  test('OAuth 2.1 §4.1.3: a code of one client is worth nothing to another', async () => {
    const { asked, code } = await getCode(url, ada, client);
    const thief = await register(url);
    expect((await askWith(asked, code, { client_id: thief.client_id })).status).toBe(400);
  });

  test('RFC 9700 §4.5.3: a confidential client needs its secret besides the verifier', async () => {
    const confidential = await register(url, { token_endpoint_auth_method: 'client_secret_post' });
    const { asked, code } = await getCode(url, ada, confidential);
    const wrong = await askWith(asked, code, { client_secret: 'wrong' }, confidential);
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const next = await getCode(url, ada, confidential);
    const none = await askWith(next.asked, next.code, { client_secret: '' }, confidential);
    expect(none.status).toBeGreaterThanOrEqual(400);
    expect(none.body).not.toHaveProperty('access_token');
  });
});

describe('PKCE', () => {
  const confidential = () => register(url, { token_endpoint_auth_method: 'client_secret_post' });

  test('RFC 9700 §2.1.1: without a challenge there is no code, not for a confidential client either', async () => {
    const without = { code_challenge: '', code_challenge_method: '' };
    expect(await refusedWith(without)).toBe('invalid_request');
    expect(await refusedWith(without, await confidential())).toBe('invalid_request');
    // A nonce protects OpenID Connect's ID token, and not the access token.
    const openid = { ...without, scope: 'openid offline_access', nonce: 'n' };
    expect(await refusedWith(openid, await confidential())).toBe('invalid_request');
  });

  test('RFC 9700 §2.1.1: `plain` is refused, said or left out', async () => {
    const plain = pkce().verifier;
    for (const method of ['plain', '', 's256', 'S512'])
      expect(await refusedWith({ code_challenge: plain, code_challenge_method: method }), method).toBe(
        'invalid_request',
      );
  });

  test('RFC 7636 §4.6: a wrong, missing or foreign verifier gets nothing, and the code is gone', async () => {
    for (const verifier of [pkce().verifier, '', 'x']) {
      const { asked, code } = await getCode(url, ada, client);
      const wrong = await askWith(asked, code, { code_verifier: verifier });
      expect(wrong.status, verifier).toBeGreaterThanOrEqual(400);
      expect(wrong.body).not.toHaveProperty('access_token');
    }
    // The challenge itself, which an observer of the request knows.
    const { asked, code } = await getCode(url, ada, client);
    expect((await askWith(asked, code, { code_verifier: asked.proof.challenge })).status).toBeGreaterThanOrEqual(400);
    expect((await askWith(asked, code, {})).status).toBe(400);
  });

  test('RFC 9700 §4.8 (downgrade): a verifier where no challenge was made cannot be had, for none is issued', async () => {
    const { location } = await begin(url, ada, client, { code_challenge: '', code_challenge_method: '' });
    expect(location.searchParams.get('code')).toBeNull();
  });
});

describe('redirect URIs', () => {
  const stays = async (redirect_uri: string, by = client) => {
    const { location } = await begin(url, ada, by, { redirect_uri });
    expect(location.origin, redirect_uri).toBe(url);
    expect(location.searchParams.get('code')).toBeNull();
  };

  test('RFC 9700 §4.1.3: nothing but the registered one is redirected to, and not even an error (§4.11, open redirect)', async () => {
    const web = await register(url, { redirect_uris: ['https://app.example.com/callback'] });
    const tricks = [
      'https://evil.example/callback',
      'https://app.example.com.evil.example/callback',
      'https://app.example.com@evil.example/callback',
      'https://app.example.com/callback/../evil',
      'https://app.example.com/callback?next=https://evil.example',
      'https://app.example.com/callback#fragment',
      'https://app.example.com/callbackevil',
      'https://app.example.com/',
      'https://APP.example.com/callback',
      'http://app.example.com/callback',
      'https://app.example.com:444/callback',
      'https://app.example.com\\@evil.example/callback',
      '//evil.example/callback',
      'javascript:alert(1)',
      'data:text/html,x',
      `${url}/consent`,
    ];
    for (const trick of tricks) await stays(trick, web);
  });

  test('RFC 8252 §7.3: on the machine itself the port is free, and nothing else is', async () => {
    const { location } = await begin(url, ada, client, { redirect_uri: 'http://127.0.0.1:50123/callback' });
    expect(location.pathname).toBe('/consent');
    for (const other of [
      'http://127.0.0.1:7777/other',
      'http://localhost:7777/callback',
      'http://127.0.0.2:7777/callback',
      'http://[::1]:7777/callback',
      'https://127.0.0.1:7777/callback',
    ])
      await stays(other);
  });

  test('OAuth 2.1 §4.1.3: a code needs the same redirect URI again', async () => {
    for (const redirect_uri of ['http://127.0.0.1:7778/callback', '']) {
      const { asked, code } = await getCode(url, ada, client);
      expect((await askWith(asked, code, { redirect_uri })).status, redirect_uri).toBe(400);
    }
  });

  test('RFC 9700 §4.11.2: an unknown client, or an invalid request, gets no redirect', async () => {
    for (const client_id of ['unknown', '', "' or 1=1 --"]) {
      const { location } = await begin(url, ada, { ...client, client_id });
      expect(location.origin).toBe(url);
    }
    for (const more of [
      { response_type: 'token' },
      { request: 'e30.e30.' },
      { request_uri: 'https://evil.example/r' },
    ]) {
      const { location } = await begin(url, ada, client, more as Record<string, string>);
      expect(location.searchParams.get('code')).toBeNull();
      expect(location.searchParams.get('access_token')).toBeNull();
    }
  });
});

describe('mixed-up answers', () => {
  test('RFC 9207 §2.4, RFC 9700 §4.4 (mix-up): every answer names its issuer', async () => {
    const { back, asked } = await getCode(url, ada, client);
    expect(back.searchParams.get('iss')).toBe(url);
    expect(back.searchParams.get('state')).toBe(asked.state);
    expect(await refusedWith({ scope: 'service:everything' })).toBe('invalid_scope');
  });

  test('RFC 6749 §3.1: a parameter that comes twice is no parameter', async () => {
    const query = new URLSearchParams({ response_type: 'code', client_id: client.client_id, redirect_uri: REDIRECT });
    query.append('redirect_uri', 'https://evil.example/');
    query.append('client_id', 'another');
    const response = await fetch(`${url}/api/auth/oauth2/authorize?${query}`, {
      redirect: 'manual',
      headers: { cookie: ada.cookie },
    });
    const location = new URL(response.headers.get('location') ?? '', url);
    expect([location.origin, location.searchParams.get('code')]).toEqual([url, null]);
  });

  test('RFC 8707 §2: a foreign resource is refused, in the request and at the exchange', async () => {
    expect(await refusedWith({ resource: 'https://bank.example' })).toBe('invalid_target');
    const { asked, code } = await getCode(url, ada, client);
    const other = await askWith(asked, code, { resource: `${url}/mcp` });
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  });
});

describe('refresh tokens', () => {
  const offline = { scope: 'service:read offline_access' };

  test('RFC 9700 §4.14.2: a reused one ends the family, the youngest among them', async () => {
    const first = await authorize(url, ada, client, offline);
    const second = (await (await refresh(url, client, first.refresh_token ?? '')).json()) as typeof first;
    await endReuse(site.databaseUrl, client);
    expect((await refresh(url, client, first.refresh_token ?? '')).status).toBe(400);
    expect((await refresh(url, client, second.refresh_token ?? '')).status).toBe(400);
    // Operators are alerted once: the second token ended with the first.
    await expect
      .poll(async () => (await fetch(`${site.opsUrl}/metrics`)).text())
      .toMatch(/^auth_refresh_reuse_total 1$/m);
  });

  test('RFC 6749 §6: scopes are not raised, and a resource that was not granted is not given', async () => {
    const { refresh_token = '' } = await authorize(url, ada, client, offline);
    for (const scope of ['service:read service:write', 'service:destructive']) {
      const raised = await refresh(url, client, refresh_token, { scope });
      expect(await raised.json(), scope).toMatchObject({ error: 'invalid_scope' });
    }
    const elsewhere = await refresh(url, client, refresh_token, { resource: `${url}/mcp` });
    expect(await elsewhere.json()).toMatchObject({ error: 'invalid_target' });
  });

  test('RFC 9700 §4.14: that of one client is worth nothing to another, nor is it an access token', async () => {
    const { refresh_token = '' } = await authorize(url, ada, client, offline);
    expect((await refresh(url, await register(url), refresh_token)).status).toBe(400);
    const used = await call(`${url}/v1/me`, 'GET', undefined, { authorization: `Bearer ${refresh_token}` });
    expect(used.status).toBe(401);
  });
});
