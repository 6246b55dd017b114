/** Computes the bounds of a top-up, and the amounts that a form suggests. Pure: no I/O, no clock. */
import { sizeInMinor } from '../ledger/currencies.ts';
import { leastMinor, stepMinor } from './currencies.ts';

/** In sums of the size of a dollar (currencies.ts). */
const SMALLEST = 5n;
const LARGEST = 1000n;
const SUGGESTED = [10n, 25n, 50n, 100n];

export interface TopUpLimits {
  /** ISO 4217, upper case. */
  currency: string;
  /** In minor units; 0n: by the size of the currency. */
  minMinor: bigint;
  maxMinor: bigint;
}

export interface CardTopUpBounds {
  minMinor: bigint;
  maxMinor: bigint;
  /** An amount is a multiple of it. */
  stepMinor: bigint;
  suggestedMinor: bigint[];
}

/** `digits`: those in which the ledger counts the currency. */
export function computeBounds({ currency, minMinor, maxMinor }: TopUpLimits, digits: number): CardTopUpBounds {
  const size = sizeInMinor(currency, digits);
  const step = stepMinor(currency, digits);
  const least = leastMinor(currency, digits);
  const smallest = minMinor > 0n ? minMinor : SMALLEST * size;
  const min = smallest > least ? smallest : least;
  const largest = maxMinor > 0n ? maxMinor : LARGEST * size;
  // A default maximum yields to a configured minimum.
  const max = maxMinor === 0n && largest < min ? min : largest;
  const suggested = SUGGESTED.map((times) => times * size);
  return {
    minMinor: min,
    maxMinor: max,
    stepMinor: step,
    suggestedMinor: suggested.filter((amount) => amount >= min && amount <= max),
  };
}
