/** REST: the account of who is asking. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { User } from './record.ts';
import type { AccountService } from './service.ts';

export const accountRoutes: FastifyPluginAsyncTypebox<{ account: AccountService }> = async (app, { account }) => {
  app.get(
    '/me',
    { schema: { operationId: 'getMe', tags: ['account'], summary: 'The current user', response: { 200: User } } },
    (request) => account.me(request.principal),
  );
};
