/** Serves the caller's account. */

import type { AuthService } from '../../auth/service.ts';
import type { Principal } from '../../lib/scopes.ts';
import type { LimitsOf } from './allowance.ts';
import type { AccountLimits, User } from './record.ts';

export interface AccountServiceDeps {
  auth: Pick<AuthService, 'user'>;
  limitsOf: LimitsOf;
}

export const createAccountService = ({ auth, limitsOf }: AccountServiceDeps) => ({
  async me(principal: Principal): Promise<User> {
    const { createdAt, ...user } = await auth.user(principal.userId);
    return { ...user, createdAt: createdAt.toISOString() };
  },

  /** Returns limits and usage. */
  limits: ({ accountId }: Principal): Promise<AccountLimits> => limitsOf(accountId),
});
export type AccountService = ReturnType<typeof createAccountService>;
