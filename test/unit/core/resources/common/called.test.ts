/** Tests how objects are named in sentences. */
import { expect, test } from 'vitest';
import { callAll } from '../../../../../src/core/resources/common/called.ts';

const named = (name: string, displayName?: string) => ({
  metadata: { name },
  spec: { ...(displayName !== undefined && { displayName }) },
});

test('objects are listed by their titles, or by their own names, and more than five are counted', () => {
  expect(callAll([named('str-1', 'Night fireplace')])).toBe('"Night fireplace"');
  expect(callAll([named('str-1', 'Night fireplace'), named('aquarium')])).toBe('"Night fireplace" and "aquarium"');
  const many = Array.from({ length: 8 }, (_, i) => named(`str-${i}`, `S${i}`));
  expect(callAll(many)).toBe('"S0", "S1", "S2", "S3", "S4" and 3 more');
});
