/** Serves the caller's account. */

import type { AuthService } from '../../auth/service.ts';
import type { Principal } from '../../lib/scopes.ts';
import type { ReadLimits } from './limits.ts';
import type { AccountLimits, User } from './record.ts';

export interface AccountServiceDeps {
  auth: Pick<AuthService, 'user'>;
  readLimits: ReadLimits;
}

export const createAccountService = ({ auth, readLimits }: AccountServiceDeps) => ({
  async me(principal: Principal): Promise<User> {
    const { createdAt, ...user } = await auth.user(principal.userId);
    return { ...user, createdAt: createdAt.toISOString() };
  },

  /** Returns limits and usage. */
  limits: ({ accountId }: Principal): Promise<AccountLimits> => readLimits(accountId),
});
export type AccountService = ReturnType<typeof createAccountService>;
