/** Tests attacks by other pages, by guessing, and with leaked data, by the sections that describe them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import {
  begin,
  exchange,
  getCode,
  type Person,
  post,
  refresh,
  register,
  signIn,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { call } from '../../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../../kit/system/api-process.ts';

let site: TestSite;
let ada: Person;
let url: string;

beforeAll(async () => {
  site = await startTestSite({ authLimits: { attempts: 5, registrations: 500, mails: 5 } });
  url = site.url;
  ada = await site.person('ada');
});

afterAll(() => site?.stop());

const elsewhere = [
  { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  { origin: 'https://evil.example' },
  { origin: 'null', 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'none' },
  {},
];

describe('requests that another page makes a browser send (RFC 9700 §4.7, OWASP CSRF)', () => {
  const send = (path: string, body: unknown, headers: Record<string, string>) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('with a session’s cookie nothing is changed: REST, GraphQL and the account', async () => {
    const destination = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
    const mutation = 'mutation { deleteStream(id: "str-1") }';
    for (const headers of elsewhere)
      for (const [path, body] of [
        ['/v1/destinations', destination],
        ['/graphql', { query: mutation }],
        ['/api/auth/sign-out', {}],
        ['/api/auth/update-user', { name: 'Eve' }],
      ] as const) {
        const answer = await send(path, body, { ...headers, cookie: ada.cookie } as Record<string, string>);
        expect([path, answer.status, await answer.json()]).toMatchObject([path, 403, { code: 'cross_site_request' }]);
      }
    const own = await send('/v1/destinations', destination, { cookie: ada.cookie, 'sec-fetch-site': 'same-origin' });
    expect(own.status).toBe(201);
  });

  test('sign nobody in as somebody else (login CSRF), and give no consent', async () => {
    const page = (await begin(url, ada, await register(url))).location;
    for (const headers of elsewhere) {
      const { email, password } = ada;
      const given = headers as Record<string, string>;
      expect((await send('/api/auth/sign-in/email', { email, password }, given)).status).toBe(403);
      const consent = { accept: true, oauth_query: page.search.slice(1) };
      expect((await send('/api/auth/oauth2/consent', consent, { ...given, cookie: ada.cookie })).status).toBe(403);
    }
  });

  test('a form, which needs no leave to be sent, is no request of our page', async () => {
    const { email, password } = ada;
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type, origin: url };
      const body = new URLSearchParams({ email, password }).toString();
      const answer = await fetch(`${url}/api/auth/sign-in/email`, { method: 'POST', headers, body });
      expect(answer.status, type).toBeGreaterThanOrEqual(400);
    }
  });

  test('cannot change the request on its way to the consent (RFC 9700 §4.15)', async () => {
    const { location } = await begin(url, ada, await register(url));
    const changed = new URL(location);
    changed.searchParams.set('scope', 'service:destructive');
    for (const oauth_query of [changed.search.slice(1), location.search.slice(1).replace(/sig=[^&]*/, 'sig=AAAA'), ''])
      expect(
        (await post(`${url}/api/auth/oauth2/consent`, { accept: true, oauth_query }, { cookie: ada.cookie })).ok,
      ).toBe(false);
    const more = { accept: true, scope: 'service:read service:destructive', oauth_query: location.search.slice(1) };
    expect((await post(`${url}/api/auth/oauth2/consent`, more, { cookie: ada.cookie })).status).toBe(400);
  });

  test('cannot use another person’s consent, nor consent without sign-in', async () => {
    const { location } = await begin(url, ada, await register(url));
    const body = { accept: true, oauth_query: location.search.slice(1) };
    expect((await post(`${url}/api/auth/oauth2/consent`, body)).status).toBe(401);
  });

  test('other origins read nothing with a cookie (Fetch, CORS protocol)', async () => {
    for (const path of ['/v1/me', '/api/auth/get-session', '/api/auth/jwks']) {
      const headers = { origin: 'https://evil.example', cookie: ada.cookie };
      const answer = await fetch(`${url}${path}`, { headers });
      expect(answer.headers.get('access-control-allow-credentials'), path).toBeNull();
    }
  });
});

describe('the session', () => {
  test('its cookie is out of the reach of scripts and of other sites’ pages, and over TLS of other hosts', async () => {
    const answer = await post(`${url}/api/auth/sign-in/email`, { email: ada.email, password: ada.password });
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^loopstream\.session=[^;]+;.*HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Lax/i);
    expect(cookie).toMatch(/Path=\//i);
    expect(cookie).not.toMatch(/Domain=/i);
    const https = 'https://loop.example';
    const other = await site.replica({ publicUrl: https });
    try {
      const { email, password } = ada;
      const headers = { origin: https, 'content-type': 'application/json' };
      const body = JSON.stringify({ email, password });
      const secure = await fetch(`${other.url}/api/auth/sign-in/email`, { method: 'POST', headers, body });
      expect(secure.headers.getSetCookie()[0]).toMatch(/^__Host-loopstream\.session=[^;]+;.*Secure/i);
    } finally {
      await other.stop();
    }
  });

  test('a cookie with another signature, or none, is no session', async () => {
    const [name = '', value = ''] = ada.cookie.split('=');
    const token = decodeURIComponent(value).split('.')[0];
    for (const forged of [token, `${token}.`, `${token}.AAAA`, `${value}x`, '', 'x'.repeat(5000)])
      expect((await call(`${url}/v1/me`, 'GET', undefined, { cookie: `${name}=${forged}` })).status).toBe(401);
    expect((await call(`${url}/v1/me`, 'GET', undefined, { cookie: ada.cookie })).status).toBe(200);
  });

  test('ends at once on the server that ended it, and within a second on others', async () => {
    const other = await site.replica();
    try {
      const cookie = await signIn(url, ada);
      const at = async (where: string) => (await call(`${where}/v1/me`, 'GET', undefined, { cookie })).status;
      expect([await at(url), await at(other.url)]).toEqual([200, 200]);
      expect((await post(`${url}/api/auth/sign-out`, {}, { cookie })).status).toBe(200);
      expect(await at(url)).toBe(401);
      await expect.poll(() => at(other.url)).toBe(401);
    } finally {
      await other.stop();
    }
  });

  test('does not count where a key or a token is sent too', async () => {
    const { cookie } = ada;
    for (const wrong of [{ 'x-api-key': 'lsk_wrong' }, { authorization: 'Bearer wrong' }])
      expect((await call(`${url}/v1/me`, 'GET', undefined, { cookie, ...wrong } as never)).status).toBe(401);
  });
});

describe('clickjacking (RFC 9700 §4.16) and referrers (§4.2)', () => {
  test('no page of this service appears in a frame, or sends a referrer to another site', async () => {
    const { location } = await begin(url, {}, await register(url));
    for (const path of ['/api/auth/oauth2/authorize?client_id=x', '/api/auth/get-session', `${location.pathname}`]) {
      const { headers } = await fetch(`${url}${path}`, { redirect: 'manual', headers: { accept: 'text/html' } });
      expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'");
      expect(headers.get('referrer-policy'), path).toBe('no-referrer');
    }
  });

  test('secrets in answers are never cached (OAuth 2.1 §3.2.3)', async () => {
    const client = await register(url);
    const { asked, code } = await getCode(url, ada, client);
    await exchange(url, client, asked, code);
    const { headers } = await refresh(url, client, 'none');
    expect(headers.get('cache-control')).toContain('no-store');
  });
});

describe('guessing (RFC 9700 §2.5, OWASP ASVS 2.2.1)', () => {
  const attempt = (email: string, password: string, from = url) =>
    post(`${from}/api/auth/sign-in/email`, { email, password });

  test('after some attempts on an account there are no more from that address, and others are not locked out', async () => {
    const [victim, neighbour] = [await site.person('victim'), await site.person('neighbour')];
    const statuses: number[] = [];
    for (let i = 0; i < 6; i += 1) statuses.push((await attempt(victim.email, 'a wrong password')).status);
    expect(statuses.at(0)).toBe(401);
    const limited = await attempt(victim.email, victim.password);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    // Another spelling is the same account.
    expect((await attempt(` ${victim.email.toUpperCase()}`, victim.password)).status).toBe(429);
    expect((await attempt(neighbour.email, neighbour.password)).status).toBe(200);
    const proxied = await site.replica({ trustProxy: ['loopback'] });
    try {
      const body = JSON.stringify({ email: victim.email, password: victim.password });
      const headers = { origin: url, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' };
      const owner = await fetch(`${proxied.url}/api/auth/sign-in/email`, { method: 'POST', headers, body });
      expect(owner.status).toBe(200);
    } finally {
      await proxied.stop();
    }
  });

  test('an unknown address gets the answer of a wrong password', async () => {
    const known = await site.person('known');
    const [wrong, nobody] = [
      await attempt(known.email, 'wrong password'),
      await attempt('nobody@example.com', 'wrong'),
    ];
    expect([wrong.status, await wrong.json()]).toEqual([nobody.status, await nobody.json()]);
  });
});

describe('registration (RFC 7591 §5, RFC 9700 §4.11)', () => {
  const refusedFor = async (metadata: Record<string, unknown>) => {
    const response = await fetch(`${url}/api/auth/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://app.example.com/cb'], ...metadata }),
    });
    return response.status === 201 ? undefined : ((await response.json()) as { error: string }).error;
  };

  test('takes no redirect URI that leads somewhere else than it says', async () => {
    for (const uri of [
      'http://app.example.com/cb',
      'https://app.example.com/cb#fragment',
      'https://user:pass@app.example.com/cb',
      'javascript:alert(document.domain)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'vbscript:msgbox(1)',
      'file:///etc/passwd',
      'blob:https://app.example.com/x',
      'view-source:https://app.example.com/',
      'about:blank',
      'https://app.example.com\\@evil.example/',
      'https://app.example.com/\ncb',
      'https://аpp.example.com/cb',
      '/relative',
      '',
      `https://app.example.com/${'x'.repeat(3000)}`,
    ])
      expect(await refusedFor({ redirect_uris: [uri] }), uri).toBe('invalid_redirect_uri');
    for (const redirect_uris of [[], 'https://app.example.com/cb', [1], Array(11).fill('https://app.example.com/cb')])
      expect(await refusedFor({ redirect_uris })).toBe('invalid_redirect_uri');
    for (const uri of [
      'https://app.example.com/cb',
      'http://localhost/cb',
      'http://[::1]:99/cb',
      'com.example.app:/cb',
      'myapp:/callback',
      'cursor://anysphere.cursor-mcp/oauth/callback',
    ])
      expect(await refusedFor({ redirect_uris: [uri] }), uri).toBeUndefined();
  });

  test('takes no invisible or lookalike name, and no executable address', async () => {
    for (const client_name of ['', '   ', 'x'.repeat(101), 'a\u202eb', 'a\u0000b', 'a\nb', 'a\u200bb', 7])
      expect(await refusedFor({ client_name }), JSON.stringify(client_name)).toBe('invalid_client_metadata');
    for (const field of ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri'])
      expect(await refusedFor({ [field]: 'javascript:alert(1)' }), field).toBe('invalid_client_metadata');
    expect(await refusedFor({ client_name: '<b>Bold & "quoted"</b>' })).toBeUndefined();
  });

  test('gives no client more than the person decides: no skipped consent, no grant without one, no keys to fetch', async () => {
    const response = await fetch(`${url}/api/auth/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: ada.cookie },
      body: JSON.stringify({
        redirect_uris: ['https://app.example.com/cb'],
        grant_types: ['authorization_code', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'],
        skip_consent: true,
        require_pkce: false,
        disabled: false,
        jwks_uri: 'http://169.254.169.254/',
        backchannel_logout_uri: 'https://169.254.169.254/',
      }),
    });
    expect(response.status).toBe(201);
    const made = (await response.json()) as Record<string, unknown>;
    expect(made.grant_types).toEqual(['authorization_code']);
    for (const field of ['skip_consent', 'jwks_uri', 'backchannel_logout_uri', 'user_id'])
      expect(made[field], field).toBeFalsy();
  });

  test('stops for an address that has registered many', async () => {
    const narrow = await site.replica({ authLimits: { attempts: 5, registrations: 3, mails: 5 } });
    try {
      const once = async () => {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify({ redirect_uris: ['https://app.example.com/cb'] });
        return (await fetch(`${narrow.url}/api/auth/oauth2/register`, { method: 'POST', headers, body })).status;
      };
      expect([await once(), await once(), await once(), await once()]).toEqual([201, 201, 201, 429]);
    } finally {
      await narrow.stop();
    }
  });
});

describe('leaked data (RFC 9700 §4.2.4, §4.3.1)', () => {
  test('no code, token, cookie or password is in the log, at its most talkative', async () => {
    const port = await reserveFreePort();
    const address = `http://127.0.0.1:${port}`;
    const more = { LOOPSTREAM_PORT: String(port), LOOPSTREAM_PUBLIC_URL: address, LOOPSTREAM_LOG_LEVEL: 'trace' };
    const server: ApiProcess = await startApiProcess({ ...site.environment, ...more });
    try {
      const cookie = await signIn(address, ada);
      const client = await register(address, { token_endpoint_auth_method: 'client_secret_post' });
      const { asked, code } = await getCode(address, { ...ada, cookie }, client, {
        scope: 'service:read offline_access',
      });
      const tokens = await exchange(address, client, asked, code);
      await exchange(address, client, asked, code).catch(() => undefined);
      await call(`${address}/v1/me?access_token=${tokens.access_token}`, 'GET');
      await call(`${address}/v1/nothing`, 'GET', undefined, { authorization: `Bearer ${tokens.access_token}` });
      await refresh(address, client, tokens.refresh_token ?? '');
      const secrets = [code, tokens.access_token, tokens.refresh_token, client.client_secret, ada.password];
      const value = cookie.slice(cookie.indexOf('=') + 1);
      for (const secret of [...secrets, value, asked.proof.verifier]) {
        expect(secret).toBeTruthy();
        expect(server.logs()).not.toContain(secret);
      }
    } finally {
      server.signal('SIGTERM');
      await server.ended;
    }
  });
});
