/**
 * Lists currencies by their codes of ISO 4217, with the digits of their minor unit and their size. The table is our own:
 * that of the runtime (CLDR) says how people write a sum, and changes with its version. Pure: no I/O, no clock.
 */

/** By the power of ten that is next below the worth of a US dollar: a dollar is some hundred yen. */
const BY_SIZE = [
  'AED ANG AUD AWG AZN BAM BBD BGN BHD BMD BND BOB BRL BSD BYN BZD CAD CHF CNY CUC DKK EUR FJD FKP GBP GEL GIP GTQ HKD ' +
    'HRK ILS JOD KWD KYD LYD MOP MYR NZD OMR PAB PEN PGK PLN QAR RON SAR SBD SGD SHP SVC TMT TND TOP TTD USD WST XCD XCG',
  'AFN ALL BTN BWP CUP CZK DOP EGP ERN GHS GMD HNL INR KGS LSL MAD MDL MKD MRU MUR MVR MXN MZN NAD NIO NOK PHP RUB SCR ' +
    'SEK SLE SRD STN SZL THB TJS TRY TWD UAH UYU ZAR ZMW ZWG',
  'AMD AOA BDT CLP CRC CVE DJF DZD ETB GYD HTG HUF ISK JMD JPY KES KMF KPW KZT LKR LRD NPR PKR RSD SDG SOS VES VUV XAF ' +
    'XOF XPF YER',
  'ARS BIF CDF COP GNF IQD KHR KRW MGA MMK MNT MWK NGN PYG RWF SSP TZS UGX ZWL',
  'IDR IRR LAK LBP SLL SYP UZS VND',
] as const;

const SIZES: ReadonlyMap<string, number> = new Map(
  BY_SIZE.flatMap((codes, power) => codes.split(' ').map((code) => [code, power] as const)),
);

/** Those of ISO 4217 without hundredths. */
const DIGITS: ReadonlyMap<string, number> = new Map(
  (
    [
      [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'],
      [3, 'BHD IQD JOD KWD LYD OMR TND'],
    ] as const
  ).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, digits] as const)),
);

/**
 * Currencies that earlier versions counted without digits, against ISO 4217. A ledger of such a version goes on with
 * none, so that no balance changes its meaning.
 */
export const ONCE_WITHOUT_DIGITS: readonly string[] =
  'AFN ALL COP HUF IDR IQD IRR KPW LAK LBP MGA MMK PKR SLL SOS SYP YER'.split(' ');

/** Whether it is the code of a currency (ISO 4217), such as USD. */
export const isCurrency = (code: string): boolean => SIZES.has(code);

/** Digits after the point, by ISO 4217: 2 for USD, 0 for JPY. A ledger may count in others (store.ts). */
export const isoDigits = (currency: string): number => DIGITS.get(currency) ?? 2;

/** Digits with which earlier versions counted. */
export const digitsBefore = (currency: string): number =>
  ONCE_WITHOUT_DIGITS.includes(currency) ? 0 : isoDigits(currency);

/** So many times the currency, in minor units, is a sum of the size of a dollar: 1 USD, 100 JPY, 10000 IDR. */
export const sizeInMinor = (currency: string, digits: number): bigint =>
  10n ** BigInt((SIZES.get(currency) ?? 0) + digits);
