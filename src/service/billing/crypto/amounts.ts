/**
 * Computes amounts of coins and their worth, in whole numbers alone. Coins are counted in their smallest unit (wei,
 * satoshi), money in credits. A rate is the price of one coin in the service's currency times 10^RATE_DIGITS. The
 * credited amount is rounded down once for each payment, so that a customer never loses a whole credit. The requested
 * amount is rounded up. Pure: no I/O, no clock.
 */
import { trimEndOf } from '../../../core/lib/trim.ts';

export const RATE_DIGITS = 8;
/** More credits than any one payment may bring by itself: such a payment is a mistake in a rate or a token. */
export const MAX_CREDITS = 10n ** 15n;

const PRICE = new RegExp(`^(0|[1-9]\\d{0,14})(?:\\.(\\d{1,${RATE_DIGITS}}))?$`);

/** A price such as `61234.56`; undefined for what is none, and for nothing at all. */
export function parseRate(text: string): bigint | undefined {
  const [, whole, fraction = ''] = PRICE.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const rate = BigInt(whole + fraction.padEnd(RATE_DIGITS, '0'));
  return rate > 0n ? rate : undefined;
}

/** The number with its decimal point, without zeros at its end: 1500000000000000000 with 18 decimals is `1.5`. */
export function formatUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = trimEndOf(digits.slice(digits.length - decimals), '0');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

export const formatRate = (rate: bigint): string => formatUnits(rate, RATE_DIGITS);

/** Parameters for the worth of a coin's smallest units. */
export interface Worth {
  rate: bigint;
  decimals: number;
  /** Credits of one whole unit of the currency, e.g. of one dollar. */
  creditsPerUnit: bigint;
}

const scale = (decimals: number): bigint => 10n ** BigInt(RATE_DIGITS + decimals);

/** Rounded down: less than one credit is lost. */
export const creditsFor = (amount: bigint, { rate, decimals, creditsPerUnit }: Worth): bigint =>
  (amount * rate * creditsPerUnit) / scale(decimals);

/** The least amount that is worth so many credits. */
export function amountFor(credits: bigint, { rate, decimals, creditsPerUnit }: Worth): bigint {
  const each = rate * creditsPerUnit;
  return (credits * scale(decimals) + each - 1n) / each;
}
