/** The account of who is asking. */
import { type Static, Type } from 'typebox';
import type { Principal } from '../auth/scopes.ts';
import type { AuthService } from '../auth/service.ts';

export const User = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    firstName: Type.String(),
    lastName: Type.Union([Type.String(), Type.Null()]),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'User' },
);
export type User = Static<typeof User>;

export const createAccountService = ({ auth }: { auth: Pick<AuthService, 'user'> }) => ({
  async me(principal: Principal): Promise<User> {
    const { createdAt, ...user } = await auth.user(principal.userId);
    return { ...user, createdAt: createdAt.toISOString() };
  },
});
export type AccountService = ReturnType<typeof createAccountService>;
