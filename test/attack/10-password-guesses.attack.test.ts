/**
 * Attacks the password of one account from many addresses, of which each stays below its own limit. Strange places together have few
 * tries in an hour, on all servers. The owner gets in, and learns of it. The tests use real API servers, Postgres and SMTP.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSmtp, type TestSmtp } from '../kit/fake/smtp.ts';
import { type Person, pageHeaders, post, startTestSite, type TestSite } from '../kit/make/oauth.ts';
import { query } from '../kit/real/postgres.ts';
import { openBrowser, readMailToken } from '../kit/system/sign-up.ts';

const PER_HOUR = 5;
const WRONG = 'nine boats in the fog';
const GUESSED = /guess your password/;

let site: TestSite;
let replica: Awaited<ReturnType<TestSite['replica']>>;
let smtp: TestSmtp;

beforeAll(async () => {
  smtp = await startSmtp();
  const authLimits = { attempts: PER_HOUR, registrations: 10_000, mails: 10_000 };
  site = await startTestSite({
    authLimits,
    mail: { smtpUrl: smtp.url, from: 'loops@example.com' },
    trustProxy: ['loopback'],
  });
  replica = await site.replica();
});
afterAll(async () => {
  await site?.stop();
  await smtp?.close();
});

let last = 0;
const newAddress = (): string => {
  last += 1;
  return `198.51.${Math.floor(last / 250)}.${(last % 250) + 1}`;
};

/** Sends one password, by default from a new address, to each server in turn. */
async function signIn(email: string, password: string, { from = newAddress(), cookie = '' } = {}) {
  const url = last % 2 === 0 ? site.url : replica.url;
  const headers = { origin: site.url, 'x-forwarded-for': from, cookie };
  const response = await post(`${url}/api/auth/sign-in/email`, { email, password }, headers);
  const body = (await response.json()) as { code?: string; message?: string };
  const cookies = response.headers.getSetCookie().map((one) => one.split(';', 1)[0] ?? '');
  return { status: response.status, retryAfter: response.headers.get('retry-after'), cookies, body };
}

/** Tries wrong passwords, all at once, from as many addresses. */
const guess = (email: string, times = 4 * PER_HOUR) =>
  Promise.all(Array.from({ length: times }, () => signIn(email, WRONG)));

const statusesOf = (answers: readonly { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);

const FULL = [...Array(PER_HOUR).fill(401), ...Array(3 * PER_HOUR).fill(429)];

const mailsAbout = (email: string) =>
  smtp.mails.filter(({ mail }) => GUESSED.test(mail.subject ?? '') && JSON.stringify(mail.to).includes(email));

/** The hour of all counts ends. */
const passHour = () => query(site.databaseUrl, `update loopstream.guesses set since = since - interval '1 hour'`);

/** Signs in where the owner is known, and returns the cookie of the browser. */
async function browserOf({ email, password }: Person): Promise<string> {
  const { cookies } = await signIn(email, password, { from: '127.0.0.1' });
  return cookies.find((one) => one.startsWith('loopstream.browser=')) ?? '';
}

test('guesses from many addresses end after a few, and the owner gets in where she has been before', async () => {
  const ada = await site.person('guessed-ada');
  const bob = await site.person('guessed-bob');
  expect(statusesOf(await guess(ada.email))).toEqual(FULL);
  const strange = await signIn(ada.email, ada.password);
  expect(strange).toMatchObject({ status: 429, body: { code: 'TOO_MANY_GUESSES' } });
  expect(strange.body.message).toMatch(/passkey.*by mail.*Otherwise try again in \d+ seconds/);
  expect(Number(strange.retryAfter)).toBeGreaterThan(0);
  expect(Number(strange.retryAfter)).toBeLessThanOrEqual(3600);
  expect((await signIn(` ${ada.email.toUpperCase()} `, ada.password)).status).toBe(429);
  expect((await signIn(ada.email, ada.password, { from: '127.0.0.1' })).status).toBe(200);
  expect((await signIn(ada.email, ada.password, { cookie: await browserOf(ada) })).status).toBe(200);
  expect((await signIn(bob.email, bob.password)).status).toBe(200);
  await passHour();
  expect((await signIn(ada.email, ada.password)).status).toBe(200);
});

test('an address without an account is answered in the same way', async () => {
  const { email } = await site.person('guessed-known');
  const [known, unknown] = [await guess(email), await guess('guessed-nobody@example.com')];
  expect(statusesOf(unknown)).toEqual(statusesOf(known));
  const words = (answers: typeof known) =>
    new Set(answers.map(({ body }) => JSON.stringify(body).replace(/\d+ seconds/, 'some seconds')));
  expect(words(unknown)).toEqual(words(known));
});

test('the owner gets one mail a day', async () => {
  const { email } = await site.person('guessed-told');
  await guess(email);
  const { text } = await smtp.mailTo(email, GUESSED);
  expect(text).toContain('/forgot-password');
  await passHour();
  expect(statusesOf(await guess(email))).toEqual(FULL);
  // Mails leave in order: this one is later than all others.
  const other = await site.person('guessed-told-later');
  for (const _server of [site, replica]) {
    await guess(other.email, PER_HOUR + 1);
    await passHour();
  }
  await smtp.mailTo(other.email, GUESSED);
  expect(mailsAbout(email)).toHaveLength(1);
});

test('a new password by mail lets the owner in at a new place, while the guesses go on', async () => {
  const { email } = await site.person('guessed-reset');
  const from = newAddress();
  const phone = openBrowser(site.url, { from });
  await guess(email);
  expect((await phone.post('/sign-in/email', { email, password: WRONG })).status).toBe(429);
  expect((await phone.post('/request-password-reset', { email })).status).toBe(200);
  const token = await readMailToken(smtp, email, /Choose a new password/);
  const newPassword = 'seven lamps over water';
  expect((await phone.post('/reset-password', { token, newPassword })).status).toBe(200);
  await guess(email, 3);
  expect((await phone.post('/sign-in/email', { email, password: newPassword })).status).toBe(200);
  expect((await signIn(email, newPassword, { from })).status).toBe(200);
  expect((await signIn(email, newPassword)).status).toBe(429);
});

test('a network of IPv6 is one place', async () => {
  const { email, password } = await site.person('guessed-six');
  expect((await signIn(email, password, { from: '2001:db8:1:1::1' })).status).toBe(200);
  await guess(email);
  expect((await signIn(email, password, { from: '2001:db8:1:1:ffff::2' })).status).toBe(200);
  expect((await signIn(email, password, { from: '2001:db8:1:2::1' })).status).toBe(429);
});

test('the cookie of a browser buys no more guesses, and none for other accounts', async () => {
  const carol = await site.person('guessed-carol');
  const { email } = await site.person('guessed-neighbour');
  const cookie = await browserOf(carol);
  expect(cookie).not.toBe('');
  await guess(email);
  expect((await signIn(email, WRONG, { cookie })).status).toBe(429);
  const answers = await Promise.all(Array.from({ length: 4 * PER_HOUR }, () => signIn(carol.email, WRONG, { cookie })));
  expect(statusesOf(answers)).toEqual(FULL);
});

test('a stolen session makes no place a known one', async () => {
  const { email, cookie } = await site.person('guessed-renewed');
  const from = newAddress();
  const renewed = await post(
    `${site.url}/api/auth/update-user`,
    { firstName: 'Mallory' },
    { ...pageHeaders(site.url, { cookie }), 'x-forwarded-for': from },
  );
  expect(renewed.status).toBe(200);
  await query(site.databaseUrl, `update auth.session set "expiresAt" = "expiresAt" - interval '2 days'`);
  const looked = await fetch(`${site.url}/api/auth/get-session`, { headers: { cookie, 'x-forwarded-for': from } });
  expect(looked.headers.getSetCookie().join()).toContain('loopstream.session=');
  await guess(email);
  expect((await signIn(email, WRONG, { from })).status).toBe(429);
});

test('a new password by mail forgets where somebody has signed in by the old one', async () => {
  const { email, password } = await site.person('guessed-forgotten');
  const thief = newAddress();
  expect((await signIn(email, password, { from: thief })).status).toBe(200);
  const phone = openBrowser(site.url, { from: newAddress() });
  expect((await phone.post('/request-password-reset', { email })).status).toBe(200);
  const token = await readMailToken(smtp, email, /Choose a new password/);
  expect((await phone.post('/reset-password', { token, newPassword: 'seven lamps over water' })).status).toBe(200);
  await guess(email);
  expect((await signIn(email, WRONG, { from: thief })).status).toBe(429);
});

test('a stolen session buys few guesses of the password', async () => {
  const { cookie } = await site.person('guessed-session');
  const change = () =>
    post(
      `${site.url}/api/auth/change-password`,
      { currentPassword: WRONG, newPassword: 'a kettle full of stars' },
      { cookie, 'x-forwarded-for': newAddress() },
    );
  const answers = await Promise.all(Array.from({ length: 4 * PER_HOUR }, change));
  expect(statusesOf(answers)).toEqual([...Array(PER_HOUR).fill(400), ...Array(3 * PER_HOUR).fill(429)]);
});
