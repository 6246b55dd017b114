/** Declares the operations on the caller's account. Pure: no I/O, no clock. */
import { createOperationBuilder, record } from '../../lib/operation.ts';
import { exampleUser } from './examples.ts';
import { AccountLimits, User } from './record.ts';
import type { AccountService } from './service.ts';

const operation = createOperationBuilder<{ account: AccountService }>({ tag: 'account' });

export const getMe = operation({
  id: 'getMe',
  scope: 'read',
  http: 'GET /me',
  isOpenToLimitedKeys: true,
  summary: 'Get the current user',
  description: 'Returns the user who owns the API key or token.',
  output: record(User),
  isOpenWhileSuspended: true,
  isUncached: true,
  examples: { output: exampleUser },
  mcp: {
    title: 'Get the current user',
    description: 'Returns the user on whose behalf the tools act.',
    summarize: ({ firstName, email }) => `The account belongs to ${firstName} (${email}).`,
  },
  graphql: { description: 'Returns the current user.' },
  run: ({ account }, { principal }) => account.me(principal),
});

export const getLimits = operation({
  id: 'getLimits',
  scope: 'read',
  http: 'GET /limits',
  summary: 'Get the limits of the account and their use',
  description: 'A request beyond a limit fails with `quota_exceeded`, or with a code of its own, and names the limit.',
  output: record(AccountLimits),
  isOpenWhileSuspended: true,
  examples: {
    output: {
      class: 'trial',
      howToLift: 'Buy credit once. The larger limits apply permanently as soon as the payment is booked.',
      limits: [{ name: 'streams', description: 'Streams', unit: 'count', used: 2, allowed: 5, full: 1000 }],
    },
  },
  mcp: {
    title: 'Get the limits of the account',
    description:
      'Returns the account’s limits and their use: streams, destinations, uploads and more. The first purchase of ' +
      'credit raises them to the class full.',
    summarize: ({ class: column, limits, howToLift }) => {
      const near = limits.filter(({ used, allowed }) => used !== null && used >= 0.8 * allowed);
      const met = near.map(({ description, used, allowed }) => `${description}: ${used} of ${allowed}`);
      return `The class of the account is ${column}. ${met.length > 0 ? `Close to a limit: ${met.join('; ')}.` : 'The account is not close to a limit.'} ${howToLift ?? ''}`.trim();
    },
  },
  graphql: { description: 'Returns the limits of the account and their use.' },
  run: ({ account }, { principal }) => account.limits(principal),
});

export const accountOperations = [getMe, getLimits] as const;
