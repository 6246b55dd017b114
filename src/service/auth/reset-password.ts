/**
 * Sets a new password by the link of a mail. A stranger with the old password may have created other credentials.
 * They are revoked with it, unless the owner chooses to keep them.
 */
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint } from 'better-auth/api';
import type { Guesses } from './guesses.ts';

const MAX_TOKEN = 200;

/** Revokes the other credentials of an account. `keepsAccess`: API keys and connected apps stay valid. */
export type Revoke = (user: { id: string; email: string }, options: { keepsAccess: boolean }) => Promise<void>;

const gone = () =>
  new APIError('BAD_REQUEST', {
    code: 'INVALID_TOKEN',
    message: 'The link was used before, or has expired. Request a new one.',
  });

export function passwordResets(revoke: Revoke, guesses?: Guesses): BetterAuthPlugin {
  // It takes the place of the library's endpoint of the same name, which leaves all else good.
  const resetPassword = createAuthEndpoint('/reset-password', { method: 'POST' }, async (context) => {
    const { token, newPassword, keepAccess } = (context.body ?? {}) as Record<string, unknown>;
    if (typeof token !== 'string' || token.length > MAX_TOKEN) throw gone();
    // The rules (account-rules.ts) have checked it.
    const password = String(newPassword);
    const { internalAdapter, password: passwords } = context.context;
    const link = await internalAdapter.consumeVerificationValue(`reset-password:${token}`);
    const user = link && (await internalAdapter.findUserById(link.value));
    if (!user) throw gone();
    const hashed = await passwords.hash(password);
    const account = { providerId: 'credential', accountId: user.id, password: hashed };
    if (await internalAdapter.findCredentialAccount(user.id)) await internalAdapter.updatePassword(user.id, hashed);
    else await internalAdapter.createAccount({ userId: user.id, ...account });
    // A user who has read the mail owns the address.
    if (!user.emailVerified) await internalAdapter.updateUser(user.id, { emailVerified: true });
    await revoke(user, { keepsAccess: keepAccess === true });
    await guesses?.forgetPlaces(user.id);
    await guesses?.trust(user.id, context);
    return context.json({ status: true });
  });
  return { id: 'password-reset', endpoints: { resetPassword } };
}
