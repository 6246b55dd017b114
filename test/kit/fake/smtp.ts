/** Runs a real SMTP server for tests and keeps the received mails. Close it afterwards. */
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from '../wait.ts';

export interface TestSmtp {
  url: string;
  port: number;
  mails: { mail: ParsedMail; raw: string }[];
  /** Returns the newest mail to an address with a matching subject, ignoring the first `seen` mails to it. */
  mailTo(address: string, subject: RegExp, seen?: number): Promise<ParsedMail>;
  close(): Promise<void>;
}

const listRecipients = (mail: ParsedMail) =>
  [mail.to ?? []].flat().flatMap(({ value }) => value.map((to) => to.address));

/** Returns the one address of our site in a mail. */
export const findMailLink = (mail: ParsedMail): string => {
  const [link] = /https?:\/\/\S+/.exec(mail.text ?? '') ?? [];
  if (link === undefined) throw new Error(`There is no address in: ${mail.text}`);
  return link;
};

export async function startSmtp(options: SMTPServerOptions = {}, port = 0): Promise<TestSmtp> {
  const mails: TestSmtp['mails'] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        simpleParser(raw).then((mail) => {
          mails.push({ mail, raw: raw.toString() });
          done();
        }, done);
      });
    },
    ...options,
  });
  // A client that disconnects early is no failure of the test.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const listening = (server.server.address() as AddressInfo).port;
  return {
    url: `smtp://127.0.0.1:${listening}`,
    port: listening,
    mails,
    mailTo: (address, subject, seen = 0) =>
      until(`a mail to ${address} about ${subject}`, () => {
        const found = mails.filter(
          ({ mail }) => listRecipients(mail).includes(address) && subject.test(mail.subject ?? ''),
        );
        return found.length > seen ? found.at(-1)?.mail : undefined;
      }),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
