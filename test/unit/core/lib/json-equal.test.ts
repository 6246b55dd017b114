import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSameJson } from '../../../../src/core/lib/json-equal.ts';

it('a value equals its own JSON, and no other', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => isSameJson(value, JSON.parse(JSON.stringify(value)))));
  const sorted = (value: unknown): string =>
    JSON.stringify(value, (_, member) =>
      member && typeof member === 'object' && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    );
  const parsed = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
  fc.assert(fc.property(parsed, parsed, (a, b) => isSameJson(a, b) === (sorted(a) === sorted(b))));
});

it('members that are undefined are not there, and their order does not matter', () => {
  expect(isSameJson({ a: 1, b: undefined, c: [{ d: 2 }] }, { c: [{ d: 2 }], a: 1 })).toBe(true);
  expect(isSameJson({ a: undefined }, { b: 1 })).toBe(false);
  expect(isSameJson([], {})).toBe(false);
  expect(isSameJson(null, {})).toBe(false);
});
