import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMailer } from '../../../../src/service/lib/mail/mailer.ts';
import { buildResetMail } from '../../../../src/service/lib/mail/templates.ts';
import { type Mailbox, startMailbox } from '../../../../tools/local/mailbox.ts';
import { mailboxPage, type ShownMail } from '../../../../tools/local/mailbox-page.ts';
import { claimPort } from '../../../../tools/process/ports.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

describe('the local mailbox', () => {
  let dir: string;
  let smtpPort: number;
  let httpPort: number;
  let mailbox: Mailbox;
  const open = async () => {
    mailbox = await startMailbox({ dir: join(dir, 'mail'), smtpPort, httpPort });
  };
  beforeEach(async () => {
    dir = tempDir();
    [smtpPort, httpPort] = [await claimPort('smtp', 0), await claimPort('mail-port', 0)];
    await open();
  });
  afterEach(() => mailbox.close());

  const send = async (to: string, url: string) => {
    const mailer = createMailer(
      { smtpUrl: `smtp://127.0.0.1:${smtpPort}`, from: 'a@localhost' },
      pino({ level: 'silent' }),
    );
    await mailer.send(buildResetMail(to, url, 30));
    await mailer.close();
  };
  const site = () => `http://127.0.0.1:${httpPort}`;

  test('shows sent mails, newest first, to people and to programs, also after a restart', async () => {
    await send('ada@example.com', 'http://127.0.0.1:1/first');
    await send('bob@example.com', 'http://127.0.0.1:1/second');
    await mailbox.close();
    await open();
    const mails = (await (await fetch(`${site()}/mails.json`)).json()) as ShownMail[];
    expect(mails.map(({ to }) => to)).toEqual([['bob@example.com'], ['ada@example.com']]);
    expect(mails[0]?.text).toContain('http://127.0.0.1:1/second');
    const page = await (await fetch(site())).text();
    expect(page).toContain('<a href="http://127.0.0.1:1/second">');
    expect(page.indexOf('second')).toBeLessThan(page.indexOf('first'));
  });

  test('is for the owner of this machine: its files, and no page of elsewhere', async () => {
    await send('ada@example.com', 'http://127.0.0.1:1/');
    for (const name of readdirSync(join(dir, 'mail')))
      expect(statSync(join(dir, 'mail', name)).mode & 0o077, name).toBe(0);
    // fetch sets Host itself, so node:http sends the request.
    const status = await new Promise((resolve, reject) => {
      request(`${site()}/mails.json`, { headers: { host: 'rebound.example.com' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(421);
    expect((await fetch(site(), { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${site()}/../etc/passwd`)).status).toBe(404);
  });
});

test('a mail’s content is shown as text', () => {
  const mail = { id: '1', from: '<b>', to: ['"a"@b'], subject: '<script>', date: '"', text: '<img> http://a/"onx=1' };
  const page = mailboxPage([mail]);
  expect(page).not.toMatch(/<(script|img|b)>/);
  expect(page).toContain('<a href="http://a/">');
  expect(page).not.toContain('="onx');
});
