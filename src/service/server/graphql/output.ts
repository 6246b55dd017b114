/** Builds output types from the schemas of records, so that GraphQL shows the same as REST. Pure: no I/O, no clock. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedOutputType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
} from 'graphql';
import type { TSchema } from 'typebox';
import type { GraphContext } from './relay.ts';
import { DateTime, Labels } from './scalars.ts';

/** Parts of a schema that this module reads. */
interface Shape {
  type?: string;
  format?: string;
  description?: string;
  anyOf?: Shape[];
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
}

type Inner = Exclude<GraphQLOutputType, GraphQLNonNull<never>>;

interface OutputOptions<T> {
  description?: string;
  interfaces?: GraphQLInterfaceType[];
  /** Enums, objects and custom scalars by the names of their properties. */
  types?: Readonly<Record<string, GraphQLNamedOutputType>>;
  /** Properties that are hidden or renamed. */
  omit?: readonly string[];
  /** Cost of properties that differ from the default. */
  costs?: Readonly<Record<string, number>>;
  /** Additional fields, or replacements of properties. */
  fields?: Record<string, GraphQLFieldConfig<T, GraphContext>>;
}

/** Returns the schema of the object in a property, inside null and lists. */
export function innerSchema(schema: TSchema, property: string): TSchema {
  const unwrap = (shape: Shape): Shape =>
    shape.items ? unwrap(shape.items) : shape.anyOf?.[0] ? unwrap(shape.anyOf[0]) : shape;
  return unwrap((schema as Shape).properties?.[property] ?? {}) as TSchema;
}

function findType(name: string, shape: Shape, types: OutputOptions<never>['types'] = {}): GraphQLOutputType {
  const [first, ...others] = shape.anyOf ?? [];
  if (first && others.some(({ type }) => type === 'null')) return innerType(name, first, types);
  return new GraphQLNonNull(innerType(name, shape, types) as never);
}

function innerType(name: string, shape: Shape, types: NonNullable<OutputOptions<never>['types']>): Inner {
  if (shape.items) return new GraphQLList(new GraphQLNonNull(innerType(name, shape.items, types) as never));
  const known = types[name];
  if (known) return known as Inner;
  if (name === 'labels') return Labels;
  if (name === 'id' || /IDs?$/.test(name)) return GraphQLID;
  if (shape.format === 'date-time') return DateTime;
  if (shape.type === 'string') return GraphQLString;
  // More than GraphQL's 32-bit Int holds.
  if (name.endsWith('Bytes')) return GraphQLFloat;
  if (shape.type === 'integer') return GraphQLInt;
  if (shape.type === 'number') return GraphQLFloat;
  if (shape.type === 'boolean') return GraphQLBoolean;
  throw new Error(`No GraphQL type is known for ${name}.`);
}

export function outputType<T>(name: string, schema: TSchema, options: OutputOptions<T> = {}): GraphQLObjectType<T> {
  const { types, omit = [], costs = {}, fields = {}, description, interfaces } = options;
  const { properties = {}, required = [] } = schema as Shape;
  const made = Object.entries(properties).flatMap(([field, shape]) => {
    if (omit.includes(field) || field in fields) return [];
    const type = findType(field, required.includes(field) ? shape : { anyOf: [shape, { type: 'null' }] }, types);
    const cost = costs[field];
    return [
      [field, { type, description: shape.description, ...(cost !== undefined && { extensions: { cost } }) }] as const,
    ];
  });
  return new GraphQLObjectType<T, GraphContext>({
    name,
    description,
    ...(interfaces && { interfaces }),
    fields: { ...Object.fromEntries(made), ...fields },
  });
}
