import { expect, test } from 'vitest';
import { trimEnd, trimEndOf } from '../../../../src/core/lib/trim.ts';

test.each([
  ['rtmp://host/app//', '/', 'rtmp://host/app'],
  ['a/b', '/', 'a/b'],
  ['////', '/', ''],
  ['', '/', ''],
])('the end of %j loses each %j', (text, sign, rest) => {
  expect(trimEndOf(text, sign)).toBe(rest);
});

test('a sign of two code units is cut as a whole, or not at all', () => {
  expect(trimEnd('a\u{e0001}\u200b ', (sign) => /[\s\p{Cf}]/u.test(sign))).toBe('a');
  expect(trimEnd('a😀 ', (sign) => /\s/u.test(sign))).toBe('a😀');
});
