/**
 * Attacks accounts before their owners have them. A stranger signs up with the address of somebody who will sign up later, or has got into
 * an account and makes ways back in. The tests use the real API server and Postgres, and a real SMTP server for the mails.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSmtp, type TestSmtp } from '../kit/fake/smtp.ts';
import {
  askToken,
  authorize,
  codeForm,
  getCode,
  type Person,
  pageHeaders,
  post,
  refresh,
  register,
  signIn,
  startTestSite,
  type TestSite,
} from '../kit/make/oauth.ts';
import { query } from '../kit/real/postgres.ts';
import { call } from '../kit/system/api.ts';
import { isPassword, openBrowser, readMailToken } from '../kit/system/sign-up.ts';

const HERS = 'seven lamps over water';
const HIS = 'nine boats in the fog';
const NEW = 'a kettle full of stars';

let site: TestSite;
let smtp: TestSmtp;
let url: string;

beforeAll(async () => {
  smtp = await startSmtp();
  site = await startTestSite({ mail: { smtpUrl: smtp.url, from: 'loops@example.com' } });
  url = site.url;
});
afterAll(async () => {
  await site?.stop();
  await smtp?.close();
});

const CONFIRM = /Confirm/;

describe('a stranger signs up with an address before its owner does', () => {
  test('the owner signs up too and opens either mail: her password counts, and the stranger’s never', async () => {
    for (const [email, which] of [
      ['first@example.com', 0],
      ['second@example.com', 1],
    ] as const) {
      const [mallory, victim] = [openBrowser(url), openBrowser(url)];
      await mallory.signUp(email, HIS);
      const early = await readMailToken(smtp, email, CONFIRM);
      await victim.signUp(email, HERS);
      const late = await readMailToken(smtp, email, CONFIRM, 1);
      expect((await victim.post('/verify-email', { token: [early, late][which] })).status).toBe(200);
      expect(await isPassword(url, { email, password: HIS })).toBe(false);
      expect(await isPassword(url, { email, password: HERS })).toBe(true);
    }
  });

  test('the stranger signs up after the owner, before she has opened her mail: her password counts, and the stranger’s never', async () => {
    const email = 'after@example.com';
    const [mallory, victim] = [openBrowser(url), openBrowser(url)];
    await victim.signUp(email, HERS);
    await readMailToken(smtp, email, CONFIRM);
    await mallory.signUp(email, HIS);
    const his = await readMailToken(smtp, email, CONFIRM, 1);
    expect((await victim.post('/verify-email', { token: his })).status).toBe(200);
    expect(await isPassword(url, { email, password: HIS })).toBe(false);
    expect(await isPassword(url, { email, password: HERS })).toBe(true);
  });

  test('the owner has signed up nowhere, or on another device, and opens the stranger’s mail: she is asked to choose a password', async () => {
    const email = 'elsewhere@example.com';
    const [mallory, phone] = [openBrowser(url), openBrowser(url)];
    await mallory.signUp(email, HIS);
    const token = await readMailToken(smtp, email, CONFIRM);
    expect(await phone.post('/verify-email', { token })).toMatchObject({
      status: 403,
      body: { code: 'PASSWORD_REQUIRED', email },
    });
    const weak = await phone.post('/verify-email', { token, password: 'password123', firstName: 'Vi' });
    expect(weak).toMatchObject({ status: 400, body: { code: 'PASSWORD_TOO_WEAK' } });
    const chosen = await phone.post('/verify-email', { token, password: HERS, firstName: 'Vi' });
    expect(chosen.status).toBe(200);
    expect(await isPassword(url, { email, password: HIS })).toBe(false);
    expect(await isPassword(url, { email, password: HERS })).toBe(true);
    const [user] = await query(
      site.databaseUrl,
      `select name, "emailVerified" from auth.user where email = '${email}'`,
    );
    expect(user).toEqual({ name: 'Vi', emailVerified: true });
  });

  test('a program that opens the link of a mail confirms nothing, and takes no password of a sign-up over', async () => {
    const email = 'scanned@example.com';
    await openBrowser(url).signUp(email, HIS);
    const token = await readMailToken(smtp, email, CONFIRM);
    const got = await fetch(`${url}/api/auth/verify-email?${new URLSearchParams({ token })}`, { redirect: 'manual' });
    expect(got.status).toBe(405);
    expect(await isPassword(url, { email, password: HIS })).toBe(false);
    expect(await query(site.databaseUrl, `select id from auth.user where email = '${email}'`)).toEqual([]);
    const cross = await post(`${url}/api/auth/verify-email`, { token }, { origin: 'https://evil.example' });
    expect(cross.status).toBe(403);
  });

  test('a cookie of the stranger’s own making, or for another address, confirms nothing in her name', async () => {
    const email = 'cookie@example.com';
    const mallory = openBrowser(url);
    await mallory.signUp(email, HIS);
    const token = await readMailToken(smtp, email, CONFIRM);
    const other = openBrowser(url);
    await other.signUp('not-hers@example.com', HERS);
    expect((await other.post('/verify-email', { token })).body.code).toBe('PASSWORD_REQUIRED');
    for (const value of ['', 'x', 'A'.repeat(43), "' or true --", '%00'])
      expect(
        (await post(`${url}/api/auth/verify-email`, { token }, { cookie: `loopstream.signup=${value}` })).status,
      ).toBe(403);
  });

  test('after the account is made no other link or sign-up of its address is good, and signing up again changes nothing', async () => {
    const email = 'made@example.com';
    const [mallory, victim] = [openBrowser(url), openBrowser(url)];
    await victim.signUp(email, HERS);
    await mallory.signUp(email, HIS);
    const [one, two] = [await readMailToken(smtp, email, CONFIRM), await readMailToken(smtp, email, CONFIRM, 1)];
    expect((await victim.post('/verify-email', { token: two })).status).toBe(200);
    for (const token of [one, two])
      for (const browser of [mallory, victim])
        expect(await browser.post('/verify-email', { token })).toMatchObject({
          status: 400,
          body: { code: 'INVALID_TOKEN' },
        });
    await mallory.signUp(email.toUpperCase(), HIS);
    await smtp.mailTo(email, /already have a loopstream account/);
    expect(await isPassword(url, { email, password: HIS })).toBe(false);
    expect(await isPassword(url, { email, password: HERS })).toBe(true);
  });

  test('signing up says and costs the same for an address that is waited for, has an account, or has none', async () => {
    const { email } = await site.person('known');
    await openBrowser(url).signUp('waiting@example.com', HERS);
    const answers = [];
    for (const address of [email, 'waiting@example.com', 'nobody-yet@example.com'])
      answers.push(
        await openBrowser(url).post('/sign-up/email', { email: address, password: HIS, firstName: 'Somebody' }),
      );
    expect(answers).toEqual(Array(3).fill({ status: 200, body: { status: true } }));
    // A sign-in confirms nothing either, except in the browser that has signed up.
    for (const address of [email, 'waiting@example.com', 'nobody-at-all@example.com'])
      expect(await openBrowser(url).post('/sign-in/email', { email: address, password: HIS })).toMatchObject({
        status: 401,
        body: { code: 'INVALID_EMAIL_OR_PASSWORD' },
      });
    for (const address of [email, 'waiting@example.com']) {
      const browser = openBrowser(url);
      await browser.signUp(address, HIS);
      expect(await browser.post('/sign-in/email', { email: address, password: HIS })).toMatchObject({
        status: 401,
        body: { code: 'EMAIL_NOT_VERIFIED' },
      });
    }
  });
});

interface Inside {
  victim: Person;
  /** The key that the stranger has made in her account. */
  key: string;
  app: Awaited<ReturnType<typeof authorize>>;
  client: Awaited<ReturnType<typeof register>>;
  session: string;
}

/** Signs Mallory in with the known password, and makes ways back in. */
async function getInside(name: string): Promise<Inside> {
  const victim = await site.person(name);
  const session = await signIn(url, victim);
  const headers = pageHeaders(url, { cookie: session });
  const made = await call<{ key: string }>(`${url}/v1/api-keys`, 'POST', { name: 'Spare' }, headers);
  const client = await register(url, { client_name: 'Helper' });
  const app = await authorize(url, { ...victim, cookie: session }, client, { scope: 'service:read offline_access' });
  await query(
    site.databaseUrl,
    `insert into auth.passkey (id, name, "publicKey", "userId", "credentialID", counter, "deviceType", "backedUp", "createdAt")
      values (gen_random_uuid(), 'His', 'key', '${victim.accountId}', 'cred-${name}', 0, 'multiDevice', true, now())`,
  );
  return { victim, key: made.body.key, app, client, session };
}

async function waysIn({ key, app, client, session, victim }: Inside) {
  const status = async (headers: Record<string, string>) =>
    (await call(`${url}/v1/me`, 'GET', undefined, headers)).status;
  const passkeys = await query(site.databaseUrl, `select id from auth.passkey where "userId" = '${victim.accountId}'`);
  return {
    session: await status({ cookie: session }),
    key: await status({ 'x-api-key': key }),
    token: await status({ authorization: `Bearer ${app.access_token}` }),
    refresh: (await refresh(url, client, app.refresh_token ?? '')).status,
    passkeys: passkeys.length,
  };
}

async function reset({ email }: Pick<Person, 'email'>, more: object = {}): Promise<void> {
  expect((await post(`${url}/api/auth/request-password-reset`, { email })).status).toBe(200);
  const token = await readMailToken(smtp, email, /Choose a new password/);
  const answer = await post(`${url}/api/auth/reset-password`, { token, newPassword: NEW, ...more });
  expect(answer.status, await answer.text()).toBe(200);
}

describe('a stranger was in an account, and made himself ways back in', () => {
  test('a password reset ends them all: sessions, keys, apps with their tokens, passkeys; the mail says so', async () => {
    const inside = await getInside('reset');
    await reset(inside.victim);
    expect(await waysIn(inside)).toEqual({ session: 401, key: 401, token: 401, refresh: 400, passkeys: 0 });
    const { text } = await smtp.mailTo(inside.victim.email, /password was changed/);
    // The count includes her key and the stranger's.
    expect(text).toContain('Revoked: 2 API keys, 1 connected app and 1 passkey.');
    expect(text).not.toContain('Still valid');
  });

  test('an owner may keep keys and apps, sessions and passkeys end nevertheless, and the mail says what is left', async () => {
    const inside = await getInside('keeping');
    await reset(inside.victim, { keepAccess: true });
    expect(await waysIn(inside)).toMatchObject({ session: 401, key: 200, token: 200, passkeys: 0 });
    const { text } = await smtp.mailTo(inside.victim.email, /password was changed/);
    expect(text).toContain('Still valid: 2 API keys and 1 connected app. Check that you recognize each of them.');
  });

  test('an app that the stranger has allowed, and that has not fetched its tokens yet, gets none after a reset', async () => {
    const victim = await site.person('pending');
    const client = await register(url);
    const { asked, code } = await getCode(url, victim, client, { scope: 'service:read offline_access' });
    await reset(victim);
    expect((await askToken(url, codeForm(client, asked, code))).status).toBe(400);
  });

  test('another link to choose a password, requested earlier by the stranger, is no longer valid', async () => {
    const { email } = await site.person('two-links');
    await post(`${url}/api/auth/request-password-reset`, { email });
    const early = await readMailToken(smtp, email, /Choose a new password/);
    await post(`${url}/api/auth/request-password-reset`, { email });
    const late = await readMailToken(smtp, email, /Choose a new password/, 1);
    const set = (token: string, newPassword: string) =>
      post(`${url}/api/auth/reset-password`, { token, newPassword }).then(({ status }) => status);
    expect([await set(late, NEW), await set(early, HIS)]).toEqual([200, 400]);
  });

  test('a change of password can end them too, and reports the remaining ones otherwise', async () => {
    const change = (person: Person, more: object) =>
      post(
        `${url}/api/auth/change-password`,
        { currentPassword: person.password, newPassword: NEW, ...more },
        { cookie: person.cookie },
      );
    const [all, none] = [await getInside('changing'), await getInside('changing-little')];
    expect((await change(all.victim, { keepAccess: false })).status).toBe(200);
    expect(await waysIn(all)).toEqual({ session: 401, key: 401, token: 401, refresh: 400, passkeys: 0 });
    expect((await change(none.victim, {})).status).toBe(200);
    expect(await waysIn(none)).toMatchObject({ session: 401, key: 200, token: 200, passkeys: 1 });
    const { text } = await smtp.mailTo(none.victim.email, /password was changed/);
    expect(text).toContain('Still valid: 2 API keys, 1 connected app and 1 passkey.');
  });

  test('in a session that ends at this very moment no key is made that outlives it', async () => {
    const { victim, session } = await getInside('racing');
    const headers = pageHeaders(url, { cookie: session });
    let stop = false;
    const keys: string[] = [];
    const racing = Array.from({ length: 4 }, async () => {
      while (!stop) {
        const made = await call<{ key?: string }>(`${url}/v1/api-keys`, 'POST', { name: 'Race' }, headers);
        if (made.body.key) keys.push(made.body.key);
        if (made.status === 401) return;
      }
    });
    await reset(victim);
    stop = true;
    await Promise.all(racing);
    for (const key of keys)
      expect((await call(`${url}/v1/me`, 'GET', undefined, { 'x-api-key': key })).status).toBe(401);
    const left = `select id from auth.apikey where "referenceId" = '${victim.accountId}' and enabled`;
    expect(await query(site.databaseUrl, left)).toEqual([]);
  });

  test('the owner gets a mail about each new key and app, once, and about nothing that she allows again', async () => {
    const { victim, session, client } = await getInside('told');
    const key = await smtp.mailTo(victim.email, /API key was created/);
    expect(key.text).toMatch(/\d{4}, \d\d:\d\d UTC: new API key “Spare”/);
    expect(key.text).toContain(`${url}/account/keys`);
    const app = await smtp.mailTo(victim.email, /app was connected/);
    expect(app.text).toContain('“Helper”');
    expect(app.text).toContain(`${url}/account/apps`);
    await authorize(url, { ...victim, cookie: session }, client, { scope: 'service:read offline_access' });
    await authorize(url, { ...victim, cookie: session }, client, {
      scope: 'service:read service:write offline_access',
    });
    await smtp.mailTo(victim.email, /app was connected/, 1);
    const told = smtp.mails.filter(
      ({ mail }) => /app was connected/.test(mail.subject ?? '') && mail.text?.includes('Helper'),
    );
    expect(told.filter(({ raw }) => raw.includes(victim.email))).toHaveLength(2);
  });

  test('the name of a key or an app writes no mail in our name: a mail shows nothing that a mail program could turn into a link', async () => {
    const victim = await site.person('phished');
    const name = 'Update at http://evil.example/now';
    await call(`${url}/v1/api-keys`, 'POST', { name }, pageHeaders(url, victim));
    const { text, html } = await smtp.mailTo(victim.email, /API key was created/);
    for (const form of [text, html]) {
      expect(form).not.toContain('evil');
      expect(form).toContain('(name not shown)');
    }
  });
});
