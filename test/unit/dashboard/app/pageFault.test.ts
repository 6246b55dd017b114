import { expect, test } from 'vitest';
import { countTry, findFault } from '../../../../src/dashboard/app/pageFault.ts';

test.each([
  ['Failed to fetch dynamically imported module: http://localhost/assets/page.js', 'missing'],
  ['error loading dynamically imported module: http://localhost/assets/page.js', 'missing'],
  ['Importing a module script failed.', 'missing'],
  ['Unable to preload CSS for /assets/page.css', 'missing'],
  ["Failed to execute 'removeChild' on 'Node': The node to be removed is not a child of this node.", 'broken'],
  ["Cannot read properties of undefined (reading 'name')", 'broken'],
] as const)('%s: %s', (message, fault) => {
  expect(findFault(new Error(message))).toBe(fault);
});

test('a page tries again three times a minute, and goes on later', () => {
  let tries: number[] = [];
  for (const now of [1000, 2000, 3000]) tries = countTry(tries, now) ?? [];
  expect(tries).toEqual([1000, 2000, 3000]);
  expect(countTry(tries, 4000)).toBeUndefined();
  expect(countTry(tries, 61_500)).toEqual([2000, 3000, 61_500]);
});
