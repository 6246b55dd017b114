/** Builds the records of billing that clients see: the balance, usage and entries. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { FramerateOutput, QualityOutput } from '../../lib/public-profile.ts';

const credits = (description: string) =>
  Type.String({
    pattern: '^-?[0-9]+$',
    description: `${description} In credits, as a string: 10,000 credits are one unit of money.`,
  });

const minor = (description: string) =>
  Type.String({ pattern: '^[0-9]+$', description: `${description} In minor units of the currency, as a string.` });

const time = (description: string) => Type.String({ format: 'date-time', description });

/**
 * - active     there is credit
 * - low        less than a day of it is left, as things are
 * - exhausted  there is none: streams stop after the grace that the service gives
 * - suspended  staff have locked the account: nothing runs until they unlock it
 */
export const STATES = ['active', 'low', 'exhausted', 'suspended'] as const;

export const PAYMENT_METHODS = ['card', 'crypto'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

export const TopUpRange = Type.Object(
  {
    minMinor: minor('Smallest top-up.'),
    maxMinor: minor('Largest top-up.'),
    suggestedMinor: Type.Array(Type.String({ pattern: '^[0-9]+$' }), {
      description: 'Amounts for a form, by the size of the currency. In minor units, as strings.',
    }),
  },
  { title: 'TopUpRange' },
);

export const Billing = Type.Object(
  {
    state: Type.Enum(STATES, {
      description:
        'low: the credit lasts for less than a day. exhausted: no credit is left. suspended: staff have locked the account.',
    }),
    hadCredit: Type.Boolean({
      description: 'False if the account never had credit: then there is some to add, and none is used up.',
    }),
    balanceCredits: credits('Credits paid and not charged yet.'),
    availableCredits: credits('Credits left after charging all time on air so far.'),
    creditsPerHour: credits('Current use of all streams on air, per hour.'),
    secondsLeft: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Time that the credit lasts at the current rate, in seconds. Null while nothing is on air.',
    }),
    currency: Type.String({ description: 'Currency of payments (ISO 4217).' }),
    currencyDigits: Type.Integer({
      description: 'Digits of the minor unit of the currency: 2 for cents, 0 where there is none.',
    }),
    creditsPerMinorUnit: credits('Credits that one minor unit of the currency (a cent) buys.'),
    paymentMethods: Type.Array(Type.Enum(PAYMENT_METHODS), {
      description:
        'Ways to buy credit: card by `POST /v1/billing/top-ups`, crypto by `POST /v1/crypto/deposits`. Empty if only ' +
        'the operators of the service grant credit.',
    }),
    supportUrl: Type.Union([Type.String({ format: 'uri' }), Type.Null()], {
      description:
        'Where to ask for help, and for credit if there is no way to pay: a `mailto:` or `https:` address. Null if the ' +
        'operators of the service have set none.',
    }),
    topUp: Type.Union([TopUpRange, Type.Null()], {
      description: 'Amounts of a top-up, by the size of the currency. The bounds hold for cards.',
    }),
  },
  { title: 'Billing' },
);
export type Billing = Static<typeof Billing>;

/** Parts of the service that cost nothing. */
export const FREE = ['preparation', 'storage', 'destinations'] as const;

const NextPrice = Type.Object(
  { creditsPerHour: credits('Price of an hour on air.'), from: time('Time from which the price holds.') },
  { title: 'NextPrice' },
);

export const Price = Type.Object(
  {
    quality: QualityOutput,
    framerate: FramerateOutput,
    creditsPerHour: credits('Price of an hour on air at present.'),
    next: Type.Union([NextPrice, Type.Null()], { description: 'The next price, if it is set already.' }),
  },
  { title: 'Price' },
);
export type Price = Static<typeof Price>;

export const Prices = Type.Object(
  {
    currency: Type.String({ description: 'Currency of payments (ISO 4217).' }),
    currencyDigits: Type.Integer({
      description: 'Digits of the minor unit of the currency: 2 for cents, 0 where there is none.',
    }),
    creditsPerMinorUnit: credits('Credits that one minor unit of the currency (a cent) buys.'),
    onAir: Type.Array(Price, {
      description:
        'Prices of the time in which a destination takes media, by quality and frame rate. The number of destinations of ' +
        'a stream does not matter.',
    }),
    free: Type.Array(Type.Enum(FREE), {
      description: 'What costs nothing: preparing media, storing it, and further destinations of a stream.',
    }),
  },
  { title: 'Prices' },
);
export type Prices = Static<typeof Prices>;

export const GROUPS = ['day', 'stream'] as const;

export const usageFields = {
  from: Type.Optional(
    Type.String({
      format: 'date',
      description: 'First day, e.g. 2027-01-31. Defaults to 29 days before the last day.',
    }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date', description: 'Last day. Defaults to today. The range is at most one year.' }),
  ),
  groupBy: Type.Enum(GROUPS, {
    title: 'UsageGroup',
    default: 'day',
    description: 'Group of each line: a day or a stream.',
  }),
  timeZone: Type.String({
    minLength: 1,
    maxLength: 64,
    default: 'UTC',
    description: 'IANA time zone of the days, e.g. Europe/Berlin.',
  }),
};
export const UsageAsked = Type.Object(usageFields);
export type UsageAsked = Static<typeof UsageAsked>;

export const UsageLine = Type.Object(
  {
    day: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
      description: 'Day of the line. Null when grouped by stream.',
    }),
    streamID: Type.Union([Type.String(), Type.Null()], {
      description: 'Stream of the line. Null when grouped by day. The stream may have been deleted since.',
    }),
    credits: credits('Charged credits.'),
    onAirSeconds: Type.Number({ description: 'Charged time on air, in seconds.' }),
  },
  { title: 'UsageLine' },
);
export type UsageLine = Static<typeof UsageLine>;

export const Usage = Type.Object(
  {
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date' }),
    timeZone: Type.String(),
    groupBy: Type.Enum(GROUPS, { title: 'UsageGroup' }),
    credits: credits('Sum of all lines.'),
    onAirSeconds: Type.Number({ description: 'Sum of all lines, in seconds.' }),
    lines: Type.Array(UsageLine, { description: 'Each day in order, or each stream with usage, highest first.' }),
  },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

export const KINDS = ['charge', 'topup', 'deposit', 'grant', 'refund', 'dispute', 'correction', 'writeoff'] as const;
export type TransactionKind = (typeof KINDS)[number];

export const LedgerEntry = Type.Object(
  {
    id: Type.String({ description: 'Id of the transaction.' }),
    number: Type.Integer({
      description: 'Number of the entry within the account. Numbers start at 1 and have no gaps.',
    }),
    kind: Type.Enum(KINDS, {
      title: 'LedgerEntryKind',
      description: 'charge: time on air. correction and writeoff: booked by staff.',
    }),
    credits: credits('Change of the balance. Negative for a charge.'),
    balanceCredits: credits('Balance after the entry.'),
    at: time('Time of the event that the entry records.'),
    postedAt: time('Time at which the entry was booked.'),
    streamID: Type.Union([Type.String(), Type.Null()], { description: 'Stream of a charge.' }),
    onAirSeconds: Type.Union([Type.Number(), Type.Null()], { description: 'Time on air of a charge, in seconds.' }),
    reference: Type.Union([Type.String(), Type.Null()], {
      description: 'Top-up or deposit that the entry belongs to.',
    }),
    reason: Type.Union([Type.String(), Type.Null()], { description: 'Reason, if staff gave one.' }),
  },
  { title: 'LedgerEntry' },
);
export type LedgerEntry = Static<typeof LedgerEntry>;
