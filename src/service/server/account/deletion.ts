/**
 * Deletes an account: it revokes all access at once, and deletes the account's resources in the background. Ledger entries stay, as
 * tax law requires; they contain only the account's id. The deletion is recorded first, so that any server continues it after a
 * crash. A repetition changes nothing.
 */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { Logger } from '../../../core/lib/log.ts';
import type { AuthService } from '../../auth/service.ts';
import type { Db } from '../../db/pool.ts';
import type { AccountDelete } from '../../domain/accounts/record.ts';
import { beginDeletion, endDeletion, findOwner, listDeletions } from '../../domain/accounts/store.ts';
import { AppError } from '../../lib/errors.ts';
import type { Principal } from '../../lib/scopes.ts';

/** Interval between two checks for unfinished deletions. */
const LOOK_MS = 60_000;
/** Longest age of a sign-in that replaces the password. */
const FRESH_MS = 600_000;

export interface DeletionDeps {
  db: Db;
  auth: Pick<AuthService, 'hasPassword' | 'forgetCredentials'>;
  /** Resolves with whether everything is gone. */
  clear: (accountId: string) => Promise<boolean>;
  /** Notifies the owner in the background. */
  sendMail: (email: string) => void;
  log: Logger;
  clock?: Clock;
  lookMs?: number;
}

export type Deletions = ReturnType<typeof createDeletions>;

export function createDeletions({ db, auth, clear, sendMail, log, ...more }: DeletionDeps) {
  const { clock = systemClock, lookMs = LOOK_MS } = more;
  const stopping = new AbortController();
  let wake = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  /** Throws `not_confirmed` (403) unless the owner makes the request. */
  async function confirm({ userId, sessionId = '' }: Principal, { email, password }: AccountDelete): Promise<string> {
    const owner = await findOwner(db, userId, sessionId);
    if (!owner) throw new AppError('unauthenticated', 'The account no longer exists.');
    if (owner.email !== email.trim().toLowerCase())
      throw new AppError('not_confirmed', 'The e-mail address does not match the account.');
    const { hash, since, begunBy } = owner;
    if (hash !== null && password !== undefined) {
      if (await auth.hasPassword(userId, password)) return owner.email;
      throw new AppError('not_confirmed', 'The password does not match the account.');
    }
    // A passkey proves the person, as a password does; users with neither sign in at another provider.
    const isEnough = hash === null || begunBy === 'passkey';
    if (isEnough && since !== null && clock.now().getTime() - since.getTime() < FRESH_MS) return owner.email;
    if (hash !== null)
      throw new AppError('not_confirmed', 'The deletion needs the password of the account, or its passkey.');
    throw new AppError('not_confirmed', 'Sign out, sign in again, and delete the account within ten minutes.');
  }

  async function work(): Promise<void> {
    for (const accountId of await listDeletions(db)) {
      if (stopping.signal.aborted) return;
      try {
        if (await clear(accountId)) await endDeletion(db, accountId);
      } catch (err) {
        log.warn({ err, account: accountId }, 'the data of an account could not be deleted; it is retried');
      }
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = Promise.withResolvers();
      await work().catch((err) => log.warn({ err }, 'the accounts that wait for deletion could not be read'));
      if (stopping.signal.aborted) return;
      const timer = setTimeout(wake.resolve, lookMs);
      await wake.promise;
      clearTimeout(timer);
    }
  }

  return {
    /** Revokes all access to the account. Rejects with `not_confirmed`. */
    async begin(principal: Principal, confirmation: AccountDelete): Promise<void> {
      const email = await confirm(principal, confirmation);
      await beginDeletion(db, principal.accountId);
      auth.forgetCredentials();
      sendMail(email);
      wake.resolve();
    },

    /** Checks for unfinished deletions until `stop`. */
    start(): void {
      running ??= run();
    },

    async stop(): Promise<void> {
      stopping.abort();
      wake.resolve();
      await running;
    },
  };
}
