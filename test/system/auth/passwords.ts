/**
 * Makes passwords cheap to hash. A hash costs a tenth of a second of a processor, which makes guessing dear. For tests that hash hundreds
 * of passwords, and do not test the cost, the same algorithm runs with its least cost.
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

/** Applies to all servers of this process until the returned function is called. Other hashes do not match. */
export function hashPasswordsCheaply(): () => void {
  const use = (one: typeof scrypt) => {
    crypto.scrypt = one;
    // The auth library imports the function by name, a binding that only this call updates.
    syncBuiltinESMExports();
  };
  use(cheapest as typeof scrypt);
  return () => use(scrypt);
}
