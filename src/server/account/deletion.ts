/**
 * An account that is deleted: at once nobody is let in any more, and then, in the background, all that belongs to it is cleared
 * away. What was booked stays, as the law asks of whoever takes money: the ledger knows the account by its id alone. That it
 * is to go is written down first, so that any server goes on where another one has died; doing it twice changes nothing.
 */

import type { AuthService } from '../../auth/service.ts';
import type { Db } from '../../db/pool.ts';
import type { AccountDelete } from '../../domain/accounts/record.ts';
import { beginDeletion, endDeletion, findOwner, listDeletions } from '../../domain/accounts/store.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Principal } from '../../lib/scopes.ts';

/** Between two looks at what is left to do. */
const LOOK_MS = 60_000;
/** Whoever gives no password must have signed in no longer ago. */
const FRESH_MS = 600_000;

export interface DeletionDeps {
  db: Db;
  auth: Pick<AuthService, 'hasPassword' | 'forgetPeople'>;
  /** Resolves with whether all of it is gone. */
  clear: (accountId: string) => Promise<boolean>;
  /** Tells the owner; nobody waits for it. */
  tell: (email: string) => void;
  log: Logger;
  clock?: Clock;
  lookMs?: number;
}

export type Deletions = ReturnType<typeof createDeletions>;

export function createDeletions({ db, auth, clear, tell, log, ...more }: DeletionDeps) {
  const { clock = systemClock, lookMs = LOOK_MS } = more;
  const stopping = new AbortController();
  let wake = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  /** Throws `not_confirmed` (403) unless it is the owner who asks. */
  async function confirm({ userId, sessionId = '' }: Principal, { email, password }: AccountDelete): Promise<string> {
    const owner = await findOwner(db, userId, sessionId);
    if (!owner) throw new AppError('unauthenticated', 'The account no longer exists.');
    if (owner.email !== email.trim().toLowerCase())
      throw new AppError('not_confirmed', 'The e-mail address is not that of the account.');
    const { hash, since, begunBy } = owner;
    if (hash !== null && password !== undefined) {
      if (await auth.hasPassword(userId, password)) return owner.email;
      throw new AppError('not_confirmed', 'The password is not that of the account.');
    }
    // A passkey has made sure of the person, as a password does; who has neither signs in elsewhere.
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
        log.warn({ err, accountId }, 'an account could not be cleared away; it is tried again');
      }
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = Promise.withResolvers();
      await work().catch((err) => log.warn({ err }, 'accounts to be deleted could not be read'));
      if (stopping.signal.aborted) return;
      const timer = setTimeout(wake.resolve, lookMs);
      await wake.promise;
      clearTimeout(timer);
    }
  }

  return {
    /** From here on nobody is in the account. Rejects with `not_confirmed`. */
    async begin(principal: Principal, confirmation: AccountDelete): Promise<void> {
      const email = await confirm(principal, confirmation);
      await beginDeletion(db, principal.accountId);
      auth.forgetPeople();
      tell(email);
      wake.resolve();
    },

    /** Looks for what is left to do, again and again until `stop`. */
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
