/** The letters about accounts, with the addresses of the pages that they lead to. Nobody waits for them to be sent. */

import type { AuthMails } from '../auth/better-auth.ts';
import { RESET_MINUTES, VERIFY_MINUTES } from '../auth/better-auth.ts';
import type { Mailer } from '../mail/mailer.ts';
import {
  accountDeletedMail,
  alreadyMail,
  passkeyAddedMail,
  passwordChangedMail,
  resetMail,
  verificationMail,
} from '../mail/templates.ts';

export interface Letters extends AuthMails {
  accountDeleted(to: string): void;
}

/** How long an answer takes must not tell whether a letter is sent, so each is posted and not waited for. */
export function createLetters(mailer: Pick<Mailer, 'post'>, publicUrl: string): Letters {
  // Browsers send what is behind # to no server, and to no page that one goes on to.
  const withToken = (page: string, token: string) => `${publicUrl}${page}#token=${encodeURIComponent(token)}`;
  // The page finds out by itself whether a program waits: what a stranger sent along is in no letter.
  const signIn = `${publicUrl}/sign-in?from=letter`;
  const reset = `${publicUrl}/forgot-password`;
  return {
    verifyEmail: async (to, token) => mailer.post(verificationMail(to, withToken('/verify', token), VERIFY_MINUTES)),
    resetPassword: async (to, token) => mailer.post(resetMail(to, withToken('/reset-password', token), RESET_MINUTES)),
    passwordChanged: async (to) => mailer.post(passwordChangedMail(to, { reset })),
    passkeyAdded: async (to) => mailer.post(passkeyAddedMail(to, { account: `${publicUrl}/account`, reset })),
    alreadyRegistered: async (to) => mailer.post(alreadyMail(to, { signIn, reset })),
    accountDeleted: (to) => mailer.post(accountDeletedMail(to)),
  };
}
