/** Tests to which namespace a new account goes. */
import { expect, test } from 'vitest';
import { findEmptiest } from '../../../../../src/service/domain/cells/emptiest.ts';

const cell = (namespace: string, streams: number, accounts: number) => ({ namespace, streams, accounts });

test('a new account goes to the namespace with the fewest streams', () => {
  expect(findEmptiest([cell('a', 20, 1), cell('b', 3, 900), cell('c', 4, 0)])).toBe('b');
});

test('among equals it goes to the one with the fewest accounts, then to the first', () => {
  expect(findEmptiest([cell('a', 0, 2), cell('b', 0, 1), cell('c', 0, 1)])).toBe('b');
});

test('without a namespace it goes nowhere', () => {
  expect(findEmptiest([])).toBeUndefined();
});
