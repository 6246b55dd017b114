/**
 * Grants new accounts their first credit, within bounds that strangers with many addresses cannot pass:
 *
 * - The owner of the account has confirmed the address.
 * - A mailbox gets one grant, for ever. The key of the transaction is a keyed hash of it, and the ledger keeps transactions of deleted
 *   accounts.
 * - All accounts together get `perDay` grants in 24 hours.
 * - The account stays on trial (account-class.ts).
 */
import { createHmac } from 'node:crypto';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { Db } from '../../db/pool.ts';
import { findMailbox } from '../../domain/mail/budget.ts';
import { customer, type Ledger, LedgerError } from './ledger.ts';
import { toCredits } from './money.ts';
import * as store from './store.ts';

export interface WelcomeGrant {
  /** In minor units of the currency; 0 for no grant. */
  amountMinor: bigint;
  perDay: number;
}

export interface WelcomeDeps extends WelcomeGrant {
  db: Db;
  ledger: Ledger;
  /** The key of the hashes. With another key, a mailbox could get a second grant. */
  secret: string;
  clock?: Clock;
}

/** `granted`, `known`: the mailbox had its grant before, `spent`: the grants of the day are used up, `off`. */
export type WelcomeResult = 'granted' | 'known' | 'spent' | 'off';

const DETAILS = { reason: 'Welcome credit' };

export function createWelcome({ db, ledger, secret, amountMinor, perDay, clock = systemClock }: WelcomeDeps) {
  const keyFor = (email: string): string => {
    const digest = createHmac('sha256', secret).update(JSON.stringify(['welcome', findMailbox(email)]));
    return `${store.WELCOME_KEYS}${digest.digest('base64url')}`;
  };

  /** Gives the grant to the owner of a confirmed address. Rejects with the database's error. */
  return async (accountId: string, email: string): Promise<WelcomeResult> => {
    const credits = toCredits(amountMinor);
    if (credits <= 0n) return 'off';
    const entries = [
      { account: customer(accountId), credits },
      { account: 'grants', credits: -credits },
    ];
    try {
      return await db.transaction().execute(async (trx) => {
        if ((await store.countWelcomeGrants(trx)) >= perDay) return 'spent';
        const transaction = { kind: 'grant' as const, accountId, entries, at: clock.now(), details: DETAILS };
        const { posted } = await ledger.post({ key: keyFor(email), ...transaction }, { trx });
        return posted ? 'granted' : 'known';
      });
    } catch (error) {
      // The key stands for the grant of another account, or of another amount.
      if (error instanceof LedgerError && error.code === 'ledger_key_reused') return 'known';
      throw error;
    }
  };
}
