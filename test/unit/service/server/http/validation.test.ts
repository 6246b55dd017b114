import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { FieldError } from '../../../../../src/service/lib/errors.ts';
import { parseQuery } from '../../../../../src/service/server/http/query.ts';
import { compileBody, compileParameters, compileQuery } from '../../../../../src/service/server/http/validation.ts';

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
    [{ ...good, name: 5 }, '/name', 'must be a string'],
    [{ mode: 'a' }, '/name', 'is required'],
    [{ ...good, mode: 'c' }, '/mode', 'must be one of a, b'],
    [{ ...good, count: 1.5 }, '/count', 'must be a whole number'],
    [{ ...good, count: '5' }, '/count', 'must be a whole number'],
    [{ ...good, count: 10 }, '/count', 'must be at most 9'],
    [{ ...good, at: 'noon' }, '/at', 'must be a time such as 2027-01-31T18:00:00Z'],
    [{ ...good, ids: [] }, '/ids', 'must not be empty'],
    [{ ...good, ids: ['a', 'b', 'c'] }, '/ids', 'must have at most 2 entries'],
    [{ ...good, ids: ['a', 'a'] }, '/ids', 'must not contain duplicates'],
    [{ ...good, items: [{ id: 'a' }, { id: 'b', 'x/y~z': 1 }] }, '/items/1/x~1y~0z', 'is not known'],
    [[], '', 'must be an object'],
  ])('%j is refused at %s: %s', (body, path, message) => {
    expect(errors(check(body))).toEqual([{ path, message }]);
  });

  test('all mistakes are reported at once, and nothing is changed', () => {
    const body = { name: '', mode: 'c', extra: true, count: 0 };
    expect(errors(check(body)).map(({ path }) => path)).toEqual(['/extra', '/name', '/mode', '/count']);
    expect(check(good)).toEqual({ value: good });
    expect(good).toEqual({ name: 'a', mode: 'b' });
  });
});

describe('a union of objects that one field tells apart', () => {
  const closed = { additionalProperties: false };
  const check = compileBody(
    Type.Object({
      changes: Type.Array(
        Type.Union([
          Type.Object({ op: Type.Enum(['put']), at: Type.Optional(Type.Integer()), what: Type.String() }, closed),
          Type.Object({ op: Type.Enum(['move']), from: Type.Integer(), to: Type.Integer({ minimum: 0 }) }, closed),
          Type.Object({ op: Type.Enum(['drop']), at: Type.Integer() }, closed),
        ]),
      ),
    }),
  );

  test.each([
    [{ op: 'put' }, ['/what is required']],
    [{ op: 'put', what: 5, to: 1 }, ['/to is not known', '/what must be a string']],
    [{ op: 'move', to: -1 }, ['/from is required', '/to must be at least 0']],
    [{ op: 'drop', at: 'x' }, ['/at must be a whole number']],
    [{ op: 'dance' }, ['/op must be one of put, move, drop']],
    [{ at: 1 }, ['/op is required']],
    [5, [' must be an object']],
    [null, [' must be an object']],
  ])('a wrong %j gets only the errors of its own kind', (change, sentences) => {
    const found = errors(check({ changes: [{ op: 'drop', at: 1 }, change] }));
    expect(found.map(({ path, message }) => `${path} ${message}`)).toEqual(
      sentences.map((text) => `/changes/1${text}`),
    );
  });
});

test.each([
  [{ most: 9, extra: 1 }, ['/loudness/extra is not known', '/loudness/most must be at most 5']],
  [-14, ['/loudness must be an object']],
])(
  'a wrong %j where null is a value too gets the errors of that value, and not that it must be null',
  (loudness, sentences) => {
    const given = Type.Object({ most: Type.Integer({ maximum: 5 }) }, { additionalProperties: false });
    const check = compileBody(Type.Object({ loudness: Type.Union([given, Type.Null()]) }));
    expect(errors(check({ loudness })).map(({ path, message }) => `${path} ${message}`)).toEqual(sentences);
    expect(check({ loudness: null })).toEqual({ value: { loudness: null } });
  },
);

describe('texts in a query', () => {
  const check = compileQuery(Type.Object({ q: Type.Optional(Type.String()) }));

  test.each([
    ['q=%00', 'must not contain control characters'],
    ['q=a%0Ab', 'must not contain control characters'],
    ['q=%C2%9B', 'must not contain control characters'],
    ['q=%ff', 'must be percent-encoded UTF-8'],
    ['q=%ED%A0%80', 'must be percent-encoded UTF-8'],
    ['q=100%', 'must be percent-encoded UTF-8'],
    ['q=a&q=b', 'must be a string'],
  ])('%s is refused', (query, message) => {
    expect(errors(check(parseQuery(query)))).toEqual([{ path: '/q', message }]);
  });

  test('a text is taken as it was meant, and an unused parameter is ignored', () => {
    expect(check(parseQuery('q=caf%C3%A9+%F0%9F%98%80%25&r=%ff'))).toMatchObject({ value: { q: 'café 😀%' } });
    expect(check(parseQuery('r=%00'))).toHaveProperty('value');
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
