import { expect, test } from 'vitest';
import { idsIn, withNames } from '../../../../../src/dashboard/features/references/names.ts';

const [dst, upl] = ['dst-01m839c7r12h4450m5qh47fyhp', 'upl-01m8396gsb8a5q62m0v662n2dc'];

test('people read names where the server has ids; unknown and foreign ids stay', () => {
  const text = `Destination "${dst}" refuses "${upl}", "${dst}" and "tv" do not.`;
  expect(idsIn(text)).toEqual([dst, upl]);
  const names = new Map([[dst, 'Main $& channel']]);
  expect(withNames(text, names)).toBe(
    `Destination “Main $& channel” refuses "${upl}", “Main $& channel” and "tv" do not.`,
  );
});
