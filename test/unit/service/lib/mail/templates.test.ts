import { describe, expect, test } from 'vitest';
import { buildNoticeMail, describePassword, quoteName } from '../../../../../src/service/lib/mail/notices.ts';
import {
  buildAccountDeletedMail,
  buildExistingAccountMail,
  buildGuessedMail,
  buildResetMail,
  buildVerificationMail,
  renderMail,
} from '../../../../../src/service/lib/mail/templates.ts';

const TO = 'ada@example.com';
const URL = 'https://loops.example.com/verify?a=1&b="2"';
const SITE = 'https://loops.example.com';
const AT = new Date('2026-11-25T09:15:00Z');
const NO_WAYS = { apiKeys: 0, apps: 0, passkeys: 0 };
const mails = {
  verification: buildVerificationMail(TO, URL, 60),
  already: buildExistingAccountMail(TO, { signIn: URL, reset: URL }),
  reset: buildResetMail(TO, URL, 30),
  passkey: buildNoticeMail(TO, [{ kind: 'passkey', what: 'Phone', at: AT }], SITE),
  changed: buildNoticeMail(
    TO,
    [{ kind: 'password', what: describePassword({ apiKeys: 2, apps: 1, passkeys: 0 }, NO_WAYS), at: AT }],
    SITE,
  ),
  several: buildNoticeMail(
    TO,
    Array.from({ length: 30 }, (_one, i) => ({ kind: 'apiKey' as const, what: `Key ${i}`, at: AT })),
    SITE,
  ),
  deleted: buildAccountDeletedMail(TO),
  guessed: buildGuessedMail(TO, { account: URL, reset: URL }),
};

describe.each(Object.entries(mails))('the mail: %s', (_name, mail) => {
  test('has the same content in both forms, in complete sentences', () => {
    const shown = mail.html
      .replace(/<(head)>.*<\/\1>/s, '')
      .replace(/<[^>]+>/g, '')
      .replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
    for (const paragraph of mail.text.trim().split('\n\n'))
      for (const line of paragraph.split('\n')) expect(shown).toContain(line.replace(/:$/, ''));
    expect(mail.text).toMatch(/^[A-Z].*[.:]$/m);
    expect(mail.subject.length).toBeLessThan(60);
  });

  test('loads nothing, runs nothing and fits a phone', () => {
    expect(mail.html).not.toMatch(/<(img|script|link|iframe|form)|@import|url\(/i);
    expect(mail.html).toContain('width=device-width');
    expect(mail.html).not.toMatch(/[^-]width:\s*\d{3,}px/);
  });
});

test('an address is shown and linked as text, with any content', () => {
  expect(mails.verification.html).not.toContain('b="2"');
  expect(mails.verification.html).toContain('a=1&#38;b=&#34;2&#34;');
  expect(mails.verification.text).toContain(URL);
  const { html } = renderMail({ to: TO, subject: '<b>', before: ['<script>alert(1)</script>'], after: ["'"] });
  expect(html).not.toMatch(/<script>|<title><b>/);
});

test('says how long a link works', () => {
  expect(mails.verification.text).toContain('for 1 hour.');
  expect(mails.reset.text).toContain('for 30 minutes.');
});

test('a notice names the change, its time, its meaning and the way back', () => {
  expect(mails.passkey.subject).toBe('A passkey was added to your account');
  expect(mails.passkey.text).toContain('25 November 2026, 09:15 UTC: new passkey “Phone”.');
  expect(mails.passkey.text).toContain(`${SITE}/account`);
  expect(mails.changed.text).toContain('Revoked: 2 API keys and 1 connected app.');
  expect(mails.changed.text).toContain(`${SITE}/forgot-password`);
  const kept = describePassword(NO_WAYS, { apiKeys: 0, apps: 0, passkeys: 2 });
  expect(kept).toContain('Still valid: 2 passkeys.');
});

test('notices that had to wait are one mail, which is not endless', () => {
  expect(mails.several.subject).toBe('Your account has 30 new API keys');
  expect(mails.several.text).toContain('Key 19”');
  expect(mails.several.text).not.toContain('Key 20”');
  expect(mails.several.text).toContain('And 10 more changes.');
  expect(mails.several.text).toContain(`${SITE}/account/keys`);
});

test.each([
  'Visit evil.example now',
  'http://evil',
  '//evil',
  'www.evil',
  'mail eve@evil',
  'ｅｖｉｌ．ｅｘａｍｐｌｅ',
  'пример.рф',
  '\u200b',
  '',
])('a name that a mail program could make a link of is not shown: %s', (name) => {
  expect(quoteName(name)).toBe('(name not shown)');
});

test.each(['Playout v2.1', 'Node 24.', 'Ada’s laptop (home)', '日本'])('an ordinary name is shown: %s', (name) => {
  expect(quoteName(name)).toBe(`“${name}”`);
});
