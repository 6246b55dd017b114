/** Checks a new password as the server does. The list of common passwords is loaded when a form asks for one; the server has it anyway. */
import { findCommon, findWeakness } from '../../../service/auth/password.ts';

let common: ReadonlySet<string> = new Set();

/** A list that does not come is left to the server. */
export const loadCommonPasswords = (): Promise<void> =>
  import('../../../service/auth/common-passwords.ts').then(
    ({ COMMON_PASSWORDS }) => {
      common = COMMON_PASSWORDS;
    },
    () => undefined,
  );

export const explainWeakness = (password: string, email: string): string | undefined =>
  findWeakness(password, email) ?? findCommon(password, common);
