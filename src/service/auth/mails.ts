/** Declares the mails of the authorization server and the lifetime of their links. */
import type { Notice } from '../lib/mail/notices.ts';

export const VERIFY_MINUTES = 24 * 60;
export const RESET_MINUTES = 60;

/**
 * Mails to people. Without them nobody can sign up, and who has forgotten a password stays out. Whether a mail is sent is not
 * known to the caller: a mailbox gets few in an hour.
 */
export interface AuthMails {
  /** Somebody has signed up with the address: a link that confirms it, or that it has an account. */
  signedUp(to: string): Promise<void>;
  /** A new link, where somebody has signed up with the address and it has no account yet. */
  confirmAgain(to: string): Promise<void>;
  resetPassword(to: string, token: string): Promise<void>;
  /** Strangers try passwords for this address, whether it has an account or not. */
  guessed(to: string): Promise<void>;
  /** Something lets somebody into the account from now on. */
  notice(to: string, notice: Notice): Promise<void>;
}
