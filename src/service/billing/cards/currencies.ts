/**
 * Converts sums between the ledger's minor unit and the one in which Stripe charges, which differ for some currencies.
 * Pure: no I/O, no clock. Source: https://docs.stripe.com/currencies (supported currencies, zero-decimal currencies,
 * special cases, minimum charge amounts).
 */

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Currencies that Stripe can charge. The country of its account decides which of them that account may use. */
const CHARGEABLE = words(
  'USD AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY ' +
    'COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD ' +
    'JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD ' +
    'NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STN SZL ' +
    'THB TJS TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW',
);

/** Charged in whole units. UGX is in this list of Stripe too, but its special case holds: hundredths that are zero. */
const WITHOUT_DIGITS = words('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF');
/** Charged in thousandths, of which the last digit must be 0. */
const WITH_THREE_DIGITS = words('BHD JOD KWD OMR TND');
/** Charged in hundredths, which must be whole units. HUF and TWD are whole in payouts alone. */
const WHOLE_UNITS = words('ISK UGX');

/** The smallest charge, in Stripe's units, where the account is paid out in the same currency. */
const MINIMUM: ReadonlyMap<string, bigint> = new Map(
  (
    [
      [30n, 'GBP'],
      [50n, 'ARS AUD BRL CAD CHF COP EUR IDR ILS INR JPY KRW NZD PHP RUB SGD USD ZAR'],
      [100n, 'BGN'],
      [200n, 'AED MYR PLN RON'],
      [250n, 'DKK'],
      [300n, 'NOK SEK'],
      [400n, 'HKD'],
      [1000n, 'MXN THB'],
      [1500n, 'CZK'],
      [17_500n, 'HUF'],
    ] as const
  ).flatMap(([least, codes]) => codes.split(' ').map((code) => [code, least] as const)),
);

export const isChargeable = (currency: string): boolean => CHARGEABLE.has(currency);

const chargeDigits = (currency: string): number => {
  if (WITHOUT_DIGITS.has(currency)) return 0;
  return WITH_THREE_DIGITS.has(currency) ? 3 : 2;
};

/** Units of Stripe that a charge must be a multiple of. */
const chargeStep = (currency: string): bigint => {
  if (WHOLE_UNITS.has(currency)) return 100n;
  return WITH_THREE_DIGITS.has(currency) ? 10n : 1n;
};

/** Moves the decimal point of a sum; what is smaller than the new unit is dropped, or rounded up. */
function rescale(amount: bigint, from: number, to: number, isUp = false): bigint {
  if (to >= from) return amount * 10n ** BigInt(to - from);
  const unit = 10n ** BigInt(from - to);
  return (isUp ? amount + unit - 1n : amount) / unit;
}

/**
 * Returns the sum that Stripe is asked to charge, for an amount that the ledger counts with so many digits; undefined
 * where Stripe cannot charge exactly that.
 */
export function toCharge(amountMinor: bigint, currency: string, digits: number): bigint | undefined {
  const charge = rescale(amountMinor, digits, chargeDigits(currency));
  const isExact = rescale(charge, chargeDigits(currency), digits) === amountMinor;
  return isExact && charge % chargeStep(currency) === 0n ? charge : undefined;
}

/** Returns what a sum of Stripe is in the ledger; less than its minor unit is dropped. */
export const fromCharge = (charge: bigint, currency: string, digits: number): bigint =>
  rescale(charge, chargeDigits(currency), digits);

/** Minor units of the ledger that an amount must be a multiple of. */
export function stepMinor(currency: string, digits: number): bigint {
  const step = rescale(chargeStep(currency), chargeDigits(currency), digits, true);
  // The ledger may count in smaller units than Stripe.
  const coarse = digits > chargeDigits(currency) ? 10n ** BigInt(digits - chargeDigits(currency)) : 1n;
  return step > coarse ? step : coarse;
}

/** The smallest amount that Stripe charges, in minor units of the ledger; 1 where it is not known. */
export function leastMinor(currency: string, digits: number): bigint {
  const least = rescale(MINIMUM.get(currency) ?? 1n, chargeDigits(currency), digits, true);
  const step = stepMinor(currency, digits);
  return ((least + step - 1n) / step) * step;
}
