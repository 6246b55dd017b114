/** Tests sign-in at an outside provider over HTTP: the whole way with a real one, and each lie with a lying one. */
import { generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { CLIENT, type Lies, type LyingOidc, type RealOidc, startLyingOidc, startOidc } from '../../kit/fake/oidc.ts';
import { findMailLink, startSmtp, type TestSmtp } from '../../kit/fake/smtp.ts';
import {
  begin,
  consent,
  exchange,
  pageHeaders,
  post,
  register,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { query } from '../../kit/real/postgres.ts';

let site: TestSite;
let other: { url: string; stop(): Promise<void> };
let oidc: RealOidc;
let liar: LyingOidc;
let smtp: TestSmtp;

const callbackUrl = (url: string) => `${url}/api/auth/callback/oidc`;

beforeAll(async () => {
  const ports = [await reserveFreePort(), await reserveFreePort()];
  const [url = '', lied = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
  [oidc, liar, smtp] = await Promise.all([startOidc(callbackUrl(url)), startLyingOidc(), startSmtp()]);
  const mail = { smtpUrl: smtp.url, from: 'loops@example.com' };
  site = await startTestSite({ port: ports[0] ?? 0, publicUrl: url, outside: oidc.settings, mail });
  other = await site.replica({ port: ports[1] ?? 0, publicUrl: lied, outside: liar.settings, mail });
});
afterAll(async () => {
  await other?.stop();
  await site?.stop();
  await Promise.all([oidc?.close(), liar?.close(), smtp?.close()]);
});

const readCookies = (response: Response) =>
  response.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0] ?? '');

/** Presses the page's button: returns the address at the provider, and the cookie bound to it. */
async function start(url: string, more: Record<string, unknown> = {}) {
  const body = { provider: 'oidc', callbackURL: `${url}/streams`, errorCallbackURL: `${url}/sign-in`, ...more };
  const response = await post(`${url}/api/auth/sign-in/social`, body);
  expect(response.status).toBe(200);
  const { url: address } = (await response.json()) as { url: string };
  return { address: new URL(address), cookie: readCookies(response).join('; ') };
}

/** Goes through the real provider's pages by pressing the button; returns the redirect. */
async function through(address: URL, button = 'yes'): Promise<URL> {
  const jar = new Map<string, string>();
  for (let next = address; ; ) {
    if (next.origin !== address.origin) return next;
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const [name = '', value = ''] of readCookies(response).map((pair) => pair.split(/=(.*)/s)))
      jar.set(name, value);
    const location = response.headers.get('location');
    expect([200, 302, 303]).toContain(response.status);
    next = new URL(location ?? `${next.pathname}/${button}`, next);
  }
}

/** Returns to the callback, as the browser does. */
async function arrive(back: URL, cookie: string) {
  const response = await fetch(back, { redirect: 'manual', headers: { cookie } });
  const location = new URL(response.headers.get('location') ?? '', back);
  const session = readCookies(response).find((one) => one.startsWith('loopstream.session='));
  return { status: response.status, location, session, error: location.searchParams.get('error') };
}

async function signInAs(sub: string, more: Record<string, unknown> = {}) {
  oidc.next = sub;
  const { address, cookie } = await start(site.url, more);
  return arrive(await through(address), cookie);
}

const fetchUser = async (session: string | undefined) => {
  const response = await fetch(`${site.url}/api/auth/get-session`, { headers: { cookie: session ?? '' } });
  return ((await response.json()) as { user: Record<string, unknown> } | null)?.user;
};

describe('a real provider', () => {
  test('is named where one can sign in', async () => {
    const { providers } = (await (await fetch(`${site.url}/v1/sign-in-options`)).json()) as { providers: unknown };
    expect(providers).toEqual([{ id: 'oidc', name: 'Example Company' }]);
  });

  test('the request has PKCE, a state and a nonce, and asks only for the identity', async () => {
    const { address } = await start(site.url, {
      scopes: ['all'],
      additionalParams: { prompt: 'none' },
      loginHint: 'x',
      idToken: { token: 'x' },
    });
    const sent = Object.fromEntries(address.searchParams);
    expect(sent).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', client_id: CLIENT.clientId });
    expect(sent).toMatchObject({ scope: 'openid email profile', redirect_uri: callbackUrl(site.url) });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(sent[name]?.length, name).toBeGreaterThan(20);
    expect(Object.keys(sent).sort()).toEqual([
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'nonce',
      'redirect_uri',
      'response_type',
      'scope',
      'state',
    ]);
  });

  test('a newcomer has an account with the name from there, is known again, and no token of theirs is kept', async () => {
    oidc.people.set('nora', { email: 'Nora@Example.com', email_verified: true, name: 'Nora \u202e\u0000 New' });
    const first = await signInAs('nora');
    expect([first.status, first.location.href]).toEqual([302, `${site.url}/streams`]);
    const nora = await fetchUser(first.session);
    expect(nora).toMatchObject({ email: 'nora@example.com', emailVerified: true, firstName: 'Nora', lastName: 'New' });
    // A changed address at the provider leaves the person the same.
    oidc.people.set('nora', { email: 'other@example.com', email_verified: true });
    expect((await fetchUser((await signInAs('nora')).session))?.id).toBe(nora?.id);
    const kept = await query(site.databaseUrl, `select * from auth.account where "providerId" = 'oidc'`);
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({ accountId: 'nora', accessToken: null, refreshToken: null, idToken: null });
  });

  test('joins accounts with the same address when both sides have confirmed it', async () => {
    const person = await site.person('joined');
    oidc.people.set('j', { email: person.email, email_verified: true });
    const { session } = await signInAs('j');
    expect((await fetchUser(session))?.id).toBe(person.accountId);
  });

  test('cannot open an account by an unconfirmed address, and does not reveal the account', async () => {
    const { email } = await site.person('victim');
    for (const address of [email, 'nobody-at-all@example.com'])
      for (const email_verified of [false, 'false', undefined] as never[]) {
        oidc.people.set('thief', { email: address, email_verified });
        const { error, session } = await signInAs('thief');
        expect([error, session]).toEqual(['email_not_found', undefined]);
      }
  });

  test('opens an account without the stranger’s password for an address that a stranger has signed up with', async () => {
    const [email, password] = ['squatted@example.com', 'seven lamps over water'];
    const signedUp = await post(`${site.url}/api/auth/sign-up/email`, { email, password, firstName: 'S' });
    const cookie = readCookies(signedUp).join('; ');
    const link = findMailLink(await smtp.mailTo(email, /Confirm/));
    oidc.people.set('owner', { email, email_verified: true });
    const { error, session } = await signInAs('owner');
    expect([error, await fetchUser(session)]).toMatchObject([null, { email, firstName: 'squatted' }]);
    // The mail sets no password any more, in any browser.
    const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token');
    for (const headers of [{ cookie }, {}] as Record<string, string>[]) {
      const answer = await post(`${site.url}/api/auth/verify-email`, { token, password, firstName: 'S' }, headers);
      expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_TOKEN' }]);
    }
    expect((await post(`${site.url}/api/auth/sign-in/email`, { email, password })).status).toBe(401);
  });

  test('an account that was made here by command is joined once its owner has confirmed the address by a new password', async () => {
    const email = 'made-by-command@example.com';
    await site.auth.ensureUser({ email, firstName: 'Made' });
    oidc.people.set('made', { email, email_verified: true });
    const before = await signInAs('made');
    expect([before.error, before.session, before.location.pathname]).toEqual([
      'account_not_linked',
      undefined,
      '/sign-in',
    ]);
    await post(`${site.url}/api/auth/request-password-reset`, { email });
    const link = findMailLink(await smtp.mailTo(email, /Choose a new password/));
    const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token');
    const body = { token, newPassword: 'a kettle full of stars' };
    expect((await post(`${site.url}/api/auth/reset-password`, body)).status).toBe(200);
    expect(await fetchUser((await signInAs('made')).session)).toMatchObject({ email });
    await smtp.mailTo(email, /new way to sign in/);
  });

  test('returns a person who declines to the sign-in page, without any of its own words', async () => {
    const { address, cookie } = await start(site.url);
    const { location, session } = await arrive(await through(address, 'no'), cookie);
    expect([location.href, session]).toEqual([`${site.url}/sign-in?error=access_denied`, undefined]);
  });

  test('a program’s request goes on to the consent, and the code is the program’s', async () => {
    oidc.people.set('cy', { email: 'cy@example.com', email_verified: true });
    const client = await register(site.url);
    const asked = await begin(site.url, {}, client);
    expect(asked.location.pathname).toBe('/sign-in');
    const { session = '', location } = await signInAs('cy', { oauth_query: asked.location.search.slice(1) });
    expect(location.pathname).toBe('/consent');
    const back = await consent(site.url, { cookie: session }, location);
    const tokens = await exchange(site.url, client, asked, back.searchParams.get('code') ?? '');
    expect(tokens.scope).toBe('service:read');
  });

  test('an account that is deleted is let in as a new one', async () => {
    oidc.people.set('leaver', { email: 'leaver@example.com', email_verified: true });
    const { session = '' } = await signInAs('leaver');
    const before = await fetchUser(session);
    const headers = pageHeaders(site.url, { cookie: session });
    const deleted = await post(`${site.url}/v1/account/deletion`, { email: 'leaver@example.com' }, headers);
    expect(deleted.status).toBe(204);
    expect((await fetchUser((await signInAs('leaver')).session))?.id).not.toBe(before?.id);
  });
});

describe('a callback', () => {
  /** Starts a sign-in that the liar will answer. */
  const pending = async () => {
    const { address, cookie } = await start(other.url);
    liar.nonce = address.searchParams.get('nonce') ?? '';
    const back = new URL(callbackUrl(other.url));
    back.search = new URLSearchParams({
      code: 'any',
      state: address.searchParams.get('state') ?? '',
      iss: liar.settings.issuer,
    }).toString();
    return { back, cookie };
  };
  const withLies = async (lies: Lies, change: (back: URL) => void = () => undefined) => {
    const { back, cookie } = await pending();
    change(back);
    liar.lies = lies;
    return arrive(back, cookie);
  };

  test('succeeds when all of it is right, and the code is redeemed with the verifier and the secret', async () => {
    const { session, location } = await withLies({});
    expect([location.pathname, session]).toEqual(['/streams', expect.stringContaining('session')]);
    const { form, authorization } = liar.redeemed;
    expect(form.get('code_verifier')?.length).toBeGreaterThan(40);
    const parts = atob(authorization?.split(' ')[1] ?? '').split(':');
    expect(parts.map((part) => new URLSearchParams(`x=${part}`).get('x'))).toEqual(Object.values(CLIENT));
  });

  test('counts once, in the browser that asked, for the request that was made (RFC 9700 §4.7)', async () => {
    const { back, cookie } = await pending();
    liar.lies = {};
    for (const wrong of ['', 'loopstream.state=forged', (await pending()).cookie])
      expect(await arrive(back, wrong)).toMatchObject({ session: undefined, error: 'state_mismatch' });
    const another = await pending();
    another.back.searchParams.set('state', 'x'.repeat(32));
    expect(await arrive(another.back, another.cookie)).toMatchObject({ session: undefined, error: 'state_mismatch' });
    another.back.searchParams.delete('state');
    expect(await arrive(another.back, another.cookie)).toMatchObject({ session: undefined, error: 'state_not_found' });
    expect((await arrive(back, cookie)).session).toBeUndefined();
    const whole = await pending();
    expect((await arrive(whole.back, whole.cookie)).session).toBeDefined();
    expect(await arrive(whole.back, whole.cookie)).toMatchObject({ session: undefined, error: 'state_mismatch' });
  });

  test('must name the same provider (RFC 9207)', async () => {
    const wrong = await withLies({}, ({ searchParams }) => searchParams.set('iss', 'https://evil.example'));
    expect(wrong).toMatchObject({ session: undefined, error: 'issuer_mismatch' });
    const none = await withLies({}, ({ searchParams }) => searchParams.delete('iss'));
    expect(none).toMatchObject({ session: undefined, error: 'issuer_missing' });
  });

  const now = Math.floor(Date.now() / 1000);
  const hmac = new TextEncoder().encode(CLIENT.clientSecret.padEnd(32));
  const signElsewhere = async (claims: JWTPayload) => {
    const { privateKey } = await generateKeyPair('ES256');
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'test' }).sign(privateKey);
  };
  const lies: [string, Lies][] = [
    ['another nonce', { claims: { nonce: 'another' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another client', { claims: { aud: 'somebody-else' } }],
    ['other clients too', { claims: { aud: [CLIENT.clientId, 'somebody-else'] } }],
    ['another party', { claims: { azp: 'somebody-else' } }],
    ['a token that is over', { claims: { exp: now - 600 } }],
    ['a token without an end', { claims: { exp: undefined } }],
    ['nobody', { claims: { sub: undefined } }],
    ['an empty subject', { claims: { sub: '' } }],
    ['user info of somebody else', { claims: { email: undefined }, userInfo: { sub: 'somebody-else' } }],
    ['no signature', { sign: (claims) => new UnsecuredJWT(claims).encode() }],
    ['a signature by the secret', { sign: (c) => new SignJWT(c).setProtectedHeader({ alg: 'HS256' }).sign(hmac) }],
    ['a signature by another key', { sign: signElsewhere }],
    ['no ID token', { token: { body: { access_token: 'x' } } }],
    ['no JSON', { token: { body: undefined, status: 500 } }],
    ['a list', { token: { body: [] } }],
  ];
  test.each(lies)('signs nobody in with %s', async (_what, lie) => {
    const { session, error } = await withLies(lie);
    expect(session).toBeUndefined();
    expect(['unable_to_get_user_info', 'invalid_code']).toContain(error);
  });

  test('is impossible where the provider is not the one in the settings: the page says so', async () => {
    for (const discovery of [{ issuer: 'https://evil.example' }, { token_endpoint: 'javascript:1' }, { jwks_uri: 1 }]) {
      liar.lies = { discovery };
      const third = await site.replica({ publicUrl: other.url, outside: liar.settings });
      try {
        const body = { provider: 'oidc', callbackURL: `${other.url}/` };
        const headers = { origin: other.url };
        const away = await post(`${third.url}/api/auth/sign-in/social`, body, headers);
        expect([away.status, await away.json()]).toMatchObject([503, { code: 'PROVIDER_UNAVAILABLE' }]);
        // The next sign-in asks the provider again.
        liar.lies = {};
        expect((await post(`${third.url}/api/auth/sign-in/social`, body, headers)).status).toBe(200);
      } finally {
        await third.stop();
      }
    }
  });

  test('leads nowhere but to this site', async () => {
    for (const callbackURL of ['https://evil.example/', '//evil.example', 'javascript:alert(1)', '/\\evil.example']) {
      const response = await post(`${site.url}/api/auth/sign-in/social`, { provider: 'oidc', callbackURL });
      expect([400, 403], callbackURL).toContain(response.status);
    }
  });
});
