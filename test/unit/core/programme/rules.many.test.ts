import { expect, test } from 'vitest';
import { tryParts } from './ruled.ts';

test('the timelines of two parts are that of the whole, of 100,000 programmes in six zones where their clocks change', () => {
  expect(tryParts(100_000)).toBeGreaterThan(190_000);
}, 1_800_000);
