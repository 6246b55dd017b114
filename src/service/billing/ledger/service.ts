/** Reads an account's balance, usage and entries for its user. */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { FRAMERATES, formatProfile, QUALITIES } from '../../../core/resources/stream/profile.ts';
import type { Db } from '../../db/pool.ts';
import type { RowWhere } from '../../db/where.ts';
import { AppError } from '../../lib/errors.ts';
import type { Connection } from '../../lib/list-page.ts';
import { toPublicFramerate, toPublicQuality } from '../../lib/public-profile.ts';
import type { Principal } from '../../lib/scopes.ts';
import { CREDITS_PER_MINOR_UNIT, secondsFor } from './money.ts';
import { findNextPrice, type PriceList, parsePrices, priceAt } from './prices.ts';
import {
  type Billing,
  FREE,
  type LedgerEntry,
  type PaymentMethod,
  type Price,
  type Prices,
  type Usage,
  type UsageAsked,
} from './record.ts';
import { computeSlice, connectEntries, parseArgs, type StatementArgs, showEntry } from './statement.ts';
import * as store from './store.ts';
import { computeUsage, parseRange } from './usage.ts';

const ENTRIES_AT_ONCE = 1_000;

/** How fast an account's credit goes, and what of it is left. */
export interface BillingRate {
  creditsPerHour: bigint;
  /** The credit that can still be used, without usage that is not charged yet; below 0 when it is used up. */
  available: bigint;
}

/** Returns an account's credit and current usage. Rejects with the database's error. */
export type CurrentRate = (accountId: string) => Promise<BillingRate>;

const LOW_SECONDS = 86_400n;

export interface BillingDeps {
  db: Db;
  /** False where nothing costs anything. */
  enabled: boolean;
  currency: string;
  /** Of an hour on air; the default list without them. */
  prices?: PriceList;
  /** Bounds of a top-up, by the digits of the currency; none by default. */
  topUpBounds?: ((digits: number) => TopUpBounds) | undefined;
  /** The ways to buy credit; none by default. */
  paymentMethods?: readonly PaymentMethod[];
  /** Where users ask for help, and for credit. */
  supportUrl?: string | undefined;
  currentRate: CurrentRate;
  clock?: Clock;
}

/** Bounds of a top-up by card, in minor units. */
export interface TopUpBounds {
  minMinor: bigint;
  maxMinor: bigint;
  suggestedMinor: readonly bigint[];
}

const showBounds = (bounds: TopUpBounds | undefined): Billing['topUp'] =>
  bounds
    ? {
        minMinor: String(bounds.minMinor),
        maxMinor: String(bounds.maxMinor),
        suggestedMinor: bounds.suggestedMinor.map(String),
      }
    : null;

/** The prices of all profiles as the API shows them. */
export const showPrices = (prices: PriceList, now: Date): Price[] =>
  QUALITIES.flatMap((quality) =>
    FRAMERATES.map((framerate) => {
      const next = findNextPrice(prices, formatProfile(quality, framerate), now);
      return {
        quality: toPublicQuality(quality),
        framerate: toPublicFramerate(framerate),
        creditsPerHour: String(priceAt(prices, { quality, framerate }, now)),
        next: next ? { creditsPerHour: String(next.creditsPerHour), from: new Date(next.from).toISOString() } : null,
      };
    }),
  );

export type BillingService = ReturnType<typeof createBillingService>;

export function createBillingService({
  db,
  enabled,
  currency,
  prices = parsePrices(),
  paymentMethods = [],
  topUpBounds,
  supportUrl,
  currentRate,
  clock = systemClock,
}: BillingDeps) {
  const ensure = (): void => {
    if (!enabled) throw new AppError('billing_disabled', 'Billing is off in this installation.');
  };

  return {
    /** Throws `billing_disabled`, as all of them do. */
    async get({ accountId, isSuspended }: Principal): Promise<Billing> {
      ensure();
      const [digits, { balance, entries }, { available, creditsPerHour }] = await Promise.all([
        store.readCurrencyDigits(db, currency),
        store.readBalance(db, accountId),
        currentRate(accountId),
      ]);
      const left = secondsFor(available, creditsPerHour);
      const isLow = left !== undefined && left < LOW_SECONDS;
      return {
        state: isSuspended ? 'suspended' : available <= 0n ? 'exhausted' : isLow ? 'low' : 'active',
        hadCredit: entries > 0n,
        balanceCredits: String(balance),
        availableCredits: String(available),
        creditsPerHour: String(creditsPerHour),
        secondsLeft: left === undefined ? null : Number(left),
        currency,
        currencyDigits: digits,
        creditsPerMinorUnit: String(CREDITS_PER_MINOR_UNIT),
        paymentMethods: [...paymentMethods],
        supportUrl: supportUrl ?? null,
        topUp: showBounds(topUpBounds?.(digits)),
      };
    },

    /** Returns what each profile costs, and what costs nothing. */
    async prices(): Promise<Prices> {
      ensure();
      return {
        currency,
        currencyDigits: await store.readCurrencyDigits(db, currency),
        creditsPerMinorUnit: String(CREDITS_PER_MINOR_UNIT),
        onAir: showPrices(prices, clock.now()),
        free: [...FREE],
      };
    },

    /** Throws `validation_failed` for a range that makes no sense. */
    async usage({ accountId }: Principal, asked: UsageAsked): Promise<Usage> {
      ensure();
      const range = parseRange(asked, clock.now());
      return computeUsage(range, await store.readUsage(db, accountId, range));
    },

    /** Reads all of them in parts, oldest first, for the account's own copy: also where nothing costs anything any more. */
    async *entries({ accountId }: Pick<Principal, 'accountId'>): AsyncGenerator<LedgerEntry[]> {
      const range = { accountId, where: undefined, ascending: true };
      for (let skip = 0; ; skip += ENTRIES_AT_ONCE) {
        const rows = await store.readStatement(db, range, { skip, limit: ENTRIES_AT_ONCE });
        yield rows.map(showEntry);
        if (rows.length < ENTRIES_AT_ONCE) return;
      }
    },

    /** The latest first unless `orderBy` says otherwise. Throws `validation_failed` for a cursor of another list. */
    async ledger(
      { accountId }: Principal,
      args: StatementArgs,
      where?: RowWhere | null,
    ): Promise<Connection<LedgerEntry>> {
      ensure();
      const { after, before, ascending } = parseArgs(args);
      const range = { accountId, where: where ?? undefined, ascending };
      const total = await store.countEntries(db, range);
      const standing = (number: bigint, itself: boolean) => store.countEntries(db, range, { number, itself });
      const from = after === undefined ? 0 : await standing(after, true);
      const to = before === undefined ? total : await standing(before, false);
      const [start, end] = computeSlice(args, from, to);
      const rows = end > start ? await store.readStatement(db, range, { skip: start, limit: end - start }) : [];
      return connectEntries(rows, { total, start, end });
    },
  };
}
