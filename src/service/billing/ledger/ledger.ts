/**
 * Posts to the ledger: payments and usage of customers, as append-only double entry. Its accounts are texts:
 *
 * - customer:<accountId>  the customer's credit: positive is what we owe; it has a floor, 0 unless set otherwise
 * - revenue:streaming     usage, positive
 * - cash:card, cash:crypto:<assetId>   received money, negative: the other side of a customer's credit
 * - grants, refunds, disputes, writeoff …   the other sides of what they say
 *
 * The database enforces the rules (db/migrations/ledger.ts): each transaction sums to 0 and is posted once under its key,
 * no balance falls below its floor, and nothing is changed later.
 */
import type { Db } from '../../db/pool.ts';
import type { TransactionKind } from './record.ts';
import * as store from './store.ts';

/** One movement of a transaction: adds `credits` (may be negative, not 0) to `account`; those of a transaction sum to 0. */
export interface LedgerLine {
  account: string;
  credits: bigint;
}

export interface LedgerTransaction {
  /** The same key posts once, for ever: `topup:<id>`, `deposit:<txid>:<index>`, `grant:<id>`. */
  key: string;
  kind: TransactionKind;
  /** The customer it concerns, when it concerns one. */
  accountId?: string | undefined;
  entries: readonly LedgerLine[];
  /** When what it stands for happened. */
  at: Date;
  /** Ids and words for statements; never secrets. */
  details?: Readonly<Record<string, string>>;
}

export interface Posted {
  id: string;
  /** False when it was there already: nothing has changed. */
  posted: boolean;
  /** The customer's balance after the transaction. */
  balance: bigint;
}

/**
 * The usage of a stream. Details: `streamID`, `session`, `seconds` (on air, those of this charge), `profile` (1080p30).
 */
export interface Charge {
  /** E.g. `charge:<streamID>:<session>:<n>`. */
  key: string;
  accountId: string;
  /** More than 0. */
  credits: bigint;
  at: Date;
  details?: Readonly<Record<string, string>>;
  /** Instead of the account's own. */
  floor?: bigint | undefined;
}

export interface Charged extends Posted {
  /** The part that the customer paid, and the part below the floor that is our loss: their sum is `credits`. */
  charged: bigint;
  writtenOff: bigint;
}

/** The reason why the ledger refused to book, for its callers; if it reaches a client, that is a fault of ours. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly code: 'insufficient_credits' | 'ledger_key_reused';

  constructor(code: LedgerError['code'], message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

interface InTransaction {
  /**
   * The caller's transaction of the database: what it says and what is posted become true together. An error here ends it, as
   * any error of the database does.
   */
  trx?: Db | undefined;
}

export interface Ledger {
  /**
   * Throws LedgerError `insufficient_credits` when a customer's balance would fall below the floor (`floor`, or the account's own), and
   * `ledger_key_reused` when the key stands for other entries.
   */
  post(transaction: LedgerTransaction, options?: InTransaction & { floor?: bigint }): Promise<Posted>;
  /** Charges at most what is there above the floor; the rest goes to `writeoff`. Throws LedgerError `ledger_key_reused`. */
  charge(charge: Charge, options?: InTransaction): Promise<Charged>;
  /** Many at once and in one transaction: all or none. The results are in the order of the charges. */
  chargeAll(charges: readonly Charge[], options?: InTransaction): Promise<Charged[]>;
  balance(accountId: string, options?: InTransaction): Promise<bigint>;
}

/** The ledger's account of a customer. */
export const customer = (accountId: string): string => `customer:${accountId}`;

/** Two deadlocks in a row have been seen by nobody; a third one is somebody's mistake. */
const TRIES = 3;

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export function createLedger(db: Db): Ledger {
  /** Work that lost a deadlock has changed nothing: it is retried, unless the caller's transaction failed too. */
  async function attempt<T>(trx: Db | undefined, work: (on: Db) => Promise<T>): Promise<T> {
    for (let n = 1; ; n++) {
      try {
        return await work(trx ?? db);
      } catch (error) {
        const state = store.sqlState(error);
        if (state === store.BELOW_FLOOR)
          throw new LedgerError('insufficient_credits', 'The balance is too low.', error);
        if (state === store.KEY_REUSED)
          throw new LedgerError('ledger_key_reused', 'Another transaction was booked with this key.', error);
        if (state !== store.DEADLOCK || trx !== undefined || n >= TRIES) throw error;
      }
    }
  }

  async function chargeAll(charges: readonly Charge[], { trx }: InTransaction = {}): Promise<Charged[]> {
    if (charges.length === 0) return [];
    const bad = charges.find(({ credits }) => credits <= 0n);
    if (bad) throw new RangeError(`The charge ${bad.key} must be more than 0 credits.`);
    // All lock balances in the same order, so that two who charge the same accounts wait for each other, not for ever.
    const order = charges.map((_, index) => index);
    const at = (index: number) => charges[index] as Charge;
    order.sort((a, b) => byText(at(a).accountId, at(b).accountId) || byText(at(a).key, at(b).key));
    const rows = await attempt(trx, (on) =>
      store.chargeAll(
        on,
        order.map(at).map((charge) => ({ ...charge, details: charge.details ?? {}, floor: charge.floor ?? null })),
      ),
    );
    const answers: Charged[] = [];
    order.forEach((index, place) => {
      const { id, posted, balance, charged, written_off } = rows[place] as store.ChargeRow;
      answers[index] = { id, posted, balance, charged, writtenOff: written_off };
    });
    return answers;
  }

  return {
    post({ key, kind, accountId = null, entries, at, details = {} }, { floor = null, trx } = {}) {
      const sorted = entries.toSorted((a, b) => byText(a.account, b.account) || Number(a.credits - b.credits));
      const accounts = sorted.map(({ account }) => account);
      const credits = sorted.map((entry) => entry.credits);
      return attempt(trx, (on) =>
        store.postTransaction(on, { key, kind, accountId, at, details, accounts, credits, floor }),
      );
    },
    charge: async (charge, options) => (await chargeAll([charge], options))[0] as Charged,
    chargeAll,
    balance: async (accountId, { trx } = {}) => (await store.readBalance(trx ?? db, accountId)).balance,
  };
}
