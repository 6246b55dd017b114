/** Declares the operations on the balance, what was used and what was booked. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, operationsOf, PAGED, page, record } from '../../lib/operation.ts';
import { Billing, LedgerEntry, Usage, usageFields } from './record.ts';
import type { BillingService } from './service.ts';

const operation = operationsOf<{ billing: BillingService }>({ tag: 'billing' });

const exampleUsage: Usage = {
  from: '2027-01-31',
  to: '2027-01-31',
  timeZone: 'Europe/Berlin',
  groupBy: 'day',
  credits: '300',
  onAirSeconds: 3600,
  lines: [{ day: '2027-01-31', streamID: null, credits: '300', onAirSeconds: 3600 }],
};

export const exampleEntry: LedgerEntry = {
  id: '8d1f6a52-3f0e-4b7e-9a55-0c7c1f7f2f60',
  number: 2,
  kind: 'charge',
  credits: '-300',
  balanceCredits: '249700',
  at: '2027-01-31T19:00:02Z',
  postedAt: '2027-01-31T19:00:05Z',
  streamID: EXAMPLE.stream,
  onAirSeconds: 3600,
  reference: null,
  reason: null,
};

const sayLeft = (secondsLeft: number | null): string =>
  secondsLeft === null ? 'nothing is on air' : `it lasts for ${Math.floor(secondsLeft / 3600)} hours as things are`;

export const billingOperations = [
  operation({
    id: 'getBilling',
    scope: 'billing',
    http: 'GET /billing',
    summary: 'What is left, and for how long',
    description: 'The balance, what is spent by the hour at present, and how long the balance lasts at that rate.',
    output: record(Billing),
    errors: ['billing_disabled'],
    examples: {
      output: {
        state: 'active',
        balanceCredits: '250000',
        availableCredits: '249700',
        creditsPerHour: '300',
        secondsLeft: 2_996_400,
        currency: 'USD',
        creditsPerMinorUnit: '100',
        paymentMethods: ['card', 'crypto'],
      },
    },
    mcp: {
      title: 'Look at the balance',
      description: 'How much credit is left, what streams on air use of it in an hour, and how long it lasts.',
      say: ({ state, availableCredits, secondsLeft }) =>
        `The account is ${state}, with ${availableCredits} credits left; ${sayLeft(secondsLeft)}.`,
    },
    graphql: { description: 'What is left, and for how long.', isNullable: true },
    run: ({ billing }, { principal }) => billing.get(principal),
  }),

  operation({
    id: 'getUsage',
    scope: 'billing',
    http: 'GET /billing/usage',
    summary: 'What was used, by day or by stream',
    description:
      'Its sums are those of the charges in the ledger, to the credit. A charge belongs to the day on which the time ' +
      'on air that it is for ended. As JSON, or as CSV (RFC 4180) of its lines.',
    query: {
      ...usageFields,
      format: Type.Optional(
        Type.Enum(['json', 'csv'], { description: 'Without it, the header Accept says: text/csv, or else JSON.' }),
      ),
    },
    output: content<Usage>({ 'application/json': Usage, 'text/csv': Type.String({ title: 'UsageCsv' }) }),
    errors: ['billing_disabled'],
    examples: {
      parameters: {
        from: '2027-01-31',
        to: '2027-01-31',
        groupBy: 'day',
        timeZone: 'Europe/Berlin',
        format: 'json',
      },
      content: { 'application/json': exampleUsage, 'text/csv': 'day,credits,onAirSeconds\r\n2027-01-31,300,3600\r\n' },
    },
    mcp: {
      title: 'Look at what was used',
      description:
        'What was charged, by day or by stream, and the seconds on air it was for. Days are those of timeZone.',
      query: {
        from: usageFields.from,
        to: usageFields.to,
        groupBy: Type.Optional(usageFields.groupBy),
        timeZone: Type.Optional(usageFields.timeZone),
      },
      say: ({ from, to, credits, onAirSeconds }) =>
        `From ${from} to ${to}, ${credits} credits were used for ${onAirSeconds} seconds on air.`,
    },
    run: ({ billing }, { principal, query: { format: _format, groupBy = 'day', timeZone = 'UTC', ...days } }) =>
      billing.usage(principal, { groupBy, timeZone, ...days }),
  }),

  operation({
    id: 'listLedgerEntries',
    scope: 'billing',
    http: 'GET /billing/ledger',
    summary: 'What was booked, the latest first',
    description: `Each charge, top-up and correction with the balance after it. ${PAGED}`,
    output: page(LedgerEntry, 'LedgerEntryList'),
    errors: ['billing_disabled'],
    examples: { output: exampleEntry },
    mcp: {
      title: 'List what was booked',
      description: 'Each movement of the credit with the balance after it, the latest first.',
    },
    run: ({ billing }, { principal, page }) => billing.ledger(principal, page),
  }),
] as const;
