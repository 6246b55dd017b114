/** Tests repeated documents: their cache, and that it lets nothing through. */
import { buildSchema, GraphQLError, specifiedRules, type ValidationRule } from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { createDocuments } from '../../../../../src/service/server/graphql/documents.ts';

const schema = buildSchema('type Query { a: Int, b: Int }');
const nothing: ValidationRule = () => ({});
const kind = 'OperationDefinition';
const refusing: ValidationRule = (context) => ({
  [kind]: (node) => void context.reportError(new GraphQLError('too much', { nodes: node })),
});

describe('a document that was sent before', () => {
  test('is not read again', () => {
    const documents = createDocuments();
    expect(documents.parse('{ a }')).toBe(documents.parse('{ a }'));
    expect(documents.parse('{ b }')).not.toBe(documents.parse('{ a }'));
  });

  test('is checked against the schema once, and each time against the request’s own values', () => {
    const documents = createDocuments();
    const once = vi.fn(nothing);
    const document = documents.parse('{ a }');
    expect(documents.validate(schema, document, [nothing, once])).toEqual([]);
    expect(documents.validate(schema, document, [nothing, once])).toEqual([]);
    expect(once).toHaveBeenCalledTimes(1);
    expect(documents.validate(schema, document, [refusing, once])).toMatchObject([{ message: 'too much' }]);
  });

  test('is refused each time when it is wrong', () => {
    const documents = createDocuments();
    for (let n = 0; n < 2; n++) {
      const errors = documents.validate(schema, documents.parse('{ c }'), [nothing, ...specifiedRules]);
      expect(errors).toMatchObject([{ message: expect.stringContaining('"c"') }]);
      expect(() => documents.parse('{ a')).toThrow(GraphQLError);
    }
  });

  test('is not kept when it is long, nor when many others came after it', () => {
    const documents = createDocuments();
    const long = `{ a } #${'x'.repeat(10_000)}`;
    expect(documents.parse(long)).not.toBe(documents.parse(long));
    const first = documents.parse('{ a }');
    for (let n = 0; n < 25; n++) documents.parse(`{ b } #${n} ${'x'.repeat(9_000)}`);
    expect(documents.parse('{ a }')).not.toBe(first);
  });
});
