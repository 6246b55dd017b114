/** Tools: the account of who is asking. */
import { User } from '../account/record.ts';
import type { AccountService } from '../account/service.ts';
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
];
