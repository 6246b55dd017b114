/**
 * Credits payments that have their confirmations, and reverses those that have left the chain for good. Each payment is
 * one transaction of the database, in which the ledger and the payment's row change together. The ledger's key is the
 * payment's own, so that nothing is credited twice.
 */

import type { Clock } from '../../../core/lib/clock.ts';
import type { Logger } from '../../../core/lib/log.ts';
import type { Db } from '../../db/pool.ts';
import { buildEventId, NO_DATA, type Snapshot } from '../../domain/events/record.ts';
import { tell } from '../../domain/events/store.ts';
import { AppError } from '../../lib/errors.ts';
import { customer, type Ledger, LedgerError } from '../ledger/ledger.ts';
import { readBalance } from '../ledger/store.ts';
import { creditsFor, formatRate } from './amounts.ts';
import type { Chain } from './chain.ts';
import { findIgnoredReason, toPayment } from './payment-rows.ts';
import { judgePayment, type PaymentVerdict } from './payment-states.ts';
import type { Rates } from './rates.ts';
import { type AssetSetting, listAssets, type NetworkSetting } from './spec.ts';
import type { AddressPlace, DepositRow, PaymentRow } from './store.ts';
import * as store from './store.ts';

/** Payments settled at a time: each takes a database connection, and others need some too. */
const AT_ONCE = 5;
/** How often a correction is tried anew when the balance moves meanwhile. */
const TRIES = 5;

export interface SettleDeps {
  db: Db;
  ledger: Ledger;
  chain: Chain;
  network: NetworkSetting;
  rates: Rates;
  creditsPerUnit: bigint;
  clock: Clock;
  log: Logger;
  /** Called for each settled payment. */
  onSettled?: (result: 'credited' | 'reversed' | 'ignored') => void;
}

/** The ledger's key of a payment: the first time without a number. */
export const ledgerKey = ({ network, txid, index, reversals }: PaymentRow, kind = 'deposit'): string =>
  `${kind}:${network}:${txid}:${index}${reversals === 0 ? '' : `:${reversals}`}`;

/** The event of a payment that was credited. Its id is the ledger's key: a payment that is credited again has another one. */
const tellCredited = (trx: Db, deposit: DepositRow, payment: PaymentRow, now: Date): Promise<void> => {
  const { id, account_id: accountId, asset, network } = deposit;
  return tell(trx, { accountId, object: 'deposit', objectId: id, uid: id }, () => ({
    news: [
      {
        id: buildEventId('payment', ledgerKey(payment)),
        type: 'deposit.credited',
        at: now,
        data: { ...NO_DATA, name: `${asset} on ${network}`, credits: String(payment.credits ?? 0n) },
        snapshot: showDeposit(deposit),
      },
    ],
    mark: '',
  }));
};

/** The fields of a deposit that never change. */
const showDeposit = (row: DepositRow): Snapshot => ({
  id: row.id,
  asset: row.asset,
  network: row.network,
  decimals: row.decimals,
  address: row.address,
  amount: row.amount === null ? null : String(row.amount),
  expiresAt: row.expires_at.toISOString(),
  createdAt: row.created_at.toISOString(),
});

const wanted = ({ txid, index, amount, contract }: PaymentRow) => ({
  txid,
  index,
  amount,
  contract: contract ?? undefined,
});

export function createSettler(deps: SettleDeps) {
  const { db, ledger, chain, network, rates, creditsPerUnit, clock, log, onSettled = () => undefined } = deps;
  const name = network.network;
  const assets = new Map(listAssets(network).map((one) => [one.asset, one]));

  /** The row as it is now, locked, if what was decided of it still holds. */
  async function still(trx: Db, row: PaymentRow, verdict: PaymentVerdict): Promise<PaymentRow | undefined> {
    const now = await store.lockPayment(trx, row);
    const at = (await store.readScans(trx)).get(name);
    if (now === undefined || at === undefined || now.block_hash !== row.block_hash) return undefined;
    return judgePayment(toPayment(now), at.height, network.confirmations) === verdict ? now : undefined;
  }

  const cash = (row: PaymentRow): string => `cash:crypto:${row.asset}`;
  const details = (row: PaymentRow, rate: bigint) => ({
    deposit: row.deposit_id,
    network: name,
    txid: row.txid,
    asset: row.asset ?? '',
    amount: String(row.amount),
    rate: formatRate(rate),
  });

  async function ignore(row: PaymentRow, reason: 'dust' | 'too_large'): Promise<void> {
    await db.transaction().execute(async (trx) => {
      const now = await still(trx, row, 'credit');
      if (now) await store.writePayments(trx, [{ ...now, state: 'ignored', reason }]);
    });
    onSettled('ignored');
  }

  async function credit(row: PaymentRow, asset: AssetSetting): Promise<void> {
    const rate = row.rate ?? (await rates.rate(asset.asset));
    const reason = findIgnoredReason(row.amount, asset, rate, creditsPerUnit);
    if (reason !== undefined) return ignore(row, reason);
    const credits = creditsFor(row.amount, { rate, decimals: asset.decimals, creditsPerUnit });
    const [deposit] = await store.depositsById(db, [row.deposit_id]);
    if (deposit === undefined) return;
    const done = await db.transaction().execute(async (trx) => {
      const now = await still(trx, row, 'credit');
      if (now === undefined) return false;
      // The amount that its reversal wrote off has arrived after all.
      const mine = [
        { account: customer(deposit.account_id), credits: credits - now.written_off },
        { account: 'writeoff', credits: now.written_off },
        { account: cash(now), credits: -credits },
      ].filter((entry) => entry.credits !== 0n);
      await ledger.post(
        {
          key: ledgerKey(now),
          kind: 'deposit',
          accountId: deposit.account_id,
          entries: mine,
          at: now.at,
          details: details(now, rate),
        },
        { trx },
      );
      await store.writePayments(trx, [{ ...now, state: 'credited', rate, credits, written_off: 0n }]);
      await tellCredited(trx, deposit, { ...now, credits }, clock.now());
      return true;
    });
    if (done) onSettled('credited');
  }

  /** Takes the credits back as far as they are there above the floor; the rest is ours to bear. */
  async function reverse(row: PaymentRow): Promise<void> {
    const [deposit] = await store.depositsById(db, [row.deposit_id]);
    if (deposit === undefined || row.credits === null) return;
    const { credits } = row;
    const attempt = () =>
      db.transaction().execute(async (trx) => {
        const now = await still(trx, row, 'reverse');
        if (now === undefined) return false;
        const { balance, floor } = await readBalance(trx, deposit.account_id);
        const there = balance > floor ? balance - floor : 0n;
        const taken = there < credits ? there : credits;
        const entries = [
          { account: cash(now), credits },
          { account: customer(deposit.account_id), credits: -taken },
          { account: 'writeoff', credits: taken - credits },
        ].filter((entry) => entry.credits !== 0n);
        await ledger.post(
          {
            key: ledgerKey(now, 'deposit-reversal'),
            kind: 'correction',
            accountId: deposit.account_id,
            entries,
            at: clock.now(),
            details: { ...details(now, now.rate ?? 0n), reason: 'reorganisation' },
          },
          { trx },
        );
        const reversals = now.reversals + 1;
        await store.writePayments(trx, [{ ...now, state: 'reversed', reversals, written_off: credits - taken }]);
        return true;
      });
    for (let n = 1; ; n++) {
      try {
        if (await attempt()) onSettled('reversed');
        return;
      } catch (error) {
        // The customer has spent some of it meanwhile.
        if (!(error instanceof LedgerError) || error.code !== 'insufficient_credits' || n >= TRIES) throw error;
      }
    }
  }

  async function drop(row: PaymentRow): Promise<void> {
    await db.transaction().execute(async (trx) => {
      const now = await still(trx, row, 'drop');
      if (now) await store.writePayments(trx, [{ ...now, state: 'dropped' }]);
    });
  }

  /** Returns a payment to a block that was read without it: the node had answered inconsistently. */
  async function putBack(row: PaymentRow, { height, hash }: AddressPlace): Promise<void> {
    await db.transaction().execute(async (trx) => {
      const now = await still(trx, row, 'reverse');
      const [known] = await store.listBlocks(trx, name, height, 1);
      if (now && known?.hash === hash)
        await store.writePayments(trx, [{ ...now, height, block_hash: hash, lost_height: null }]);
    });
  }

  async function settle(row: PaymentRow, verdict: PaymentVerdict, at: AddressPlace): Promise<void> {
    // The node is asked once more, by the transaction itself: a block that was read can have left the chain since.
    const found = await chain.find(wanted(row));
    if (verdict === 'credit') {
      const asset = assets.get(row.asset ?? '');
      const isThere = typeof found === 'object' && found.height === row.height && found.hash === row.block_hash;
      if (!isThere || asset === undefined) return;
      try {
        await credit(row, asset);
      } catch (err) {
        if (!(err instanceof AppError) || err.code !== 'crypto_rate_unavailable') throw err;
        log.warn({ err, network: name, deposit: row.deposit_id }, 'a late payment waits for the rate of its asset');
      }
      return;
    }
    if (verdict === 'drop') {
      // In no block, and known no more.
      if (found === undefined) await drop(row);
    } else if (typeof found !== 'object') await reverse(row);
    // In a block that was not read yet, it will be found when that is.
    else if (found.height <= at.height) await putBack(row, found);
  }

  return {
    /** All that can be settled now, `at` being up to where the chain was read. */
    async settleAll(at: AddressPlace, signal: AbortSignal): Promise<void> {
      const rows = await store.paymentsAtWork(db, name);
      const due = rows.flatMap((row) => {
        const verdict = judgePayment(toPayment(row), at.height, network.confirmations);
        return verdict === 'wait' ? [] : [{ row, verdict }];
      });
      for (let i = 0; i < due.length && !signal.aborted; i += AT_ONCE) {
        const some = due.slice(i, i + AT_ONCE).map(({ row, verdict }) => settle(row, verdict, at));
        // All of them have ended when one has failed.
        for (const result of await Promise.allSettled(some)) if (result.status === 'rejected') throw result.reason;
      }
    },
  };
}
