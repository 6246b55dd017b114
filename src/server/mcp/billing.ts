/** Tools: the balance, what was used and what was booked. */

import { Type } from 'typebox';
import { Billing, LedgerEntry, Usage, usageFields } from '../../billing/ledger/record.ts';
import type { BillingService } from '../../billing/ledger/service.ts';
import { flatten, listOf } from '../../lib/paging/list.ts';
import { PAGE, pageOf, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const USAGE = {
  ...{ from: usageFields.from, to: usageFields.to },
  groupBy: Type.Optional(usageFields.groupBy),
  timeZone: Type.Optional(usageFields.timeZone),
};

const sayLeft = (secondsLeft: number | null): string =>
  secondsLeft === null ? 'nothing is on air' : `it lasts for ${Math.floor(secondsLeft / 3600)} hours as things are`;

export const billingTools = (billing: BillingService): Tool[] => [
  tool({
    name: 'get_billing',
    title: 'Look at the balance',
    description: 'How much credit is left, what streams on air use of it in an hour, and how long it lasts.',
    operations: ['getBilling'],
    output: Billing,
    say: ({ state, availableCredits, secondsLeft }) =>
      `The account is ${state}, with ${availableCredits} credits left; ${sayLeft(secondsLeft)}.`,
    run: ({ principal }) => billing.get(principal),
  }),
  tool({
    name: 'get_usage',
    title: 'Look at what was used',
    description:
      'What was charged, by day or by stream, and the seconds on air it was for. Days are those of timeZone.',
    operations: ['getUsage'],
    ...{ own: USAGE, output: Usage },
    say: ({ from, to, credits, onAirSeconds }) =>
      `From ${from} to ${to}, ${credits} credits were used for ${onAirSeconds} seconds on air.`,
    run: ({ principal }, asked) => billing.usage(principal, { groupBy: 'day', timeZone: 'UTC', ...asked }),
  }),
  tool({
    name: 'list_ledger_entries',
    title: 'List what was booked',
    description: 'Each movement of the credit with the balance after it, the latest first.',
    operations: ['listLedgerEntries'],
    ...{ own: PAGE, output: listOf(LedgerEntry, 'LedgerEntryList') },
    say: sayPage,
    run: async ({ principal }, page) => flatten(await billing.ledger(principal, pageOf(page))),
  }),
];
