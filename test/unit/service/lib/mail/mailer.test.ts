import { Writable } from 'node:stream';
import pino from 'pino';
import type { SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { createMailer, type Mail, MailError } from '../../../../../src/service/lib/mail/mailer.ts';
import { startSmtp, type TestSmtp } from '../../../../kit/fake/smtp.ts';

const FROM = 'Loops <loops@example.com>';
const mail = (to = 'ada@example.com'): Mail => ({ to, subject: 'Hello', text: 'Gruß\n', html: '<p>Gruß</p>' });
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function smtp(options?: SMTPServerOptions, port?: number): Promise<TestSmtp> {
  const server = await startSmtp(options, port);
  // The server closes after the mailers: it waits for their connections.
  closing.push(() => server.close());
  return server;
}

function mailer(smtpUrl: string, pausesMs: number[] = []) {
  let logs = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logs += chunk;
      done();
    },
  });
  const done: boolean[] = [];
  const onDone = (taken: boolean) => void done.push(taken);
  const made = createMailer({ smtpUrl, from: FROM }, pino(sink), { pausesMs, onDone });
  closing.unshift(() => made.close());
  return { ...made, done, logs: () => logs };
}

const withPassword = (accepted: string): SMTPServerOptions => ({
  authOptional: false,
  allowInsecureAuth: true,
  onAuth({ username, password }, _session, done) {
    const good = username === 'loops@example.com' && password === accepted;
    done(good ? null : new Error('5.7.8 no'), good ? { user: 'loops' } : undefined);
  },
});

test('a mail arrives as it was meant, from whom the setting says, and says that no person wrote it', async () => {
  const server = await smtp();
  await mailer(server.url).send(mail());
  const [{ mail: got, raw } = { mail: undefined, raw: '' }] = server.mails;
  expect(got).toMatchObject({ subject: 'Hello', text: 'Gruß\n', html: '<p>Gruß</p>' });
  expect(got?.from?.text).toBe('"Loops" <loops@example.com>');
  expect(got?.headers.get('auto-submitted')).toBe('auto-generated');
  expect(raw).not.toMatch(/x-mailer|nodemailer/i);
});

test('an address is one recipient, with any content', async () => {
  const server = await smtp();
  await mailer(server.url)
    .send(mail('ada@example.com, eve@example.com'))
    .catch(() => undefined);
  await mailer(server.url)
    .send(mail('ada@example.com\r\nBcc: eve@example.com'))
    .catch(() => undefined);
  const recipients = server.mails.flatMap(({ mail: got }) => [got.to ?? [], got.bcc ?? []].flat());
  expect(recipients.flatMap(({ value }) => value.map(({ address }) => address))).not.toContain('eve@example.com');
});

test('a busy server is retried, and one that refuses is not; either is reported once', async () => {
  let asked = 0;
  const busy = await smtp({
    onMailFrom(_address, _session, done) {
      asked += 1;
      done(asked < 3 ? Object.assign(new Error('busy'), { responseCode: 451 }) : undefined);
    },
  });
  const patient = mailer(busy.url, [1, 1]);
  await patient.send(mail());
  expect([asked, busy.mails.length]).toEqual([3, 1]);
  expect(patient.done).toEqual([true]);

  let refused = 0;
  const strict = await smtp({
    onRcptTo(_address, _session, done) {
      refused += 1;
      done(Object.assign(new Error('no such user'), { responseCode: 550 }));
    },
  });
  const other = mailer(strict.url, [1, 1]);
  await expect(other.send(mail())).rejects.toThrow(MailError);
  expect(refused).toBe(1);
  expect(other.done).toEqual([false]);
});

test('a server that was away gets the mail when it is there again', async () => {
  const before = await startSmtp();
  await before.close();
  const one = mailer(before.url, Array(500).fill(20));
  one.post(mail());
  const server = await smtp({}, before.port);
  await server.mailTo('ada@example.com', /Hello/);
});

test('neither password nor address nor text of a mail is in a log or an error', async () => {
  const server = await smtp(withPassword('right'));
  const address = server.url.replace('//', '//loops%40example.com:wr%3Aong@');
  const one = mailer(address);
  const error = await one.send(mail()).catch((e: Error) => e);
  expect(error).toBeInstanceOf(MailError);
  one.post(mail());
  await one.close();
  expect(one.logs()).toContain('could not be sent');
  const told = one.logs() + String(error) + JSON.stringify(error) + (error as Error).stack;
  expect(told).not.toMatch(/wr:ong|wr%3Aong|d3I6b25n|ada@example|loops@example|Gruß/);
  await mailer(server.url.replace('//', '//loops%40example.com:right@')).send(mail());
  expect(server.mails).toHaveLength(1);
});

test('a password goes over no open connection to another machine', async () => {
  const server = await smtp(withPassword('right'));
  // 0.0.0.0 is this machine, but is no known name of it.
  const address = `smtp://loops%40example.com:right@0.0.0.0:${server.port}`;
  await expect(mailer(address).send(mail())).rejects.toThrow(/ETLS|STARTTLS/);
  expect(server.mails).toEqual([]);
});

test('mails on their way are sent before the end', async () => {
  const server = await smtp();
  const one = mailer(server.url);
  for (const name of ['a', 'b', 'c']) one.post(mail(`${name}@example.com`));
  await one.close();
  expect(server.mails).toHaveLength(3);
});
