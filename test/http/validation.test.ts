import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { FieldError } from '../../src/errors.ts';
import { compileBody, compileParameters } from '../../src/http/validation.ts';

const Body = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 5 }),
    mode: Type.Enum(['a', 'b']),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true })),
    items: Type.Optional(Type.Array(Type.Object({ id: Type.String() }, { additionalProperties: false }))),
  },
  { additionalProperties: false },
);

const errors = (answer: { value: unknown } | { error: Error }): FieldError[] =>
  'error' in answer ? (answer.error as unknown as { extras: { errors: FieldError[] } }).extras.errors : [];

describe('bodies', () => {
  const check = compileBody(Body);
  const good = { name: 'a', mode: 'b' };

  test.each([
    [{ ...good, name: '' }, '/name', 'must not be empty'],
    [{ ...good, name: 'abcdef' }, '/name', 'must have at most 5 characters'],
    [{ ...good, name: 5 }, '/name', 'must be text'],
    [{ mode: 'a' }, '/name', 'is required'],
    [{ ...good, mode: 'c' }, '/mode', 'must be one of a, b'],
    [{ ...good, count: 1.5 }, '/count', 'must be a whole number'],
    [{ ...good, count: '5' }, '/count', 'must be a whole number'],
    [{ ...good, count: 10 }, '/count', 'must be at most 9'],
    [{ ...good, at: 'noon' }, '/at', 'must be a time such as 2027-01-31T18:00:00Z'],
    [{ ...good, ids: [] }, '/ids', 'must not be empty'],
    [{ ...good, ids: ['a', 'b', 'c'] }, '/ids', 'must have at most 2 entries'],
    [{ ...good, ids: ['a', 'a'] }, '/ids', 'must not name the same thing twice'],
    [{ ...good, items: [{ id: 'a' }, { id: 'b', 'x/y~z': 1 }] }, '/items/1/x~1y~0z', 'is not known'],
    [[], '', 'must be an object'],
  ])('%j is refused at %s: %s', (body, path, message) => {
    expect(errors(check(body))).toEqual([{ path, message }]);
  });

  test('all that is wrong is told at once, and nothing is changed', () => {
    const body = { name: '', mode: 'c', extra: true, count: 0 };
    expect(errors(check(body)).map(({ path }) => path)).toEqual(['/extra', '/name', '/mode', '/count']);
    expect(check(good)).toEqual({ value: good });
    expect(good).toEqual({ name: 'a', mode: 'b' });
  });
});

describe('query parameters', () => {
  const check = compileParameters(
    Type.Object({ limit: Type.Integer({ minimum: 1, default: 20 }), q: Type.Optional(Type.String()) }),
  );

  test('whole numbers are read from text, defaults filled in, unknown ones left alone', () => {
    expect(check({ limit: '5', q: '7', colour: 'red' })).toEqual({ value: { limit: 5, q: '7', colour: 'red' } });
    expect(check({})).toEqual({ value: { limit: 20 } });
  });

  test.each(['', 'x', '1.5', '1e3', ' 5', ['1', '2']])('limit=%j is refused', (limit) => {
    expect(errors(check({ limit }))).toMatchObject([{ path: '/limit', message: 'must be a whole number' }]);
  });
});
