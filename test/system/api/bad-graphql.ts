/**
 * Derives every wrong mutation from the API's description, since inputs come from the same schemas as bodies of REST (bad-input.ts); and
 * wrong arguments of every list.
 */
import { type GraphQLField, type GraphQLSchema, getNamedType, isRequiredArgument } from 'graphql';
import type { Json, OpenApi } from '../../../src/service/server/openapi/document.ts';
import { listWrongValues, resolveSchema, type Schema, type Wrong, writeJson } from '../../kit/make/bad-input.ts';

export interface BadOperation {
  /** `createStream: /name is 5`. */
  what: string;
  /** The whole body, as JSON. */
  body: string;
  /** A part of the path in the error: the argument, or the field of the input. */
  field: string;
}

type Field = GraphQLField<unknown, unknown>;

/** `mutation ($id: ID!, …) { name(id: $id, …) { __typename } }` */
function buildDocument(kind: 'query' | 'mutation', { name, args }: Field): string {
  const variables = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const given = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  return `${kind} (${variables}) { ${name}(${given}) { __typename } }`;
}

/** Converts a change of REST, `{ op: 'insert', index, items }`, to GraphQL's `{ insert: { index, items } }`. */
function reshaped(value: unknown): unknown {
  const { changes } = value as Json;
  if (!Array.isArray(changes)) return value;
  const change = (one: unknown) => {
    const { op, ...rest } = (one ?? {}) as Json;
    return typeof op === 'string' ? { [op]: rest } : one;
  };
  return { ...(value as Json), changes: changes.map(change) };
}

/** Returns whether a field is required, in any object of a union. */
function isNeeded(schema: Schema, [name = '', ...deeper]: string[]): boolean {
  const among = schema.anyOf ?? [schema];
  if (/^\d+$/.test(name)) return deeper.length === 0 || (schema.items !== undefined && isNeeded(schema.items, deeper));
  const having = among.filter(({ properties }) => properties?.[name] !== undefined);
  if (deeper.length === 0) return having.every(({ required }) => required?.includes(name));
  return having.every(({ properties }) => isNeeded(properties?.[name] ?? {}, deeper));
}

/** GraphQL treats null as an absent value, a whole number as an id and a single value as a list of one, and ignores an unused variable. */
const isWrong = (schema: Schema, hasInput: boolean, { what, field }: Wrong): boolean =>
  /ID is -1$|objectIDs(\/0)? is (-1|"text"|"5")$/.test(what)
    ? false
    : what.endsWith(' is null')
      ? isNeeded(schema, field.split('/').slice(1))
      : hasInput || !/^body|^ has | appears twice$/.test(what);

/** `ids` has one existing id for each noun. `body` returns a valid input for an example of the description. */
export function badMutations(
  schema: GraphQLSchema,
  doc: OpenApi,
  ids: Record<string, string>,
  body: (example: unknown) => unknown,
): BadOperation[] {
  const mutations = schema.getMutationType()?.getFields() ?? {};
  return Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.values(item).flatMap(({ operationId, requestBody }) => {
      const mutation = mutations[operationId];
      const media = requestBody?.content['application/json'];
      if (!mutation || !media) return [];
      const query = buildDocument('mutation', mutation);
      const id = path.includes('{id}') ? { id: ids[path.split('/')[2] ?? ''] } : {};
      const hasInput = mutation.args.some(({ name }) => name === 'input');
      const variables = (input: unknown) =>
        hasInput ? { ...id, input: reshaped(input) } : { ...id, ...(input as Json) };
      const shape = resolveSchema(doc, media.schema);
      const put = (input: unknown) => writeJson({ query, variables: variables(input) });
      return listWrongValues(shape, body(media.example), '', put)
        .filter((wrong) => isWrong(shape, hasInput, wrong))
        .map(({ text, what, field }) => ({
          what: `${operationId}: ${what}`,
          body: text,
          field: field.split('/')[1] ?? '',
        }));
    }),
  );
}

const WRONG: Record<string, unknown[]> = {
  Int: ['x', '5', 1.5, -1, 101, 2 ** 31, true, [], {}],
  Cursor: ['nonsense', 5, true, [], {}, '\u0000', '__proto__', 'x'.repeat(5000)],
  Where: [
    ...[5, 'x', [5], { nothing: 1 }, { name: 5 }, { name: { contains: 5 } }, { name: { eq: ['a'] } }],
    ...[{ createdAt: { lt: 'noon' } }, { or: { nothing: 1 } }, { id: { in: [{}] } }],
    { or: Array.from({ length: 200 }, () => ({ name: { eq: 'a' } })) },
  ],
  Order: [5, 'NAME', {}, { field: 'NOTHING' }, { field: 'NAME', direction: 'SIDEWAYS' }, { field: null }],
};
const getKind = (type: string) => (/Where/.test(type) ? 'Where' : /Order$/.test(type) ? 'Order' : type);

/** Returns wrong values for each argument of each list, one at a time. */
export function badLists(schema: GraphQLSchema, ids: Record<string, string>): BadOperation[] {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  return fields
    .filter(({ type }) => /Connection$/.test(getNamedType(type).name))
    .flatMap((field) => {
      const query = buildDocument('query', field);
      const noun = ['playlist', 'endpoint'].find((one) => field.name.startsWith(one)) ?? 'stream';
      const id = ids[`${noun}s`];
      const needed = field.args.filter(isRequiredArgument).map(({ name }) => [name, id]);
      return field.args.flatMap(({ name, type }) =>
        (WRONG[getKind(getNamedType(type).name)] ?? []).map((value) => ({
          what: `${field.name}: ${name} is ${JSON.stringify(value).slice(0, 60)}`,
          body: JSON.stringify({ query, variables: { ...Object.fromEntries(needed), [name]: value } }),
          field: name,
        })),
      );
    });
}
