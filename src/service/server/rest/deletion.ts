/** Deletes an account, and limits the password attempts. */
import type { FastifyInstance } from 'fastify';
import type { AccountDelete } from '../../domain/accounts/record.ts';
import { AppError } from '../../lib/errors.ts';
import type { Deletions } from '../account/deletion.ts';
import type { Handlers } from './adapter.ts';

/** Password attempts for a deletion in ten minutes. */
const ATTEMPTS = 10;
const ATTEMPTS_MS = 600_000;

export function deletionHandlers(app: FastifyInstance, deletions: Pick<Deletions, 'begin'>): Handlers {
  // The plugin of the rate limit is missing while the API's description is built.
  const count = app.createRateLimit?.({
    max: ATTEMPTS,
    timeWindow: ATTEMPTS_MS,
    keyGenerator: ({ principal }) => `deletion ${principal.accountId}`,
  });
  return {
    async deleteAccount(request, reply) {
      const counted = await count?.(request);
      if (counted && !counted.isAllowed && counted.isExceeded)
        throw new AppError(
          'rate_limited',
          `Too many attempts to delete the account. Try again in ${Math.ceil(counted.ttl / 1000)} seconds.`,
        );
      await deletions.begin(request.principal, request.body as AccountDelete);
      return reply.code(204).send(null);
    },
  };
}
