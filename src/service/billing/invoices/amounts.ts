/**
 * Computes the sums of an invoice: credits are exact, and money is credits rounded to the minor unit, half to even. A
 * line of its own holds the rounding difference of the lines, so that all add up. Prices contain the taxes. Pure: no
 * I/O, no clock.
 */
import { CREDITS_PER_MINOR_UNIT } from '../ledger/money.ts';

/** `numerator / denominator` to a whole number; a half goes to the even one. `denominator` is more than 0. */
export function roundHalfEven(numerator: bigint, denominator: bigint): bigint {
  const sign = numerator < 0n ? -1n : 1n;
  const size = numerator * sign;
  const whole = size / denominator;
  const twice = (size % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && whole % 2n === 1n);
  return sign * (up ? whole + 1n : whole);
}

export const roundToMinor = (credits: bigint): bigint => roundHalfEven(credits, CREDITS_PER_MINOR_UNIT);

export interface Tax {
  name: string;
  /** Such as `19` or `8.875`. */
  ratePercent: string;
}

export interface InvoiceSums {
  credits: bigint;
  /** The amount of each line. */
  amountsMinor: bigint[];
  /** Their difference from the total; 0 mostly. */
  roundingMinor: bigint;
  totalMinor: bigint;
  netMinor: bigint;
  /** The amount of each tax; with the net amount they are the total. */
  taxesMinor: bigint[];
}

/** 100 % in thousandths of a percent. */
const WHOLE = 100_000n;

/** `8.875` → 8875. */
function thousandths(ratePercent: string): bigint {
  const [whole = '0', fraction = ''] = ratePercent.split('.');
  return BigInt(whole) * 1000n + BigInt(fraction.padEnd(3, '0'));
}

export function computeSums(lines: readonly bigint[], taxes: readonly Tax[]): InvoiceSums {
  const sum = (numbers: readonly bigint[]) => numbers.reduce((total, number) => total + number, 0n);
  const credits = sum(lines);
  const amountsMinor = lines.map(roundToMinor);
  const totalMinor = roundToMinor(credits);
  const rates = taxes.map(({ ratePercent }) => thousandths(ratePercent));
  const taxesMinor = rates.map((rate) => roundHalfEven(totalMinor * rate, WHOLE + sum(rates)));
  return {
    credits,
    amountsMinor,
    totalMinor,
    taxesMinor,
    roundingMinor: totalMinor - sum(amountsMinor),
    netMinor: totalMinor - sum(taxesMinor),
  };
}
