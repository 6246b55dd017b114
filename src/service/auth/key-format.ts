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
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const key = `${API_KEY_PREFIX}${random}${computeChecksum(random)}`;
  return { key, hint: key.slice(0, HINT_LENGTH) };
}

/** Returns whether the text can be a key. A mistyped one need not be looked up; keys made without a checksum have another length. */
export function isKeyLike(text: string): boolean {
  if (!text.startsWith(API_KEY_PREFIX) || text.length > MAX_LENGTH) return false;
  const body = text.slice(API_KEY_PREFIX.length);
  if (body.length !== RANDOM_CHARACTERS + CHECKSUM_CHARACTERS) return true;
  return body.slice(RANDOM_CHARACTERS) === computeChecksum(body.slice(0, RANDOM_CHARACTERS));
}
