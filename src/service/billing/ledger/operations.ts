/** Declares the operations on the balance, what was used and what was booked. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, createOperationBuilder, FILTERED, FORMAT, PAGED, page, record } from '../../lib/operation.ts';
import { readSort } from '../../lib/paging/noun-list.ts';
import { ledgerQuery, toLedgerWhere } from './list.ts';
import { Billing, LedgerEntry, Prices, Usage, usageFields } from './record.ts';
import type { BillingService } from './service.ts';
import type { StatementOrder } from './statement.ts';

const operation = createOperationBuilder<{ billing: BillingService }>({ tag: 'billing' });

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

const describeLeft = (secondsLeft: number | null): string =>
  secondsLeft === null
    ? 'nothing is on air'
    : `it lasts for ${Math.floor(secondsLeft / 3600)} hours at the current rate`;

export const billingOperations = [
  operation({
    id: 'getBilling',
    scope: 'billing',
    http: 'GET /billing',
    summary: 'Get the balance and how long it lasts',
    description:
      'Returns the balance, the current spending per hour, and the time that the balance lasts at that rate.',
    output: record(Billing),
    errors: ['billing_disabled'],
    examples: {
      output: {
        state: 'active',
        hadCredit: true,
        balanceCredits: '250000',
        availableCredits: '249700',
        creditsPerHour: '300',
        secondsLeft: 2_996_400,
        currency: 'USD',
        currencyDigits: 2,
        creditsPerMinorUnit: '100',
        paymentMethods: ['card', 'crypto'],
        supportUrl: 'mailto:help@example.com',
        topUp: { minMinor: '500', maxMinor: '100000', suggestedMinor: ['1000', '2500', '5000', '10000'] },
      },
    },
    mcp: {
      title: 'Get the balance',
      description: 'Returns the credit left, the hourly use of all streams on air, and how long the credit lasts.',
      summarize: ({ state, availableCredits, secondsLeft }) =>
        `The account is ${state}, with ${availableCredits} credits left; ${describeLeft(secondsLeft)}.`,
    },
    graphql: { description: 'Returns the balance and how long it lasts.', isNullable: true },
    client: { noun: 'billing' },
    run: ({ billing }, { principal }) => billing.get(principal),
  }),

  operation({
    id: 'getPrices',
    scope: 'read',
    http: 'GET /billing/prices',
    summary: 'Get the prices',
    description:
      'Returns what an hour on air costs, by quality and frame rate, and what costs nothing. Starting and reconnecting cost ' +
      'nothing either.',
    output: record(Prices),
    errors: ['billing_disabled'],
    examples: {
      output: {
        currency: 'USD',
        currencyDigits: 2,
        creditsPerMinorUnit: '100',
        onAir: [{ quality: 'q_1080p', framerate: 'f_30', creditsPerHour: '300', next: null }],
        free: ['preparation', 'storage', 'destinations'],
      },
    },
    mcp: {
      title: 'Get the prices',
      description:
        'Returns the credits that an hour on air costs, by quality and frame rate, with the currency. Tell the user the price before a ' +
        'stream goes on air.',
      summarize: ({ onAir, currency, currencyDigits, creditsPerMinorUnit }) => {
        const unit = Number(creditsPerMinorUnit) * 10 ** currencyDigits;
        const list = onAir.map(
          ({ quality, framerate, creditsPerHour }) => `${quality} ${framerate} ${Number(creditsPerHour) / unit}`,
        );
        return `An hour on air costs, in ${currency}: ${list.join(', ')}. Preparation, storage and destinations are free.`;
      },
    },
    graphql: { description: 'Returns what an hour on air costs. Null without billing.', isNullable: true },
    client: { noun: 'billing', method: 'prices' },
    run: ({ billing }) => billing.prices(),
  }),

  operation({
    id: 'getUsage',
    scope: 'billing',
    http: 'GET /billing/usage',
    summary: 'Get usage by day or by stream',
    description:
      'The sums equal the ledger’s charges, to the credit. A charge belongs to the day on which its time on air ' +
      'ended. Returns JSON, or the lines as CSV (RFC 4180).',
    query: { ...usageFields, ...FORMAT },
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
      title: 'Get usage',
      description: 'Returns charged credits and seconds on air, by day or by stream. Days are those of timeZone.',
      query: {
        from: usageFields.from,
        to: usageFields.to,
        groupBy: Type.Optional(usageFields.groupBy),
        timeZone: Type.Optional(usageFields.timeZone),
      },
      summarize: ({ from, to, credits, onAirSeconds }) =>
        `From ${from} to ${to}, ${credits} credits were used for ${onAirSeconds} seconds on air.`,
    },
    run: ({ billing }, { principal, query: { format: _format, groupBy = 'day', timeZone = 'UTC', ...days } }) =>
      billing.usage(principal, { groupBy, timeZone, ...days }),
  }),

  operation({
    id: 'listLedgerEntries',
    scope: 'billing',
    http: 'GET /billing/ledger',
    summary: 'List ledger entries, newest first',
    description: `Returns each charge, top-up and correction with the balance after it. ${FILTERED} ${PAGED}`,
    query: ledgerQuery(),
    output: page(LedgerEntry, 'LedgerEntryList'),
    errors: ['billing_disabled'],
    examples: { output: exampleEntry, parameters: { type: 'charge', sort: 'number' } },
    mcp: {
      query: ledgerQuery('short'),
      title: 'List ledger entries',
      description: 'Lists each change of the balance with the balance after it, newest first.',
    },
    client: { method: 'ledger' },
    run: ({ billing }, { principal, page, query }) =>
      billing.ledger(principal, readSort<StatementOrder>(page, query.sort), toLedgerWhere(query)),
  }),
] as const;
