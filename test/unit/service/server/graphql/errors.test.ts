import fc from 'fast-check';
import { type ExecutionResult, execute, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { variableErrors, withoutValues } from '../../../../../src/service/server/graphql/errors.ts';
import { createSchema } from '../../../../../src/service/server/graphql/schema.ts';
import type { Services } from '../../../../../src/service/server/setup/services.ts';

const schema = createSchema({} as unknown as Services);
const KEY = 'k3y-4711';

/** Returns all of graphql-js's errors about a request before its execution. */
function listErrors(query: string, variableValues: Record<string, unknown> = {}): string[] {
  try {
    const document = parse(query);
    const errors = validate(schema, document, specifiedRules);
    if (errors.length > 0) return errors.map(({ message }) => message);
    const { errors: found = [] } = execute({ schema, document, variableValues }) as ExecutionResult;
    return found.map(({ message }) => message);
  } catch (error) {
    return [(error as Error).message];
  }
}

describe('graphql-js’s errors reach clients without the values in them', () => {
  const mutation = (input: string) => `mutation { createDestination(input: ${input}) { destination { id } } }`;
  test.each([
    ['an unknown field', mutation(`{ name: "a", rtmpUrl: "b", rtmpKey: "${KEY}", nope: 1 }`)],
    ['a field whose name is nearly known', mutation(`{ name: "a", rtmpUrl: "b", rtmpKey: "${KEY}", nam: 1 }`)],
    ['a missing field', mutation(`{ rtmpUrl: "b", rtmpKey: "${KEY}" }`)],
    ['a list instead of an object', mutation(`["${KEY}"]`)],
    ['an object instead of a text', mutation(`{ name: "a", rtmpUrl: "b", rtmpKey: { it: "${KEY}" } }`)],
    ['a text where a number belongs', `{ streams(first: "${KEY}") { totalCount } }`],
    ['a text where a value of an enum belongs', `{ streams(where: { state: { eq: "${KEY}" } }) { totalCount } }`],
    ['a text where none belongs', `{ "${KEY}" }`],
    ['a block of text where none belongs', `{ me { id """${KEY} "quoted" """ } }`],
  ])('%s', (_what, query) => {
    const messages = listErrors(query);
    expect(messages.join()).toContain(KEY);
    expect(messages.map(withoutValues).join()).not.toContain(KEY);
  });

  test('also where the value is in a variable, in any context', () => {
    const query =
      'mutation($input: DestinationCreateInput!) { createDestination(input: $input) { destination { id } } }';
    const input = fc.record(
      {
        name: fc.oneof(fc.constant(KEY), fc.integer()),
        rtmpUrl: fc.oneof(fc.constant([KEY]), fc.constant(null)),
        rtmpKey: fc.oneof(fc.constant({ 'a "quote": found': KEY }), fc.constant(`${KEY}\n`)),
        more: fc.constant(`found: ${KEY}`),
      },
      { requiredKeys: ['rtmpKey'] },
    );
    fc.assert(
      fc.property(input, (value) => {
        const messages = listErrors(query, { input: value });
        expect(messages.map(withoutValues).join()).not.toContain(KEY);
        expect(JSON.stringify(messages.map(variableErrors))).not.toContain(KEY);
        for (const message of messages) expect(variableErrors(message)?.[0]?.path).toMatch(/^\/input/);
      }),
    );
  });

  test('the known cause of the mistake stays', () => {
    expect(withoutValues('Cannot query field "nam" on type "User". Did you mean "name"?')).toMatch(
      /Did you mean "name"/,
    );
    expect(withoutValues('Int cannot represent non-integer value: "x"')).toBe(
      'Int cannot represent non-integer value.',
    );
  });
});
