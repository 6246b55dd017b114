/**
 * Sends the mails about accounts, with links to their pages. Requests never wait for a mail: the duration of a response must not
 * reveal whether one is sent. Every lookup for a mail therefore happens after the response.
 */

import type { Logger } from '../../../core/lib/log.ts';
import { type AuthMails, RESET_MINUTES, VERIFY_MINUTES } from '../../auth/mails.ts';
import { makeLink } from '../../auth/sign-up.ts';
import { addSignUpLink, findUserByEmail, isSignUpOpen } from '../../auth/store.ts';
import type { Db } from '../../db/pool.ts';
import type { Mailer } from '../../lib/mail/mailer.ts';
import { buildNoticeMail } from '../../lib/mail/notices.ts';
import {
  buildAccountDeletedMail,
  buildExistingAccountMail,
  buildGuessedMail,
  buildResetMail,
  buildVerificationMail,
} from '../../lib/mail/templates.ts';
import { createMailBudget } from '../mail/budget.ts';
import { addNotice, deleteOldCounts, listWaiting, takeNotices } from '../mail/store.ts';

/** Interval between two checks for deferred notices. */
const LOOK_MS = 60_000;

export interface AccountMails extends AuthMails {
  accountDeleted(to: string): void;
  /** Deletes expired records; callers run it now and then. */
  forgetOld(): Promise<void>;
  /** Waits for running work. The next server that checks sends deferred notices. */
  close(): Promise<void>;
}

export interface AccountMailsDeps {
  mailer: Pick<Mailer, 'post' | 'send'>;
  db: Db;
  publicUrl: string;
  /** Mails per mailbox and hour. */
  perHour: number;
  log: Logger;
  lookMs?: number;
}

/** Runs work in the background; `settled` waits for what is running. */
function createBackground(log: Logger) {
  const atWork = new Set<Promise<void>>();
  return {
    async begin(work: () => Promise<void>): Promise<void> {
      const done: Promise<void> = work()
        .catch((err: unknown) => log.warn({ err }, 'a mail could not be prepared'))
        .finally(() => atWork.delete(done));
      atWork.add(done);
    },
    settled: async (): Promise<void> => void (await Promise.allSettled(atWork)),
  };
}

/** Notices are stored first. The mailbox gets them as soon as its budget allows a mail, several in one where they were deferred. */
function createNotices({ mailer, db, publicUrl, perHour, log }: AccountMailsDeps) {
  const budget = createMailBudget({ db, perHour });

  async function send(email: string): Promise<void> {
    const { mailbox, allowed } = budget.notices(email);
    const notices = await takeNotices(db, email, mailbox, allowed);
    if (notices.length === 0) return;
    try {
      await mailer.send(buildNoticeMail(email, notices, publicUrl));
    } catch (error) {
      log.error({ reason: String(error) }, 'notices about an account could not be sent; they are retried');
      for (const notice of notices) await addNotice(db, email, notice);
    }
  }

  async function sendWaiting(): Promise<void> {
    for (const email of await listWaiting(db)) await send(email);
  }
  return { send, sendWaiting };
}

export function createAccountMails(deps: AccountMailsDeps): AccountMails {
  const { mailer, db, publicUrl, perHour, log, lookMs = LOOK_MS } = deps;
  const budget = createMailBudget({ db, perHour });
  const notices = createNotices(deps);
  const { begin, settled } = createBackground(log);
  const timer = setInterval(() => void begin(notices.sendWaiting), lookMs);
  timer.unref();
  // Browsers send the fragment after # neither to a server nor as a referrer.
  const withToken = (page: string, token: string) => `${publicUrl}${page}#token=${encodeURIComponent(token)}`;
  // The page finds out by itself whether a program waits: no mail contains text that a stranger sent.
  const signIn = `${publicUrl}/sign-in?from=letter`;
  const reset = `${publicUrl}/forgot-password`;

  async function sendLink(to: string): Promise<void> {
    if (!(await isSignUpOpen(db, to, 60 * VERIFY_MINUTES)) || !(await budget.take('confirm', to))) return;
    const { token, hash } = makeLink();
    await addSignUpLink(db, to, hash);
    mailer.post(buildVerificationMail(to, withToken('/verify', token), VERIFY_MINUTES));
  }

  async function answerSignUp(to: string): Promise<void> {
    if (!(await findUserByEmail(db, to))) return sendLink(to);
    if (await budget.take('known', to)) mailer.post(buildExistingAccountMail(to, { signIn, reset }));
  }

  return {
    signedUp: (to) => begin(() => answerSignUp(to)),
    confirmAgain: (to) => begin(() => sendLink(to)),
    resetPassword: (to, token) =>
      begin(async () => {
        if (await budget.take('reset', to))
          mailer.post(buildResetMail(to, withToken('/reset-password', token), RESET_MINUTES));
      }),
    guessed: (to) =>
      begin(async () => {
        if ((await findUserByEmail(db, to)) && (await budget.take('guessed', to)))
          mailer.post(buildGuessedMail(to, { account: `${publicUrl}/account`, reset }));
      }),
    notice: async (to, notice) => {
      // The owner is notified even if this server stops now.
      await addNotice(db, to, notice);
      await begin(() => notices.send(to));
    },
    accountDeleted: (to) => mailer.post(buildAccountDeletedMail(to)),
    forgetOld: () => deleteOldCounts(db),
    async close() {
      clearInterval(timer);
      await settled();
    },
  };
}
