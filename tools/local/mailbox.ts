/**
 * Runs the local mailbox: an SMTP server that takes every mail and sends none on, and a page that shows them, both on
 * this machine alone. So signing up and resetting a password can be tried without a mail server. Mails are kept as
 * files, newest first on the page.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { mailboxPage, PAGE_POLICY, type ShownMail } from './mailbox-page.ts';

/** Older ones are thrown away. */
const KEPT = 200;
const MAX_MAIL_BYTES = 10 * 2 ** 20;
const EXTENSION = '.eml';

export interface Mailbox {
  close(): Promise<void>;
}

export interface MailboxOptions {
  dir: string;
  smtpPort: number;
  httpPort: number;
}

const newestFirst = (dir: string): string[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith(EXTENSION))
    .sort()
    .reverse();

/** Sorts by the time it came. */
function keep(dir: string, content: Buffer): void {
  const time = new Date().toISOString().replaceAll(':', '-');
  writeFileSync(join(dir, `${time}-${randomUUID()}${EXTENSION}`), content, { mode: 0o600 });
  for (const name of newestFirst(dir).slice(KEPT)) rmSync(join(dir, name), { force: true });
}

const addresses = (mail: ParsedMail): string[] =>
  [mail.to ?? []].flat().flatMap(({ value }) => value.flatMap(({ address }) => address ?? []));

async function read(dir: string, name: string): Promise<ShownMail> {
  const mail = await simpleParser(readFileSync(join(dir, name)));
  return {
    id: name.slice(0, -EXTENSION.length),
    from: mail.from?.text ?? '',
    to: addresses(mail),
    subject: mail.subject ?? '',
    date: mail.date?.toISOString() ?? null,
    text: mail.text ?? '',
  };
}

/** `GET /` is the page, `GET /mails.json` the same for programs. */
async function answer(request: IncomingMessage, response: ServerResponse, dir: string): Promise<void> {
  const send = (status: number, type: string, body: string) =>
    response
      .writeHead(status, {
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'no-store',
        'content-security-policy': PAGE_POLICY,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .end(body);
  // A page of elsewhere whose name leads here would read the links that let people in: only our own names are answered to.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? ''))
    return void send(421, 'text/plain', 'The host is not allowed. Open the mailbox at 127.0.0.1.\n');
  if (request.method !== 'GET')
    return void send(405, 'text/plain', 'The method is not allowed. The mailbox is read-only.\n');
  const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
  if (path !== '/' && path !== '/mails.json') return void send(404, 'text/plain', 'The path does not exist.\n');
  const mails = await Promise.all(newestFirst(dir).map((name) => read(dir, name)));
  if (path === '/') send(200, 'text/html', mailboxPage(mails));
  else send(200, 'application/json', JSON.stringify(mails));
}

const listening = (server: Server | SMTPServer, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });

/** Listens until it is closed. */
export async function startMailbox({ dir, smtpPort, httpPort }: MailboxOptions): Promise<Mailbox> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    size: MAX_MAIL_BYTES,
    logger: false,
    onData(stream, _session, done) {
      buffer(stream)
        .then((content) => keep(dir, content))
        .then(() => done(), done);
    },
  });
  const http = createServer((request, response) => {
    answer(request, response, dir).catch(() => response.writeHead(500).end());
  });
  await Promise.all([listening(smtp, smtpPort), listening(http, httpPort)]);
  // A sender that goes away in the middle is its own affair.
  smtp.on('error', () => undefined);
  return {
    async close() {
      http.close();
      http.closeAllConnections();
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
    },
  };
}
