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

/** Whether it is the code of a currency (ISO 4217), such as USD. */
export const isCurrency = (code: string): boolean => Intl.supportedValuesOf('currency').includes(code);

/** Digits after the point: 2 for USD, 0 for JPY. */
export const minorDigits = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;

/** `12.34 USD`, for people's eyes. */
export function formatMinor(amountMinor: bigint, currency: string): string {
  const digits = minorDigits(currency);
  const sign = amountMinor < 0n ? '-' : '';
  const text = String(amountMinor < 0n ? -amountMinor : amountMinor).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${sign}${whole}${digits > 0 ? `.${text.slice(-digits)}` : ''} ${currency}`;
}
