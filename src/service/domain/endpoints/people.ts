/** Sends messages to people: by mail, and as requests in the shape of each kind. */
import type { Mailer } from '../../lib/mail/mailer.ts';
import {
  type AlertText,
  buildAlertMail,
  buildDiscordPost,
  buildSlackPost,
  describeAlert,
  describeCode,
  describeTest,
} from './alerts/messages.ts';
import type { AlertMessage } from './alerts/rule.ts';
import { listValues, renderTemplate } from './alerts/template.ts';
import type { DeliveryAttempt } from './outcome.ts';
import type { Post } from './post.ts';
import type { EndpointSender, EndpointSenders } from './senders.ts';

/** A message, or the code by which an address is confirmed. */
type PeopleMail = 'alert' | 'code';

export interface PeopleDeps {
  post: Post;
  /** Undefined where the installation sends no mail. A failure is retried by the caller. */
  mailer: Pick<Mailer, 'send'> | undefined;
  /** Returns whether the mailbox may get one more mail, and counts it. */
  takeMail: (mail: PeopleMail, address: string) => Promise<boolean>;
  publicUrl: string;
}

const USER_AGENT = 'loopstream-alerts/1';
/** A mailbox that has had its mails gets the next one after this time. */
const MAILBOX_PAUSE_MS = 900_000;

interface Spoken {
  text: AlertText;
  /** Undefined for a code and for a test. */
  message?: AlertMessage;
  mail: PeopleMail;
}

type Body = AlertMessage | { type: 'endpoint.verification'; data: { code: string } } | { type: 'endpoint.test' };

function describe(body: unknown, publicUrl: string): Spoken {
  const known = body as Body;
  if (known.type === 'endpoint.verification') return { text: describeCode(known.data.code, publicUrl), mail: 'code' };
  if (known.type === 'endpoint.test') return { text: describeTest(publicUrl), mail: 'alert' };
  return { text: describeAlert(known, publicUrl), message: known, mail: 'alert' };
}

async function sendMail(
  { mailer, takeMail }: PeopleDeps & { mailer: Pick<Mailer, 'send'> },
  address: string,
  { text, mail }: Spoken,
): Promise<DeliveryAttempt> {
  const since = performance.now();
  const took = () => ({ tookMs: performance.now() - since });
  try {
    if (!(await takeMail(mail, address))) return { failure: 'mailbox_full', retryAfterMs: MAILBOX_PAUSE_MS, ...took() };
    await mailer.send(buildAlertMail(address, text));
    // SMTP has no such number; it is the one that people know.
    return { status: 200, ...took() };
  } catch {
    return { failure: 'mail_failed', ...took() };
  }
}

/** The senders of all kinds for people. */
export function peopleSenders(deps: PeopleDeps): EndpointSenders {
  const { post, mailer, publicUrl } = deps;
  const postJson =
    (build: (text: AlertText) => Record<string, unknown>): EndpointSender =>
    ({ target: url }, { body }, signal) => {
      const headers = { 'content-type': 'application/json', 'user-agent': USER_AGENT };
      return post(
        { url, method: 'POST', headers, body: JSON.stringify(build(describe(body, publicUrl).text)) },
        signal,
      );
    };
  return {
    ...(mailer && {
      mail: ({ target }, { body }) => sendMail({ ...deps, mailer }, target, describe(body, publicUrl)),
    }),
    slack: postJson(buildSlackPost),
    discord: postJson(buildDiscordPost),
    template: ({ target: url, template }, { body }, signal) => {
      const { text, message } = describe(body, publicUrl);
      const request = renderTemplate({ url, ...template }, listValues(text, message));
      return post({ ...request, headers: { 'user-agent': USER_AGENT, ...request.headers } }, signal);
    },
  };
}
