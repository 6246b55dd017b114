/**
 * Attacks with mail bombs. A mailbox gets few mails in an hour, whatever a stranger does, from any number of addresses, on any server; its
 * owner still gets a link and a notice. The tests use real API servers, Postgres and SMTP.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findMailbox, listAllowances } from '../../src/service/domain/mail/budget.ts';
import { startSmtp, type TestSmtp } from '../kit/fake/smtp.ts';
import { type Person, pageHeaders, post, startTestSite, type TestSite } from '../kit/make/oauth.ts';
import { query } from '../kit/real/postgres.ts';
import { call } from '../kit/system/api.ts';
import { isPassword, openBrowser, readMailToken } from '../kit/system/sign-up.ts';
import { until } from '../kit/wait.ts';

const PASSWORD = 'seven lamps over water';
const OTHER = 'nine boats in the fog';
const PER_HOUR = 5;

let site: TestSite;
let replica: Awaited<ReturnType<TestSite['replica']>>;
let smtp: TestSmtp;

beforeAll(async () => {
  smtp = await startSmtp();
  const authLimits = { attempts: 10_000, registrations: 10_000, mails: PER_HOUR };
  const mail = { smtpUrl: smtp.url, from: 'loops@example.com' };
  // Each attack comes from many addresses, so that the limit of one does not count.
  site = await startTestSite({ authLimits, mail, trustProxy: ['loopback'] });
  replica = await site.replica();
});
afterAll(async () => {
  await site?.stop();
  await smtp?.close();
});

let last = 0;
/** Each request comes from a new address, to each server in turn. */
const from = () => {
  last += 1;
  const url = last % 2 === 0 ? site.url : replica.url;
  return { url, address: `198.51.${Math.floor(last / 250)}.${(last % 250) + 1}` };
};

/** The header is right also where the server listens elsewhere than on its public address. */
async function ask(path: string, body: object) {
  const { url, address } = from();
  const headers = { origin: site.url, 'x-forwarded-for': address };
  const response = await post(`${url}/api/auth${path}`, body, headers);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const signUp = (email: string) => ask('/sign-up/email', { email, password: OTHER, firstName: 'Bomb' });

const lettersTo = (...emails: string[]) =>
  smtp.mails.filter(({ mail }) =>
    [mail.to ?? []]
      .flat()
      .flatMap(({ value }) => value.map(({ address }) => address ?? ''))
      .some((address) => emails.includes(address)),
  );

/** A server sends mails after its answer. A mail to another mailbox, which each server gets last, is its last. */
async function settle(): Promise<void> {
  for (const _server of [site, replica]) {
    const email = `settled-${last}@elsewhere.example`;
    await signUp(email);
    await smtp.mailTo(email, /Confirm/);
  }
}

const many = (times: number, attack: (i: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: times }, (_one, i) => attack(i)));

describe('mails to an address without an account', () => {
  test('signing up, asking again, for a new password and signing in: five mails an hour in all, and none by signing in', async () => {
    const email = 'bomb@example.com';
    const [owner, address] = [openBrowser(site.url, { from: '203.0.113.7' }), { email }];
    await owner.signUp(email, PASSWORD);
    await smtp.mailTo(email, /Confirm/);
    await many(20, () => owner.post('/sign-in/email', { email, password: PASSWORD }));
    await many(20, () => ask('/sign-in/email', { email, password: PASSWORD }));
    await settle();
    expect(lettersTo(email)).toHaveLength(1);
    const answers = await many(12, async () => [
      (await signUp(email)).status,
      (await ask('/send-verification-email', address)).status,
      (await ask('/request-password-reset', address)).status,
    ]);
    expect(answers.flat().every((status) => status === 200)).toBe(true);
    await settle();
    expect(lettersTo(email).length).toBeGreaterThan(1);
    expect(lettersTo(email).length).toBeLessThanOrEqual(PER_HOUR);

    // The owner signs up in the middle of the attack and gets no mail; one of the earlier mails lets her in.
    const before = lettersTo(email).length;
    const hers = openBrowser(site.url, { from: '203.0.113.8' });
    await hers.signUp(email, 'a kettle full of stars');
    await settle();
    expect(lettersTo(email)).toHaveLength(before);
    const token = await readMailToken(smtp, email, /Confirm/);
    expect((await hers.post('/verify-email', { token })).status).toBe(200);
    expect(await isPassword(site.url, { email, password: 'a kettle full of stars' })).toBe(true);
    expect(await isPassword(site.url, { email, password: OTHER })).toBe(false);
  });

  test('other spellings of an address are one mailbox', async () => {
    const spellings = [
      'kim.berg@gmail.com',
      'KimBerg+a@gmail.com',
      'k.i.m.b.e.r.g+b@googlemail.com',
      'kimberg@GMAIL.com',
    ];
    await many(24, (i) => signUp(spellings[i % spellings.length] ?? ''));
    await many(24, (i) => signUp(`tags+${i}@example.org`));
    await settle();
    const all = spellings.map((spelling) => spelling.toLowerCase());
    expect(lettersTo(...all).length).toBeLessThanOrEqual(PER_HOUR);
    const tagged = Array.from({ length: 24 }, (_one, i) => `tags+${i}@example.org`);
    expect(lettersTo(...tagged).length).toBeLessThanOrEqual(PER_HOUR);
    // The owner, who uses no tag, still gets a mail.
    await signUp('tags@example.org');
    await smtp.mailTo('tags@example.org', /Confirm/);
  });

  test('the sender learns nothing: neither that no mail is sent, nor that one is', async () => {
    const email = 'untold@example.com';
    const answers = await many(10, () => signUp(email));
    answers.push(await signUp('untold-too@example.com'));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test('nothing that a stranger has typed stands in a mail', async () => {
    const email = 'advertised@example.com';
    const names = {
      firstName: 'WIN http://evil.example',
      lastName: '<a href="http://evil.example">now</a>',
      name: 'evil',
    };
    const more = { callbackURL: '/evil', image: 'http://evil.example/x.png' };
    expect((await ask('/sign-up/email', { email, password: PASSWORD, ...names, ...more })).status).toBe(200);
    await smtp.mailTo(email, /Confirm/);
    for (const { raw, mail } of lettersTo(email))
      expect(`${raw}${mail.text}${mail.html}${mail.subject}`).not.toMatch(/evil|WIN/);
  });

  test('one source sends mails to few mailboxes in an hour', async () => {
    const statuses = [];
    for (let i = 0; i < 12 * PER_HOUR; i += 1) {
      const body = { email: `many-${i}@example.com`, password: PASSWORD, firstName: 'Bomb' };
      const answer = await post(`${site.url}/api/auth/send-verification-email`, body, {
        'x-forwarded-for': '203.0.113.99',
      });
      statuses.push(answer.status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(10 * PER_HOUR);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('mails to an address with an account', () => {
  const page = (person: Person) => pageHeaders(site.url, person);

  test('are five an hour in all: one about the existing account, and one with a link to a new password, among them', async () => {
    const { email } = await site.person('owner');
    await many(12, () => signUp(email));
    await many(12, () => ask('/send-verification-email', { email }));
    await settle();
    expect(lettersTo(email)).toHaveLength(1);
    await many(12, () => ask('/request-password-reset', { email }));
    await settle();
    expect(lettersTo(email)).toHaveLength(PER_HOUR);
    // She forgets her password while no mail is sent: a link is in her mailbox already.
    const token = await readMailToken(smtp, email, /Choose a new password/);
    const set = await ask('/reset-password', { token, newPassword: OTHER });
    expect(set.status).toBe(200);
    // The notice reaches her although a stranger has used up the mails.
    await smtp.mailTo(email, /password was changed/);
  });

  test('an intruder makes many keys: the owner learns of each, in few mails', async () => {
    const person = await site.person('inside');
    const makeKey = async (name: string) =>
      expect((await call(`${site.url}/v1/api-keys`, 'POST', { name }, page(person))).status).toBe(201);
    const aboutKeys = () => lettersTo(person.email).filter(({ mail }) => /API key/.test(mail.subject ?? ''));
    for (let i = 1; i <= PER_HOUR; i += 1) {
      await makeKey(`Key ${i}`);
      await until('it is told at once', () => aboutKeys().length === i);
    }
    const left = 2 * PER_HOUR;
    for (let i = 1; i < left; i += 1) await makeKey(`Late key ${i}`);
    await makeKey('The last');
    const waiting = () => query(site.databaseUrl, `select id from loopstream.notices where email = '${person.email}'`);
    await until('the others wait', async () => (await waiting()).length === left);
    const later = await site.replica();
    try {
      // An hour later, all waiting notices are one mail.
      await query(
        site.databaseUrl,
        `update loopstream.mail_budgets set sent = array(select t - interval '1 hour' from unnest(sent) t) where kind = 'notice'`,
      );
      await until('all are told', async () => (await waiting()).length === 0);
      const merged = await smtp.mailTo(person.email, new RegExp(`has ${left} new API keys`));
      expect(merged.text).toContain(`Late key ${left - 1}”`);
      expect(merged.text).toContain('The last');
    } finally {
      await later.stop();
    }
  });
});

describe('the mailbox behind an address', () => {
  test.each([
    ['A.B+c@GMail.com', 'ab@gmail.com'],
    ['ab@googlemail.com', 'ab@gmail.com'],
    ['a.b+c@example.com', 'a.b@example.com'],
    ['ａｂ@ｅｘａｍｐｌｅ.com', 'ab@example.com'],
    ['ab@bücher.example.', 'ab@xn--bcher-kva.example'],
    ['a-b@proton.me', 'ab@proton.me'],
    ['+c@example.com', '+c@example.com'],
    ['....@gmail.com', '....@gmail.com'],
  ])('%s is counted as %s', (address, mailbox) => {
    expect(findMailbox(address)).toBe(mailbox);
  });

  test('a sign-up leaves a mail for a new password, and one with a tag leaves one for the address without it', () => {
    const most = (mail: 'confirm' | 'reset', address: string) =>
      Math.min(...listAllowances(mail, address, PER_HOUR).map(({ mails }) => mails));
    expect(most('reset', 'a@example.com')).toBe(PER_HOUR);
    expect(most('confirm', 'a@example.com')).toBe(PER_HOUR - 1);
    expect(most('confirm', 'a+b@example.com')).toBe(PER_HOUR - 2);
  });
});
