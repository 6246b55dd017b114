import { expect, test } from 'vitest';
import { generateKey, isKeyLike } from '../../../../src/service/auth/key-format.ts';

test('a new key has the prefix, 40 random characters and a checksum that any one changed character breaks', () => {
  const { key, hint } = generateKey();
  expect(key).toMatch(/^lsk_[0-9A-Za-z]{46}$/);
  expect(key.startsWith(hint)).toBe(true);
  expect(hint).toHaveLength(8);
  expect(isKeyLike(key)).toBe(true);
  for (let at = 4; at < key.length; at += 1) {
    const other = key[at] === 'a' ? 'b' : 'a';
    expect(isKeyLike(`${key.slice(0, at)}${other}${key.slice(at + 1)}`), String(at)).toBe(false);
  }
});

test('the checksum is the CRC-32 of the random part in base 62, as documented', () => {
  // python3 -c "import zlib; print(zlib.crc32(b'0' * 40))" prints 2520759182.
  expect(isKeyLike(`lsk_${'0'.repeat(40)}2kaqcA`)).toBe(true);
});

test('keys differ, and use every character', () => {
  const keys = Array.from({ length: 500 }, () => generateKey().key);
  expect(new Set(keys).size).toBe(500);
  expect(new Set(keys.flatMap((key) => [...key.slice(4, 44)])).size).toBe(62);
});

test.each([
  ['a key from before checksums', `lsk_${'a'.repeat(64)}`, true],
  ['another prefix', `ghp_${'a'.repeat(46)}`, false],
  ['a text without end', `lsk_${'a'.repeat(5000)}`, false],
])('%s', (_name, text, isLike) => {
  expect(isKeyLike(text)).toBe(isLike);
});
