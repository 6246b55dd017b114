import { expect, test } from 'vitest';
import { formatSecret, generateKey, isKeyLike, isSecretLike } from '../../../../src/service/auth/key-format.ts';

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

test('a secret of other prefix has the form of a key, follows from its bytes, and is told from a mistyped one', () => {
  const bytes = Buffer.from(Array.from({ length: 64 }, (_, i) => i * 4));
  const secret = formatSecret('lsn_', bytes);
  expect(secret).toMatch(/^lsn_[0-9A-Za-z]{46}$/);
  expect(formatSecret('lsn_', bytes)).toBe(secret);
  expect(isSecretLike('lsn_', secret)).toBe(true);
  expect(isKeyLike(secret)).toBe(false);
  for (const wrong of [
    '',
    'lsn_',
    secret.slice(0, -1),
    `${secret}0`,
    secret.replace('lsn_', 'lsk_'),
    secret.replace('4', '5'),
  ])
    expect(isSecretLike('lsn_', wrong)).toBe(false);
  expect(() => formatSecret('lsn_', Buffer.alloc(39))).toThrow('40 bytes');
});
