/** Money in words: amounts exactly as they are booked, states, and how long the credit lasts. Pure: no I/O, no clock. */
import type { Billing, CryptoDeposit, LedgerEntry, TopUp } from '../../../client/index.ts';
import type { Tone } from '../../ui/tone.ts';

export type Currency = Pick<Billing, 'currency' | 'creditsPerMinorUnit'>;

const digitsOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;

/** A whole number of the smallest unit, as a decimal number; exact, however large it is. */
export function decimal(amount: string, decimals: number): string {
  const sign = amount.startsWith('-') ? '-' : '';
  const text = amount.replace('-', '').padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const part = text.slice(text.length - decimals).replace(/0+$/, '');
  return `${sign}${whole}${part && `.${part}`}`;
}

const inCurrency = (number: string, currency: string, most: number, locale?: string): string => {
  const digits = digitsOf(currency);
  return new Intl.NumberFormat(locale, {
    ...{ style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, most) },
    // What is not whole is never said to be more than it is.
    roundingMode: 'trunc',
  } as Intl.NumberFormatOptions).format(number as Intl.StringNumericLiteral);
};

/** `$12.34`, of minor units. */
export const formatMinor = (amountMinor: string, currency: string, locale?: string): string =>
  inCurrency(decimal(amountMinor, digitsOf(currency)), currency, 0, locale);

/** `$12.34` of credits; `exactly`: with the parts of a cent that one second costs. */
export function formatCredits(
  credits: string,
  { currency, creditsPerMinorUnit }: Currency,
  { exactly = false, locale }: { exactly?: boolean; locale?: string } = {},
): string {
  const parts = creditsPerMinorUnit.length - 1;
  return inCurrency(
    decimal(credits, digitsOf(currency) + parts),
    currency,
    exactly ? digitsOf(currency) + parts : 0,
    locale,
  );
}

/** For a chart, whose axis needs numbers: of money, and no more exact than a picture is. */
export const toNumber = (credits: string, { currency, creditsPerMinorUnit }: Currency): number =>
  Number(decimal(credits, digitsOf(currency) + creditsPerMinorUnit.length - 1));

/** Parts of an axis of a chart: between its labels are so many steps, more or less. */
const STEPS = 3;

/**
 * Formats the labels of an axis up to `most`, with as many digits as its steps have, which are two that count: so no two labels
 * are alike, however small the sums are.
 */
export function axisFormat(most: number, currency: string, locale?: string): (cost: number) => string {
  const digits = digitsOf(currency);
  const needed = most > 0 ? 1 - Math.floor(Math.log10(most / STEPS)) : digits;
  const format = new Intl.NumberFormat(locale, {
    ...{ style: 'currency', currency, minimumFractionDigits: digits },
    maximumFractionDigits: Math.min(12, Math.max(digits, needed)),
  });
  return (cost) => format.format(cost);
}

/** `25`, `25.5` and `25,50` as minor units; undefined for what is no amount. */
export function minorOf(text: string, currency: string): string | undefined {
  const digits = digitsOf(currency);
  const [, whole, part = ''] = /^(\d{1,9})(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || part.length > digits) return undefined;
  const minor = BigInt(`${whole}${part.padEnd(digits, '0')}`);
  return minor > 0n ? String(minor) : undefined;
}

/** `3 days 4 h`, `5 h 20 min`, `less than a minute`. */
export function lengthOf(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return [`${days} ${days === 1 ? 'day' : 'days'}`, hours > 0 && `${hours} h`].filter(Boolean).join(' ');
  if (hours > 0) return [`${hours} h`, minutes > 0 && `${minutes} min`].filter(Boolean).join(' ');
  return minutes > 0 ? `${minutes} min` : 'less than a minute';
}

/** Beyond it, a number of days would tell nobody anything. */
const YEAR_SECONDS = 365 * 86_400;

/** What the balance means for what is on air. */
export function outlookOf({ state, secondsLeft }: Pick<Billing, 'state' | 'secondsLeft'>): string {
  if (state === 'suspended') return 'The account is suspended. Ask whoever runs this service.';
  if (state === 'exhausted') return 'It is used up: streams stop, and start again when it is topped up.';
  if (secondsLeft === null) return 'Nothing is on air, so nothing is used.';
  if (secondsLeft > YEAR_SECONDS) return 'Lasts for more than a year with what is on air now.';
  return `Lasts about ${lengthOf(secondsLeft)} with what is on air now.`;
}

export interface Look {
  word: string;
  tone: Tone;
}

const TOP_UPS: Record<TopUp['state'], Look> = {
  open: { word: 'To be paid', tone: 'planned' },
  processing: { word: 'Under way', tone: 'busy' },
  paid: { word: 'Paid', tone: 'good' },
  failed: { word: 'Failed', tone: 'danger' },
  expired: { word: 'Expired', tone: 'quiet' },
  partially_refunded: { word: 'Partly refunded', tone: 'quiet' },
  refunded: { word: 'Refunded', tone: 'quiet' },
  disputed: { word: 'Disputed', tone: 'attention' },
  charged_back: { word: 'Charged back', tone: 'danger' },
  review: { word: 'Looked at', tone: 'attention' },
};

const DEPOSITS: Record<CryptoDeposit['state'], Look> = {
  waiting: { word: 'Waiting', tone: 'planned' },
  seen: { word: 'Seen', tone: 'busy' },
  confirming: { word: 'Confirming', tone: 'busy' },
  credited: { word: 'Credited', tone: 'good' },
  underpaid: { word: 'Underpaid', tone: 'attention' },
  expired: { word: 'Expired', tone: 'quiet' },
  reorged: { word: 'Unsettled', tone: 'attention' },
};

const KINDS: Record<LedgerEntry['kind'], string> = {
  charge: 'Time on air',
  topup: 'Card top-up',
  deposit: 'Crypto deposit',
  grant: 'Granted',
  refund: 'Refund',
  dispute: 'Dispute',
  correction: 'Correction',
  writeoff: 'Written off',
};

const find = <T>(table: Readonly<Record<string, T>>, key: string, otherwise: T): T =>
  Object.hasOwn(table, key) ? (table[key] as T) : otherwise;

/** What is newer than this page is called as the server calls it. */
export const topUpLook = (state: string): Look => find<Look>(TOP_UPS, state, { word: state, tone: 'quiet' });
export const depositLook = (state: string): Look => find<Look>(DEPOSITS, state, { word: state, tone: 'quiet' });
export const kindWord = (kind: string): string => find(KINDS, kind, kind);

/** What a deposit waits for, as a sentence. */
export function depositLine({ state, confirmations, neededConfirmations }: CryptoDeposit): string {
  if (state === 'waiting') return 'Pay to the address below. This page notices by itself.';
  if (state === 'seen') return 'The payment was seen. It is waited for the network to confirm it.';
  if (state === 'confirming')
    return `${confirmations ?? 0} of ${neededConfirmations} confirmations. It is credited with the last.`;
  if (state === 'credited') return 'It is credited to your balance.';
  if (state === 'underpaid') return 'Less than the amount has come. Pay the rest to the same address.';
  if (state === 'expired') return 'The rate is no longer held. What you pay now is credited at the rate of that time.';
  return 'The network has changed its mind about the payment. It is waited for what becomes of it.';
}
