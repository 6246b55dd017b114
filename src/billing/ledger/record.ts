/** Builds the records of billing that clients see: the balance, usage and entries. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { KINDS } from './ledger.ts';

const credits = (description: string) =>
  Type.String({
    pattern: '^-?[0-9]+$',
    description: `${description} In credits, as a text: 10,000 are a unit of money.`,
  });

const time = (description: string) => Type.String({ format: 'date-time', description });

/**
 * - active     there is credit
 * - low        less than a day of it is left, as things are
 * - exhausted  it is used up: streams stop after the grace that the service gives
 * - suspended  staff have locked the account: nothing runs until they unlock it
 */
export const STATES = ['active', 'low', 'exhausted', 'suspended'] as const;

export const PAYMENT_METHODS = ['card', 'crypto'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

export const Billing = Type.Object(
  {
    state: Type.Enum(STATES, {
      description: 'low: less than a day is left; exhausted: it is used up; suspended: staff have locked the account.',
    }),
    balanceCredits: credits('What was paid and is not charged yet.'),
    availableCredits: credits('Of that, what is left once the seconds that were used by now are charged.'),
    creditsPerHour: credits('What all streams on air use at present.'),
    secondsLeft: Type.Union([Type.Integer(), Type.Null()], {
      description: 'How long the credit lasts if nothing changes; null while nothing is on air.',
    }),
    currency: Type.String({ description: 'ISO 4217: what is paid in.' }),
    creditsPerMinorUnit: credits('What a minor unit of the currency (a cent) buys.'),
    paymentMethods: Type.Array(Type.Enum(PAYMENT_METHODS), {
      description:
        'How credit can be bought here: card by `POST /v1/billing/top-ups`, crypto by `POST /v1/crypto/deposits`. Empty: only ' +
        'whoever runs the service grants it.',
    }),
  },
  { title: 'Billing' },
);
export type Billing = Static<typeof Billing>;

export const GROUPS = ['day', 'stream'] as const;

export const usageFields = {
  from: Type.Optional(
    Type.String({ format: 'date', description: 'First day, such as 2027-01-31; 29 days before the last one.' }),
  ),
  to: Type.Optional(Type.String({ format: 'date', description: 'Last day; today. A year at most is told at once.' })),
  groupBy: Type.Enum(GROUPS, { default: 'day', description: 'What is summed up: each day, or each stream.' }),
  timeZone: Type.String({
    minLength: 1,
    maxLength: 64,
    default: 'UTC',
    description: 'IANA name of the zone whose days are meant, e.g. Europe/Berlin.',
  }),
};
export const UsageAsked = Type.Object(usageFields);
export type UsageAsked = Static<typeof UsageAsked>;

export const UsageLine = Type.Object(
  {
    day: Type.Union([Type.String({ format: 'date' }), Type.Null()], { description: 'null where streams are told.' }),
    streamID: Type.Union([Type.String(), Type.Null()], {
      description: 'null where days are told. The stream may have been deleted since.',
    }),
    credits: credits('What was charged.'),
    onAirSeconds: Type.Number({ description: 'What it was charged for.' }),
  },
  { title: 'UsageLine' },
);
export type UsageLine = Static<typeof UsageLine>;

export const Usage = Type.Object(
  {
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date' }),
    timeZone: Type.String(),
    groupBy: Type.Enum(GROUPS),
    credits: credits('The sum of all lines.'),
    onAirSeconds: Type.Number({ description: 'The sum of all lines.' }),
    lines: Type.Array(UsageLine, { description: 'Each day, or each stream that used something, the most first.' }),
  },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

export const LedgerEntry = Type.Object(
  {
    id: Type.String({ description: 'Of the transaction.' }),
    number: Type.Integer({ description: 'Of the entry within the account: 1 for the first one, without a gap.' }),
    kind: Type.Enum(KINDS, { description: 'charge: time on air; correction and writeoff: booked by staff.' }),
    credits: credits('What it adds; negative where it takes away.'),
    balanceCredits: credits('After it.'),
    at: time('When what it stands for happened.'),
    postedAt: time('When it was booked.'),
    streamID: Type.Union([Type.String(), Type.Null()], { description: 'Of a charge.' }),
    onAirSeconds: Type.Union([Type.Number(), Type.Null()], { description: 'Of a charge: what it is for.' }),
    reference: Type.Union([Type.String(), Type.Null()], { description: 'The top-up or deposit that it belongs to.' }),
    reason: Type.Union([Type.String(), Type.Null()], { description: 'In words, where staff gave one.' }),
  },
  { title: 'LedgerEntry' },
);
export type LedgerEntry = Static<typeof LedgerEntry>;
