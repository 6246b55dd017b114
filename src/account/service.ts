/** The account of who is asking. */
import type { Principal } from '../auth/scopes.ts';
import type { AuthService } from '../auth/service.ts';
import type { User } from './record.ts';

export const createAccountService = ({ auth }: { auth: Pick<AuthService, 'user'> }) => ({
  async me(principal: Principal): Promise<User> {
    const { createdAt, ...user } = await auth.user(principal.userId);
    return { ...user, createdAt: createdAt.toISOString() };
  },
});
export type AccountService = ReturnType<typeof createAccountService>;
