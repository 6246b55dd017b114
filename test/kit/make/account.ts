/** Makes accounts as people do: sign-up over HTTP, confirmed by the mail in the local mailbox. */
import { expect } from 'vitest';
import type { ShownMail } from '../../../tools/local/mailbox-page.ts';
import { until } from '../wait.ts';

export type Mailbox = ReturnType<typeof openMailbox>;

/** `url` is that of the local mailbox's page. */
export function openMailbox(url: string) {
  const to = async (address: string): Promise<ShownMail[]> => {
    const all = (await (await fetch(new URL('mails.json', url))).json()) as ShownMail[];
    return all.filter((mail) => mail.to.includes(address));
  };
  return {
    count: async (address: string) => (await to(address)).length,
    /** Returns the first link in the newest mail with that subject. */
    link: (address: string, subject: RegExp): Promise<string> =>
      until(`a mail to ${address} about ${subject}`, async () => {
        const mail = (await to(address)).find((one) => subject.test(one.subject));
        return mail && /https?:\/\/\S+/.exec(mail.text)?.[0];
      }),
  };
}

let made = 0;

/** Makes an account with a confirmed address and no session. */
export async function createAccount(site: string, mails: Mailbox, password: string): Promise<{ email: string }> {
  made += 1;
  const email = `person-${process.pid}-${made}@example.com`;
  const post = (path: string, body: object) =>
    fetch(`${site}/api/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: site },
      body: JSON.stringify(body),
    });
  const signedUp = await post('/sign-up/email', { email, password, firstName: 'A', lastName: 'Person' });
  expect(signedUp.status, await signedUp.text()).toBe(200);
  const link = new URL(await mails.link(email, /Confirm/));
  const token = new URLSearchParams(link.hash.slice(1)).get('token') ?? '';
  // The request has no cookie of the sign-up, so the page asks for a password: the same one.
  const verified = await post('/verify-email', { token, password, firstName: 'A', lastName: 'Person' });
  expect(verified.status, await verified.text()).toBe(200);
  return { email };
}
