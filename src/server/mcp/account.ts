/** Tools: the account of who is asking. */
import { AccountLimits, User } from '../../domain/accounts/record.ts';
import type { AccountService } from '../../domain/accounts/service.ts';
import { type Tool, tool } from './tool.ts';

export const accountTools = (account: AccountService): Tool[] => [
  tool({
    name: 'get_me',
    title: 'Whose account this is',
    description: 'The user in whose name the tools act.',
    operations: ['getMe'],
    output: User,
    say: ({ firstName, email }) => `The account is that of ${firstName} (${email}).`,
    run: ({ principal }) => account.me(principal),
  }),
  tool({
    name: 'get_limits',
    title: 'Look at the limits of the account',
    description:
      'How many streams, destinations, uploads and other things the account may have, and has. The larger limits of the class full come with the first credit.',
    operations: ['getLimits'],
    output: AccountLimits,
    say: ({ class: column, limits, howToLift }) => {
      const near = limits.filter(({ used, allowed }) => used !== null && used >= 0.8 * allowed);
      const met = near.map(({ description, used, allowed }) => `${description}: ${used} of ${allowed}`);
      return `The account is of the class ${column}. ${met.length > 0 ? `Close to a limit: ${met.join('; ')}.` : 'It is close to no limit.'} ${howToLift ?? ''}`.trim();
    },
    run: ({ principal }) => account.limits(principal),
  }),
];
