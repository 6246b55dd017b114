import { describe, expect, test } from 'vitest';
import {
  accountDeletedMail,
  alreadyMail,
  mailOf,
  passkeyAddedMail,
  passwordChangedMail,
  resetMail,
  verificationMail,
} from '../../src/mail/templates.ts';

const TO = 'ada@example.com';
const URL = 'https://loops.example.com/verify?a=1&b="2"';
const mails = {
  verification: verificationMail(TO, URL, 60),
  already: alreadyMail(TO, { signIn: URL, reset: URL }),
  reset: resetMail(TO, URL, 30),
  passkey: passkeyAddedMail(TO, { account: URL, reset: URL }),
  changed: passwordChangedMail(TO, { reset: URL }),
  deleted: accountDeletedMail(TO),
};

describe.each(Object.entries(mails))('the mail: %s', (_name, mail) => {
  test('says the same in both forms, in whole sentences', () => {
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

test('an address is shown and linked as text, whatever it holds', () => {
  expect(mails.verification.html).not.toContain('b="2"');
  expect(mails.verification.html).toContain('a=1&#38;b=&#34;2&#34;');
  expect(mails.verification.text).toContain(URL);
  const { html } = mailOf({ to: TO, subject: '<b>', before: ['<script>alert(1)</script>'], after: ["'"] });
  expect(html).not.toMatch(/<script>|<title><b>/);
});

test('says how long a link works', () => {
  expect(mails.verification.text).toContain('for 1 hour.');
  expect(mails.reset.text).toContain('for 30 minutes.');
});
