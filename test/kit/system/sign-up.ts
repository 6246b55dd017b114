/** Signs a browser up over HTTP: it keeps cookies, and opens the links of mails. */

import { findMailLink, type TestSmtp } from '../fake/smtp.ts';
import { type Person, post, signIn } from '../make/oauth.ts';

export interface Visitor {
  post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  signUp(email: string, password: string): Promise<void>;
}

/** `url` is the site's. `from` is the client address that a trusted proxy would add. */
export function openBrowser(url: string, { from }: { from?: string } = {}): Visitor {
  const jar = new Map<string, string>();
  const send: Visitor['post'] = async (path, body) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await post(`${url}/api/auth${path}`, body, { cookie, ...(from && { 'x-forwarded-for': from }) });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';', 1);
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return { status: response.status, body: ((await response.json()) ?? {}) as Record<string, unknown> };
  };
  return {
    post: send,
    async signUp(email, password) {
      const answer = await send('/sign-up/email', { email, password, firstName: 'Somebody' });
      if (answer.status !== 200) throw new Error(`signing up was answered ${answer.status}`);
    },
  };
}

/** Returns the token in a mail's link. */
export async function readMailToken(smtp: TestSmtp, email: string, subject: RegExp, seen = 0): Promise<string> {
  const link = findMailLink(await smtp.mailTo(email, subject, seen));
  return new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';
}

/** Checks the account's password. */
export const isPassword = (url: string, who: Pick<Person, 'email' | 'password'>): Promise<boolean> =>
  signIn(url, who).then(
    () => true,
    () => false,
  );
