/**
 * Sends mail by SMTP (RFC 5321). A server that is away or busy is tried again a few times; callers need not wait for
 * that. Addresses and texts reach no log: a mail carries a link that lets its reader in.
 */
import { createTransport } from 'nodemailer';
import { sleep } from '../../../core/lib/clock.ts';
import type { Logger } from '../../../core/lib/log.ts';

export interface Mail {
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailer {
  /** Resolves once the server has taken the mail, and rejects with a MailError when it will not. */
  send(mail: Mail): Promise<void>;
  /** `send` without waiting: errors are logged. The duration of the request so reveals nothing. */
  post(mail: Mail): void;
  /** Waits for what is on its way, without asking again. */
  close(): Promise<void>;
}

/** `smtpUrl` is `smtp://user:password@host:port`, or `smtps://…` with TLS from the first byte. */
export interface MailConfig {
  smtpUrl: string;
  /** The sender: `loops@example.com`, or `Loops <loops@example.com>`. */
  from: string;
}

/** Says which part of it failed and the server's number for why, and nothing of the mail. */
export class MailError extends Error {
  override readonly name = 'MailError';
}

/** Pauses before it is tried again, in milliseconds. */
const PAUSES_MS = [1_000, 5_000, 20_000];
const CONNECT_MS = 10_000;
/** For one answer of the server: RFC 5321, section 4.5.3.2, allows it minutes, a person who waits for a mail does not. */
const ANSWER_MS = 30_000;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

interface SmtpError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
}

/** A server that could not be reached, or said 4yz: "try again" (RFC 5321, section 4.2.1). */
const isPassing = ({ code, responseCode }: SmtpError): boolean =>
  responseCode === undefined
    ? ['ECONNECTION', 'ETIMEDOUT', 'ESOCKET', 'EDNS', 'EAI_AGAIN'].includes(code ?? '')
    : responseCode >= 400 && responseCode < 500;

const toMailError = ({ code, command, responseCode }: SmtpError): MailError =>
  new MailError(`The mail server rejected a mail (${[code, command, responseCode].filter(Boolean).join(' ')}).`);

/** `onDone` is called once for each mail, with whether the server took it. */
export function createMailer(
  { smtpUrl, from }: MailConfig,
  log: Logger,
  { pausesMs = PAUSES_MS, onDone }: { pausesMs?: readonly number[]; onDone?: (taken: boolean) => void } = {},
): Mailer {
  const { hostname, password } = new URL(smtpUrl);
  const transport = createTransport(
    {
      url: smtpUrl,
      pool: true,
      maxConnections: 4,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: ANSWER_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
      // A password goes over a connection that others can read to no host but our own.
      requireTLS: password !== '' && !LOOPBACK.test(hostname),
    },
    // RFC 3834: no automatic "I am on holiday" reply.
    { from, xMailer: false, headers: { 'Auto-Submitted': 'auto-generated' } },
  );
  const closing = new AbortController();
  const onTheirWay = new Set<Promise<void>>();

  async function send(mail: Mail): Promise<void> {
    for (const pause of [...pausesMs, undefined]) {
      try {
        await transport.sendMail({ ...mail, to: { name: '', address: mail.to } });
        onDone?.(true);
        return;
      } catch (error) {
        if (pause === undefined || closing.signal.aborted || !isPassing(error as SmtpError)) {
          onDone?.(false);
          throw toMailError(error as SmtpError);
        }
        await sleep(pause, closing.signal).catch(() => undefined);
      }
    }
  }

  return {
    send,
    post(mail) {
      const done: Promise<void> = send(mail)
        .catch((error: unknown) => log.error({ reason: String(error) }, 'a mail could not be sent'))
        .finally(() => onTheirWay.delete(done));
      onTheirWay.add(done);
    },
    async close() {
      closing.abort();
      await Promise.allSettled(onTheirWay);
      transport.close();
    },
  };
}
