/** Declares the operations on the caller's account. Pure: no I/O, no clock. */
import { operationsOf, record } from '../../lib/operation.ts';
import { exampleUser } from './examples.ts';
import { AccountLimits, User } from './record.ts';
import type { AccountService } from './service.ts';

const operation = operationsOf<{ account: AccountService }>({ tag: 'account' });

export const getMe = operation({
  id: 'getMe',
  scope: 'read',
  http: 'GET /me',
  summary: 'The current user',
  description: 'The user whose key or token it is.',
  output: record(User),
  isOpenWhileSuspended: true,
  isUncached: true,
  examples: { output: exampleUser },
  mcp: {
    title: 'Whose account this is',
    description: 'The user in whose name the tools act.',
    say: ({ firstName, email }) => `The account is that of ${firstName} (${email}).`,
  },
  graphql: { description: 'The current user.' },
  run: ({ account }, { principal }) => account.me(principal),
});

export const getLimits = operation({
  id: 'getLimits',
  scope: 'read',
  http: 'GET /limits',
  summary: 'What the account may have, and has',
  description:
    'What goes beyond a limit is refused with `quota_exceeded`, or with a code of its own, and with the name of the limit.',
  output: record(AccountLimits),
  isOpenWhileSuspended: true,
  examples: {
    output: {
      class: 'trial',
      howToLift: 'Buy credit once: the larger limits are there as soon as it is booked, and stay.',
      limits: [{ name: 'streams', description: 'Streams', unit: 'count', used: 2, allowed: 5, full: 1000 }],
    },
  },
  mcp: {
    title: 'Look at the limits of the account',
    description:
      'How many streams, destinations, uploads and other things the account may have, and has. The larger limits of the class full come with the first credit.',
    say: ({ class: column, limits, howToLift }) => {
      const near = limits.filter(({ used, allowed }) => used !== null && used >= 0.8 * allowed);
      const met = near.map(({ description, used, allowed }) => `${description}: ${used} of ${allowed}`);
      return `The account is of the class ${column}. ${met.length > 0 ? `Close to a limit: ${met.join('; ')}.` : 'It is close to no limit.'} ${howToLift ?? ''}`.trim();
    },
  },
  graphql: { description: 'What the account may have, and has.' },
  run: ({ account }, { principal }) => account.limits(principal),
});

export const accountOperations = [getMe, getLimits] as const;
