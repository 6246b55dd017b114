/** Tests that no tool has a schema that a common client or model provider refuses. */
import { expect, test } from 'vitest';
import { toPortableInput, toPortableOutput } from '../../../../../src/service/server/mcp/portable-schema.ts';
import { describedTools } from '../../../../../src/service/server/mcp/tools.ts';

type Json = Record<string, unknown>;
const KNOWN = new Set([
  ...['type', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'anyOf', 'default'],
  ...['format', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
]);
const TYPES = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

function findFaults(schema: Json, where: string): string[] {
  const {
    type,
    items,
    properties = {},
    anyOf,
    enum: values,
  } = schema as {
    type?: string;
    items?: Json;
    properties?: Record<string, Json>;
    anyOf?: Json[];
    enum?: unknown[];
  };
  return [
    ...Object.keys(schema).flatMap((keyword) => (KNOWN.has(keyword) ? [] : [`${where}: ${keyword}`])),
    ...(anyOf || TYPES.has(type ?? '') ? [] : [`${where}: type ${JSON.stringify(type)}`]),
    ...(values && (type !== 'string' || values.some((one) => typeof one !== 'string')) ? [`${where}: enum`] : []),
    ...(type === 'array' && !items ? [`${where}: no items`] : []),
    ...(items ? findFaults(items, `${where}[]`) : []),
    ...Object.entries(properties).flatMap(([name, one]) => [
      ...(/^[a-zA-Z0-9_.-]{1,64}$/.test(name) ? [] : [`${where}.${name}: name`]),
      ...findFaults(one, `${where}.${name}`),
    ]),
    ...(anyOf ?? []).flatMap((one, n) => findFaults(one, `${where}|${n}`)),
  ];
}

const tools = [...describedTools().values()].map(({ listed }) => listed);

test.each(tools.map((one) => [one.name, one] as const))(
  '%s takes arguments that each client can describe',
  (name, { inputSchema }) => {
    expect(name).toMatch(/^[a-z_]{1,64}$/);
    expect(inputSchema).toMatchObject({ type: 'object' });
    expect(inputSchema).not.toHaveProperty('anyOf');
    expect(findFaults(inputSchema as Json, name)).toEqual([]);
  },
);

test('the rules find what clients refuse', () => {
  const odd = {
    type: 'object',
    properties: { a: { enum: ['1', 1] }, b: { type: ['string', 'null'] }, c: { type: 'array' } },
  };
  expect(findFaults(odd, 'x')).toEqual([
    'x.a: type undefined',
    'x.a: enum',
    'x.b: type ["string","null"]',
    'x.c: no items',
  ]);
});

test('null is no value of an argument, which may be left out, and one of results', () => {
  const text = { anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }], description: 'A text.' };
  expect(toPortableInput(text)).toEqual({ type: 'string', format: 'uri', description: 'A text.' });
  expect(toPortableOutput(text)).toEqual({ type: ['string', 'null'] });
  const list = { anyOf: [{ type: 'array', items: text }, { type: 'null' }] };
  expect(toPortableOutput(list)).toEqual({ type: ['array', 'null'], items: { type: ['string', 'null'] } });
  const choice = { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] };
  expect(toPortableOutput(choice)).toEqual({ type: ['string', 'null'] });
});

test('the fields of objects inside others are left out of results where they lie deep', () => {
  const object = (properties: object) => ({ type: 'object', properties, additionalProperties: false });
  const deep = object({ page: object({ items: { type: 'array', items: object({ id: { type: 'string' } }) } }) });
  expect(toPortableOutput(deep)).toEqual(
    object({ page: object({ items: { type: 'array', items: { type: 'object' } } }) }),
  );
});

test('a record that a tool of its toolset reads has its fields listed there alone', () => {
  const findLayers = (name: string) => {
    const { properties } = (describedTools().get(name)?.listed.outputSchema ?? {}) as {
      properties?: Record<string, Json>;
    };
    return properties?.layers?.items;
  };
  expect(findLayers('get_scene')).toHaveProperty('properties');
  expect(findLayers('update_scene')).toEqual({ type: 'object' });
});

test('a number stays an argument where its text is listed', () => {
  const { prepare } = describedTools().get('update_stream') ?? {};
  expect(() => prepare?.({ id: 'str-1', framerate: 30 })).not.toThrow();
  expect(() => prepare?.({ id: 'str-1', framerate: '30' })).not.toThrow();
  expect(() => prepare?.({ id: 'str-1', framerate: 31 })).toThrow('/framerate');
});

test('the list stays small: each conversation begins with it', () => {
  expect(JSON.stringify(tools).length).toBeLessThan(146_280);
});
