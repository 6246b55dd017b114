/**
 * Makes and checks the text of API keys: a prefix, 40 random characters, and a checksum, so that scanners of code recognize a leaked key
 * and never report another text (docs/keys.md).
 */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const API_KEY_PREFIX = 'lsk_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 40;
/** CRC-32 is below 62⁶. */
const CHECKSUM_CHARACTERS = 6;
/** Keys made before there was a checksum are longer than those of today. */
const MAX_LENGTH = 200;
/** Characters that lists of keys show. */
const HINT_LENGTH = API_KEY_PREFIX.length + 4;

/** Returns the CRC-32 of the random part as a number of base 62, as tokens of GitHub have it. */
function computeChecksum(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i += 1) {
    text = `${ALPHABET[rest % ALPHABET.length]}${text}`;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** Returns a new key, and the part of it that lists show. */
export function generateKey(): { key: string; hint: string } {
  const key = addChecksum(API_KEY_PREFIX, () => randomInt(ALPHABET.length));
  return { key, hint: key.slice(0, HINT_LENGTH) };
}

/** Builds a text of the form of a key from the numbers that `next` returns. */
function addChecksum(prefix: string, next: (index: number) => number): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, (_, i) => ALPHABET[next(i) % ALPHABET.length]).join('');
  return `${prefix}${random}${computeChecksum(random)}`;
}

/** Returns the bytes as a text of the form of a key, which scanners of code recognize. Of fewer than 40 bytes some would be used twice. */
export function formatSecret(prefix: string, bytes: Buffer): string {
  if (bytes.length < RANDOM_CHARACTERS) throw new Error(`A secret is made of ${RANDOM_CHARACTERS} bytes.`);
  return addChecksum(prefix, (i) => bytes[i] ?? 0);
}

/** Returns whether the text has the prefix, the length and the checksum of a secret. */
export function isSecretLike(prefix: string, text: string): boolean {
  const body = text.slice(prefix.length);
  const random = body.slice(0, RANDOM_CHARACTERS);
  return (
    text.startsWith(prefix) && body === `${random}${computeChecksum(random)}` && random.length === RANDOM_CHARACTERS
  );
}

/** Returns whether the text can be a key. A mistyped one need not be looked up; keys made without a checksum have another length. */
export function isKeyLike(text: string): boolean {
  if (!text.startsWith(API_KEY_PREFIX) || text.length > MAX_LENGTH) return false;
  const body = text.slice(API_KEY_PREFIX.length);
  return body.length !== RANDOM_CHARACTERS + CHECKSUM_CHARACTERS || isSecretLike(API_KEY_PREFIX, text);
}
