import { expect, test } from 'vitest';
import { isolate, quote } from '../../../../src/dashboard/lib/isolate.ts';

test.each(['Night fireplace', 'Ночной эфир', '夜の暖炉', 'Lo-fi \u{1f525}', 'É 1–2 (final)', ''])(
  'a name that turns nothing around stays as it is: %s',
  (name) => {
    expect(isolate(name)).toBe(name);
  },
);

test.each([
  ['Hebrew', 'ערוץ 1'],
  ['Arabic', 'قناة المساء'],
  ['Adlam, above the first plane', '\u{1e900}'],
  ['a mark alone', 'a\u200fb'],
])('a name with letters from right to left has a direction of its own: %s', (_, name) => {
  expect(isolate(name)).toBe(`\u2068${name}\u2069`);
  expect(quote(name)).toBe(`“\u2068${name}\u2069”`);
});

test('no sign in a name ends its own part of the text, or reaches past it', () => {
  expect(isolate('\u202egnp\u2069.exe\u2066')).toBe('\u2068gnp.exe\u2069');
});
