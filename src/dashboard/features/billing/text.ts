/** Money in words: amounts exactly as they are booked, states, and how long the credit lasts. Pure: no I/O, no clock. */
import type { Billing, CryptoDeposit, LedgerEntry, TopUp } from '../../../service/client/index.ts';
import { formatDecimal, formatMinor, formatTimeSpan } from '../../lib/format.ts';
import type { Tone } from '../../ui/tone.ts';

/** Beyond it, a number of days would tell nobody anything. */
const YEAR_SECONDS = 365 * 86_400;

/** Explains what the balance means for the streams on air. */
export function describeOutlook({
  state,
  secondsLeft,
  hadCredit,
}: Pick<Billing, 'state' | 'secondsLeft' | 'hadCredit'>): string {
  if (state === 'suspended') return 'The account is suspended.';
  if (state === 'exhausted' && !hadCredit) return 'Add credit to prepare media and go on air.';
  if (state === 'exhausted') return 'Your credit is used up. Streams stop, and start again when you add credit.';
  if (secondsLeft === null) return 'Nothing is on air, so no credit is used.';
  if (secondsLeft > YEAR_SECONDS) return 'The credit lasts for more than a year at the current rate.';
  return `The credit lasts about ${formatTimeSpan(secondsLeft)} at the current rate.`;
}

export interface BadgeLook {
  word: string;
  tone: Tone;
}

const TOP_UPS: Record<TopUp['state'], BadgeLook> = {
  open: { word: 'To be paid', tone: 'planned' },
  processing: { word: 'In progress', tone: 'busy' },
  paid: { word: 'Paid', tone: 'good' },
  failed: { word: 'Failed', tone: 'danger' },
  expired: { word: 'Expired', tone: 'quiet' },
  partially_refunded: { word: 'Partly refunded', tone: 'quiet' },
  refunded: { word: 'Refunded', tone: 'quiet' },
  disputed: { word: 'Disputed', tone: 'attention' },
  charged_back: { word: 'Charged back', tone: 'danger' },
  review: { word: 'In review', tone: 'attention' },
};

const DEPOSITS: Record<CryptoDeposit['state'], BadgeLook> = {
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

/** A state that is newer than this page keeps the server's name. */
export const topUpLook = (state: string): BadgeLook => find<BadgeLook>(TOP_UPS, state, { word: state, tone: 'quiet' });
export const depositLook = (state: string): BadgeLook =>
  find<BadgeLook>(DEPOSITS, state, { word: state, tone: 'quiet' });
export const kindWord = (kind: string): string => find(KINDS, kind, kind);

/** Says in a sentence what a deposit waits for. */
export function depositLine({ state, confirmations, neededConfirmations }: CryptoDeposit): string {
  if (state === 'waiting') return 'Pay to the address below. This page shows the payment when it arrives.';
  if (state === 'seen') return 'The payment was seen. It waits for confirmation by the network.';
  if (state === 'confirming')
    return `${confirmations ?? 0} of ${neededConfirmations} confirmations. The last one credits the payment.`;
  if (state === 'credited') return 'The payment is credited to your balance.';
  if (state === 'underpaid') return 'Less than the amount has arrived. Pay the rest to the same address.';
  if (state === 'expired') return 'The quoted rate has expired. Payments are now credited at the rate of their time.';
  return 'The network has reorganized its blocks. The payment is being checked again.';
}

/** `an amount, such as 25 or 25.50`, in the size and the digits of the currency. */
export function describeAmount(billing: Billing): string {
  const example = suggestAmount(billing);
  const { currencyDigits } = billing;
  return `an amount, such as ${example}${currencyDigits > 0 ? ` or ${example}.${'5'.padEnd(currencyDigits, '0')}` : ''}`;
}

/** `25`, or as much in the size of the currency. */
export function suggestAmount({ topUp, currencyDigits }: Billing): string {
  const [first, second = first] = topUp?.suggestedMinor ?? [];
  return second === undefined ? '25' : formatDecimal(second, currencyDigits).replace(/\..*/, '');
}

/** `From $5.00 to $1,000.00.` */
export const describeRange = (billing: Billing): string | undefined =>
  billing.topUp
    ? `From ${formatMinor(billing.topUp.minMinor, billing)} to ${formatMinor(billing.topUp.maxMinor, billing)}.`
    : undefined;
