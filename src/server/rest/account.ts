/** REST: the account of who is asking. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { AccountLimits, User } from '../../domain/accounts/record.ts';
import type { AccountService } from '../../domain/accounts/service.ts';

export const accountRoutes: FastifyPluginAsyncTypebox<{ account: AccountService }> = async (app, { account }) => {
  app.get(
    '/me',
    { schema: { operationId: 'getMe', tags: ['account'], summary: 'The current user', response: { 200: User } } },
    (request) => account.me(request.principal),
  );
};

/** What the account has is told from the caches, so that it goes on while Kubernetes is away. */
export const limitRoutes: FastifyPluginAsyncTypebox<{ account: AccountService }> = async (app, { account }) => {
  app.get(
    '/limits',
    {
      schema: {
        ...{ operationId: 'getLimits', tags: ['account'], summary: 'What the account may have, and has' },
        description:
          'What goes beyond a limit is refused with `quota_exceeded`, or with a code of its own, and with the name of the limit.',
        response: { 200: AccountLimits },
      },
    },
    (request) => account.limits(request.principal),
  );
};
