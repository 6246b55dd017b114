/**
 * To hash a password costs a tenth of a second of a processor, which makes guessing dear. Where hundreds of them are hashed, and
 * what that costs is not what is tested, the same algorithm does with the least that it can be asked for.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { scrypt } = crypto;

type Given = [
  password: crypto.BinaryLike,
  salt: crypto.BinaryLike,
  length: number,
  options: crypto.ScryptOptions,
  done: (error: Error | null, key: Buffer) => void,
];

const cheapest = (...[password, salt, length, options, done]: Given): void =>
  scrypt(password, salt, length, { ...options, N: 2, r: 1 }, done);

/** For all servers of this process, until what it answers is called. What is hashed before or elsewhere does not match. */
export function hashPasswordsCheaply(): () => void {
  const use = (one: typeof scrypt) => {
    crypto.scrypt = one;
    // The auth library imports it by name, which is not the same binding until this is said.
    syncBuiltinESMExports();
  };
  use(cheapest as typeof scrypt);
  return () => use(scrypt);
}
