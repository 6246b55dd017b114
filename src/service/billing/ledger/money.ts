/**
 * Converts credits and money. A credit is the ledger's unit, a whole number: a BigInt here, `numeric(38,0)` in SQL, a
 * string in JSON. A minor unit of the currency (a cent) is CREDITS_PER_MINOR_UNIT of them, fine enough for a second on
 * air. Pure: no I/O, no clock.
 */

export const CREDITS_PER_MINOR_UNIT = 100n;
const MS_PER_HOUR = 3_600_000n;

/** Credits that an amount of minor units buys. */
export const toCredits = (amountMinor: bigint): bigint => amountMinor * CREDITS_PER_MINOR_UNIT;

/** Whole minor units in so many credits; what is left over is dropped, towards 0. */
export const toMinor = (credits: bigint): bigint => credits / CREDITS_PER_MINOR_UNIT;

/** Computes the cost of time on air, rounded down: never above. */
export const creditsForSeconds = (onAirSeconds: number, creditsPerHour: bigint): bigint =>
  (BigInt(Math.floor(onAirSeconds * 1000)) * creditsPerHour) / MS_PER_HOUR;

/** How long so many credits last, in whole seconds; undefined where nothing is used. */
export function secondsFor(credits: bigint, creditsPerHour: bigint): bigint | undefined {
  if (creditsPerHour <= 0n) return undefined;
  return credits <= 0n ? 0n : (credits * 3600n) / creditsPerHour;
}

/** `12.34 USD`, for people's eyes. `digits` are those in which the ledger counts the currency. */
export function formatMinor(amountMinor: bigint, currency: string, digits: number): string {
  const sign = amountMinor < 0n ? '-' : '';
  const text = String(amountMinor < 0n ? -amountMinor : amountMinor).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${sign}${whole}${digits > 0 ? `.${text.slice(-digits)}` : ''} ${currency}`;
}

/** Credits of one whole unit of a currency that has so many digits. */
export const creditsPerUnit = (digits: number): bigint => CREDITS_PER_MINOR_UNIT * 10n ** BigInt(digits);
