import { getIntrospectionQuery, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import {
  limitsRule,
  MAX_ALIASES,
  MAX_COST,
  MAX_DEPTH,
  MAX_TOKENS,
  MAX_VARIABLE_DEPTH,
  variablesProblem,
} from '../../../../../src/service/server/graphql/limits.ts';
import { createSchema } from '../../../../../src/service/server/graphql/schema.ts';
import type { Services } from '../../../../../src/service/server/setup/services.ts';

const schema = createSchema({} as unknown as Services);

/** Returns the errors against a query. */
const findErrors = (query: string, variables?: Record<string, unknown>) => {
  const errors = validate(schema, parse(query, { maxTokens: MAX_TOKENS }), [limitsRule(variables)]);
  for (const { extensions } of errors) expect(extensions.code).toBe('validation_failed');
  return errors.map(({ message }) => message).join(' ');
};
const repeat = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

describe('just within its limit a query is taken, just beyond it is refused', () => {
  // `__schema { types {` and `name` are three levels, each `ofType` is one.
  const deep = (levels: number) => {
    const between = levels - 3;
    return `{ __schema { types ${'{ ofType '.repeat(between)} { name } ${'}'.repeat(between)} } }`;
  };

  test('depth, also when it hides in fragments', () => {
    expect(findErrors(deep(MAX_DEPTH))).toBe('');
    expect(findErrors(deep(MAX_DEPTH + 1))).toMatch(/17 levels deep; at most 16/);
    const inFragment = (levels: number) => {
      const between = levels - 3;
      const nested = `${'ofType { '.repeat(between)} name ${'}'.repeat(between)}`;
      return `{ __schema { types { ...T } } } fragment T on __Type { ... { ${nested} } }`;
    };
    expect(findErrors(inFragment(MAX_DEPTH))).toBe('');
    expect(findErrors(inFragment(MAX_DEPTH + 1))).toMatch(/levels deep/);
  });

  test('aliases, each time that a fragment with one is spread', () => {
    expect(findErrors(`{ ${repeat(MAX_ALIASES, (i) => `a${i}: me { id }`)} }`)).toBe('');
    expect(findErrors(`{ ${repeat(MAX_ALIASES + 1, (i) => `a${i}: me { id }`)} }`)).toMatch(/21 aliases; at most 20/);
    const spread = (count: number) => `{ me { ${'...F '.repeat(count)} } } fragment F on User { x: id }`;
    expect(findErrors(spread(MAX_ALIASES))).toBe('');
    expect(findErrors(spread(MAX_ALIASES + 1))).toMatch(/aliases/);
  });

  test('cost: as often as a page may hold', () => {
    // 1 for the list, and for each entry of a page: edges, node and the node's fields.
    const buildCostly = (first: number, fields: number) =>
      `{ streams(first: ${first}) { edges { node { ${'id '.repeat(fields)} } } } }`;
    expect(findErrors(buildCostly(100, 97))).toBe('');
    expect(findErrors(buildCostly(100, 98))).toMatch(/costs 10001; at most 10000/);
    expect(findErrors(buildCostly(10, 900))).toBe('');
  });

  test('cost: a page size that stands in a variable counts, and none is the usual one', () => {
    const query = (rest: string) =>
      `query($n: Int${rest}) { streams(last: $n) { edges { node { ${'id '.repeat(200)} } } } }`;
    expect(findErrors(query(''), { n: 49 })).toBe('');
    expect(findErrors(query(''), { n: 50 })).toMatch(/costs/);
    expect(findErrors(query(' = 50'))).toMatch(/costs/);
    expect(findErrors(query(' = 50'), { n: 5 })).toBe('');
    expect(findErrors(query(''))).toBe('');
    // An argument that is refused later costs no less.
    for (const n of [1_000, -1]) expect(findErrors(query(''), { n }) === '').toBe(n < 0);
  });

  test('cost: mutations and requests to pods', () => {
    const mutations = (count: number) =>
      `mutation { ${repeat(count, (i) => `m${i}: stopStream(id: "str-${i}") { done }`)} }`;
    expect(findErrors(mutations(19))).toBe('');
    expect(findErrors(mutations(20))).toMatch(new RegExp(`at most ${MAX_COST}`));
    expect(findErrors(`{ ${repeat(20, (i) => `s${i}: liveStats(id: "str-${i}") { live }`)} }`)).toBe('');
  });

  test('size: words, names and signs of the text', () => {
    const sized = (tokens: number) => `{ ${'id '.repeat(tokens - 2)} }`;
    expect(() => parse(sized(MAX_TOKENS), { maxTokens: MAX_TOKENS })).not.toThrow();
    expect(() => parse(sized(MAX_TOKENS + 1), { maxTokens: MAX_TOKENS })).toThrow(/more than 2000 tokens/);
  });

  test('depth of the variables, so deep that nothing could walk through them too', () => {
    const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
    expect(variablesProblem(nested(MAX_VARIABLE_DEPTH))).toBeUndefined();
    expect(variablesProblem(nested(MAX_VARIABLE_DEPTH + 1))?.[0]?.message).toMatch(/deeper than 16 levels/);
    expect(variablesProblem(nested(100_000))).toHaveLength(1);
    expect(variablesProblem(undefined)).toBeUndefined();
  });
});

describe('queries that must stay possible', () => {
  test('the introspection query of graphql-js, with everything in it', () => {
    const all = { descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true };
    expect(findErrors(getIntrospectionQuery({ ...all, inputValueDeprecation: true }))).toBe('');
  });

  test('a full page of streams with all that they are', () => {
    const issue = 'readiness { ready issues { code message fix field since } }';
    const own = `id name state ready quality framerate destinationID destinationIDs videoUploadObjectID playlistIDs
      audioPlaylistIDs scheduleStartAt scheduleEndAt recurrence { cron timeZone durationSeconds } nextStartAt liveSince
      degraded { code message since } createdAt`;
    const query = `{ streams(first: 100) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { ${own} ${issue} } } } }`;
    expect(findErrors(query)).toBe('');
  });
});

describe('a query made to be slow is refused quickly', () => {
  test('fragments that spread each other twice, which would be two to the fortieth fields', () => {
    const fragments = repeat(40, (i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} }`);
    expect(findErrors(`{ me { ...F0 } } ${fragments} fragment F40 on User { id }`)).toMatch(/costs/);
  });

  test('fragments in a circle', () => {
    const query = '{ me { ...A } } fragment A on User { id ...B } fragment B on User { ...A }';
    expect(findErrors(query)).toBe('');
    expect(validate(schema, parse(query), specifiedRules)[0]?.message).toMatch(/Cannot spread fragment/);
  });
});
