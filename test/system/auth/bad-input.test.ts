/**
 * Sends bad input to every path of the authorization server. Each responds with a reason of its own and never fails, repeats none of the
 * input, and stores nothing.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUTH_PATHS } from '../../../src/service/server/auth/paths.ts';
import { type LyingOidc, startLyingOidc } from '../../kit/fake/oidc.ts';
import { startSmtp, type TestSmtp } from '../../kit/fake/smtp.ts';
import {
  type OAuthClient,
  ownPage,
  type Person,
  post,
  register,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { query } from '../../kit/real/postgres.ts';
import { hashPasswordsCheaply } from './passwords.ts';

let site: TestSite;
let oidc: LyingOidc;
let smtp: TestSmtp;
let ada: Person;
let other: Person;
let client: OAuthClient;
let hashDearly: () => void;

beforeAll(async () => {
  hashDearly = hashPasswordsCheaply();
  [oidc, smtp] = await Promise.all([startLyingOidc(), startSmtp()]);
  const mail = { smtpUrl: smtp.url, from: 'loops@example.com' };
  site = await startTestSite({ outside: oidc.settings, mail });
  [ada, other] = [await site.person('ada'), await site.person('other')];
  client = await register(site.url);
});
afterAll(async () => {
  await site?.stop();
  await Promise.all([oidc?.close(), smtp?.close()]);
  hashDearly();
});

/** The mark would show in any echo of the input. */
const MARK = `mark${randomBytes(6).toString('hex')}`;
const LONG = 'x'.repeat(30_000);
/** Each value replaces a text of any purpose. */
const BAD: [string, unknown][] = [
  ['nothing', ''],
  ['spaces', '   '],
  ['too much', `${MARK}${LONG}`],
  ['markup', `<script>alert("${MARK}")</script>`],
  ['an attribute', `"><img src=x onerror=alert('${MARK}')>`],
  ['SQL', `'; drop table auth.user; -- ${MARK}`],
  ['a NUL', `${MARK}\u0000b`],
  ['a line break', `${MARK}\r\nBcc: victim@example.com`],
  ['a text that turns round', `${MARK}\u202emoc.elpmaxe`],
  ['signs without room', `${MARK}\u200b\u200d\ufeff`],
  ['heaps of accents', `${MARK}${'\u0301'.repeat(500)}`],
  ['half a character', `${MARK}\ud800`],
  ['letters that look alike', `${MARK}аdа@exаmple.com`],
  ['a template', `${MARK}{{7*7}}\${7*7}`],
  ['a path', `../../../../../etc/passwd`],
  ['a number', 7],
  ['yes', true],
  ['null', null],
  ['a list', [MARK]],
  ['an object', { $ne: MARK }],
  ['a list of lists', [[[[MARK]]]]],
];

/** A valid request for each path, of which one field after the other is made bad. */
const FIELDS: Record<string, Record<string, unknown>> = {
  '/sign-in/email': {
    email: 'nobody@example.com',
    password: 'seven lamps over water',
    callbackURL: '/',
    oauth_query: 'x',
  },
  '/sign-up/email': {
    email: 'ada@example.com',
    password: 'seven lamps over water',
    name: 'Ada',
    firstName: 'Ada',
    lastName: 'L',
    callbackURL: '/',
    image: 'x',
    rememberMe: true,
  },
  '/sign-out': {},
  '/sign-in/social': { provider: 'oidc', callbackURL: '/', errorCallbackURL: '/sign-in', oauth_query: 'x' },
  '/update-user': { name: 'Ada', firstName: 'Ada', lastName: 'L', image: 'x' },
  '/change-password': {
    currentPassword: 'not the password',
    newPassword: 'seven lamps over water',
    keepAccess: true,
  },
  '/verify-email': { token: 'x', password: 'seven lamps over water', firstName: 'Ada', lastName: 'L' },
  '/send-verification-email': { email: 'nobody@example.com', callbackURL: '/' },
  '/request-password-reset': { email: 'nobody@example.com', redirectTo: '/' },
  '/reset-password': { token: 'none', newPassword: 'seven lamps over water', keepAccess: true },
  '/passkey/verify-authentication': { response: { id: 'a', rawId: 'a', type: 'public-key', response: {} } },
  '/passkey/verify-registration': { name: 'x', response: { id: 'a', rawId: 'a', type: 'public-key', response: {} } },
  '/passkey/update-passkey': { id: '00000000-0000-4000-8000-000000000000', name: 'x' },
  '/passkey/delete-passkey': { id: '00000000-0000-4000-8000-000000000000' },
  '/oauth2/consent': { accept: true, scope: 'service:read', oauth_query: 'client_id=a&sig=b' },
  '/oauth2/continue': { selected: true, oauth_query: 'client_id=a&sig=b' },
  '/oauth2/register': {
    client_name: 'A program',
    redirect_uris: ['https://app.example.com/cb'],
    scope: 'service:read',
    client_uri: 'https://app.example.com',
    contacts: ['a@example.com'],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
    response_types: ['code'],
    software_id: 'x',
  },
};
/** Paths whose input is a form or a query. */
const PARAMETERS: Record<string, Record<string, string>> = {
  '/oauth2/authorize': {
    response_type: 'code',
    client_id: 'CLIENT',
    redirect_uri: 'http://127.0.0.1:7777/callback',
    state: 'x',
    scope: 'service:read',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    prompt: 'consent',
    resource: 'SITE',
    max_age: '7',
    nonce: 'x',
    login_hint: 'x',
    ui_locales: 'en',
    request: 'x',
    claims: '{}',
  },
  '/oauth2/token': {
    grant_type: 'authorization_code',
    client_id: 'CLIENT',
    code: 'x',
    redirect_uri: 'http://127.0.0.1:7777/callback',
    code_verifier: 'x'.repeat(43),
    refresh_token: 'x',
    scope: 'service:read',
    resource: 'SITE',
    client_secret: 'x',
  },
  '/oauth2/revoke': { token: 'x', token_type_hint: 'refresh_token', client_id: 'CLIENT', client_secret: 'x' },
  '/oauth2/userinfo': { access_token: 'x' },
  '/oauth2/public-client': { client_id: 'CLIENT' },
  '/callback/oidc': { code: 'x', state: 'x', iss: 'x', error: 'x', error_description: 'x' },
  '/get-session': { disableRefresh: 'true', disableCookieCache: 'true' },
  '/jwks': { x: 'x' },
  '/passkey/generate-authenticate-options': { x: 'x' },
  '/passkey/generate-register-options': { authenticatorAttachment: 'platform', name: 'x', context: 'x' },
  '/passkey/list-user-passkeys': { x: 'x' },
};
/** Values that belong to the program are returned to it (RFC 6749, section 4.1.2.1; RFC 7591, section 3.2.1). */
const GIVEN_BACK = ['/oauth2/authorize', '/oauth2/register', '/update-user'];

interface Asked {
  what: string;
  response: Response;
}

/** Expects no failure, a reason for a refusal, and no echo of the input. */
async function expectReason({ what, response }: Asked, path: string): Promise<void> {
  const text = await response.text();
  expect(response.status, `${what}: ${text.slice(0, 300)}`).toBeLessThan(500);
  const shown = `${text} ${response.headers.get('location') ?? ''} ${response.headers.get('www-authenticate') ?? ''}`;
  if (!GIVEN_BACK.includes(path)) expect(shown, what).not.toContain(MARK);
  // None of these answers is a page for browsers.
  expect(response.headers.get('content-type') ?? 'application/json', what).toMatch(/json|^$/);
  if (response.status >= 400 && text !== '') {
    const { code, error, message } = JSON.parse(text) as Record<string, unknown>;
    expect([typeof code, typeof error, typeof message], what).toContain('string');
  }
}

const counts = async () => {
  const tables = ['user', 'session', 'oauthConsent', 'passkey'];
  const rows = await Promise.all(tables.map((name) => query(site.databaseUrl, `select id from auth."${name}"`)));
  return Object.fromEntries(tables.map((name, i) => [name, rows[i]?.length]));
};

test('each path is in one of the two tables', () => {
  expect([...Object.keys(FIELDS), ...Object.keys(PARAMETERS)].sort()).toEqual(
    AUTH_PATHS.map(({ path }) => path).sort(),
  );
});

describe.each(Object.entries(FIELDS))('%s', (path, right) => {
  const send = (body: unknown, headers: Record<string, string>) =>
    fetch(`${site.url}/api/auth${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...ownPage(site.url), ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('reports the fault of each field', async () => {
    const before = await counts();
    const cookie = path === '/update-user' ? other.cookie : path.startsWith('/sign-') ? '' : ada.cookie;
    for (const name of Object.keys(right))
      await Promise.all(
        BAD.map(async ([bad, value]) => {
          const response = await send({ ...right, [name]: value }, { cookie });
          await expectReason({ what: `${name} is ${bad}`, response }, path);
        }),
      );
    expect(await counts()).toEqual(before);
  });

  test('takes no body that is none, and nothing that reaches behind an object', async () => {
    for (const body of [
      '',
      '{',
      'null',
      '7',
      '"text"',
      '[]',
      `[${MARK}]`,
      '{"a":1}}',
      `{"${MARK}":{"a":[]}}`,
      '{"__proto__":{"admin":true}}',
    ])
      await expectReason({ what: body, response: await send(body, {}) }, path);
    const polluting = JSON.stringify(right).replace(
      /^\{/,
      '{"__proto__":{"polluted":"x"},"constructor":{"prototype":{"polluted":"x"}},',
    );
    await expectReason({ what: 'prototype', response: await send(polluting, {}) }, path);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((await send(`{"a":"${'x'.repeat(70_000)}"}`, {})).status).toBe(413);
  });
});

describe.each(Object.entries(PARAMETERS))('%s', (path, right) => {
  const methods = AUTH_PATHS.find((entry) => entry.path === path)?.methods ?? [];
  const isNavigation = ['/oauth2/authorize', '/callback/oidc'].includes(path);

  test.each(methods)('%s reports the fault of each parameter', async (method) => {
    const before = await counts();
    const url = `${site.url}/api/auth${path}`;
    const cookie = isNavigation ? '' : ada.cookie;
    const one = async (name: string, bad: string, value: unknown) => {
      const texts = [value].flat(4).map((text) => (typeof text === 'object' ? JSON.stringify(text) : String(text)));
      const all = new URLSearchParams(right);
      if (right.client_id === 'CLIENT') all.set('client_id', client.client_id);
      if (right.resource === 'SITE') all.set('resource', site.url);
      all.delete(name);
      // A URL cannot hold half a character, and a list becomes a repeated parameter.
      for (const text of Array.isArray(value) ? [...texts, ...texts] : texts)
        all.append(name, text.toWellFormed().slice(0, 12_000));
      const response = await (method === 'GET'
        ? fetch(`${url}?${all}`, { redirect: 'manual', headers: { cookie } })
        : fetch(url, { method, body: all, redirect: 'manual', headers: { cookie } }));
      await expectReason({ what: `${method} ${name} is ${bad}`, response }, path);
      if (response.status === 302)
        expect(['127.0.0.1', 'localhost']).toContain(new URL(response.headers.get('location') ?? '', url).hostname);
    };
    for (const name of Object.keys(right)) await Promise.all(BAD.map(([bad, value]) => one(name, bad, value)));
    expect(await counts()).toEqual(before);
  });
});

describe('sent twice at once', () => {
  test('a sign-up is one sign-up and no account, its link makes one account, and a new name is one name', async () => {
    const email = 'twice@example.com';
    const body = { email, password: 'seven lamps over water', name: 'T', firstName: 'T' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post(`${site.url}/api/auth/sign-up/email`, body)),
    );
    for (const response of answers) await expectReason({ what: 'twice', response }, '/sign-up/email');
    const accounts = () => query(site.databaseUrl, `select id from auth.user where email = '${email}'`);
    expect(await accounts()).toHaveLength(0);
    const { text = '' } = await smtp.mailTo(email, /Confirm/);
    const token = /#token=(\S+)/.exec(text)?.[1];
    const confirm = { token, password: 'a kettle full of stars', firstName: 'T' };
    const confirmed = await Promise.all(
      Array.from({ length: 5 }, () => post(`${site.url}/api/auth/verify-email`, confirm)),
    );
    expect(confirmed.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await accounts()).toHaveLength(1);
    const names = await Promise.all(
      ['A', 'B', 'C'].map((firstName) =>
        post(`${site.url}/api/auth/update-user`, { firstName, name: firstName }, { cookie: ada.cookie }),
      ),
    );
    expect(names.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test('the link of a mail changes one password', async () => {
    const { email } = await site.person('resetting');
    await post(`${site.url}/api/auth/request-password-reset`, { email });
    const { text = '' } = await smtp.mailTo(email, /Choose a new/);
    const token = /#token=(\S+)/.exec(text)?.[1];
    const answers = await Promise.all(
      ['a kettle full of stars', 'nine boats in the fog'].map((newPassword) =>
        post(`${site.url}/api/auth/reset-password`, { token, newPassword }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});
