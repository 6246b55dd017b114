/**
 * Builds the inputs of mutations from the schemas of REST's bodies, and validates with them, so that both return the same message
 * for a mistake. The path of an error is a JSON pointer into the mutation's arguments, e.g. `/input/destinationID`.
 */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  type GraphQLNamedInputType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { AppError, type FieldError, validationFailed } from '../../lib/errors.ts';
import { compileBody } from '../http/validation.ts';
import type { Operation } from '../operations/list.ts';
import { outputType } from './output.ts';
import type { GraphContext, GraphqlField } from './relay.ts';
import { DateTime, Labels, required } from './scalars.ts';

/** Parts of a schema that this module reads. */
interface Shape {
  type?: string;
  format?: string;
  description?: string;
  items?: Shape;
  anyOf?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
}

export type Named = Record<string, GraphQLNamedInputType>;

type Nullable = ConstructorParameters<typeof GraphQLNonNull<GraphQLNamedInputType | GraphQLList<GraphQLInputType>>>[0];

function findType(name: string, shape: Shape, named: Named): Nullable {
  if (shape.items) return new GraphQLList(new GraphQLNonNull(findType(name, shape.items, named)));
  const [first, ...others] = shape.anyOf ?? [];
  if (first && others.some(({ type }) => type === 'null')) return findType(name, first, named);
  const known = named[name];
  if (known) return known;
  if (name === 'labels') return Labels;
  if (/IDs?$/.test(name)) return GraphQLID;
  if (shape.format === 'date-time') return DateTime;
  if (shape.type === 'string') return GraphQLString;
  if (shape.type === 'integer') return GraphQLInt;
  if (shape.type === 'number') return GraphQLFloat;
  if (shape.type === 'boolean') return GraphQLBoolean;
  throw new Error(`No GraphQL type is known for ${name}.`);
}

/** Builds the input type of a TypeBox object; `named` provides its enums and objects by the names of their properties. */
export function inputType(name: string, schema: TSchema, named: Named = {}): GraphQLInputObjectType {
  const { properties = {}, required: needed = [], description } = schema as Shape;
  const fields = Object.entries(properties).map(([field, shape]): [string, GraphQLInputFieldConfig] => {
    const type = findType(field, shape, named);
    return [field, { type: needed.includes(field) ? required(type) : type, description: shape.description }];
  });
  return new GraphQLInputObjectType({ name, description, fields: Object.fromEntries(fields) });
}

const allowsNull = ({ anyOf = [] }: Shape = {}): boolean => anyOf.some(({ type }) => type === 'null');

/**
 * Converts to JSON. null counts as missing, since many clients send it for absent values; only where the schema has it, it is the value
 * that removes a field.
 */
export function plain(value: unknown, { properties = {} }: Shape = {}): unknown {
  if (Array.isArray(value)) return value.map((part) => plain(part));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => {
      if (part === null && allowsNull(properties[key])) return [[key, null]];
      return part === null || part === undefined ? [] : [[key, plain(part)]];
    }),
  );
}

/** Services report paths within their input; clients pass that as the argument `input`. */
function underInput(error: unknown): unknown {
  if (!(error instanceof AppError) || error.extras.errors === undefined) return error;
  const fields = error.extras.errors as FieldError[];
  const errors = fields.map(({ path, message }) => ({ path: `/input${path}`, message }));
  if (error.code === 'validation_failed') return validationFailed(errors);
  return new AppError(error.code, error.message, { extras: { ...error.extras, errors } });
}

/** Cost of a mutation: that of a page of twenty with all fields. */
const COST = 500;

const NO_INPUT = Type.Object({});

/** Builds a mutation: schemas also validate `args` beside `id` and `input`. */
export function mutationField<
  Input extends TSchema = typeof NO_INPUT,
  More extends TSchema = typeof NO_INPUT,
>(options: {
  operation: Operation;
  description: string;
  type: GraphQLObjectType;
  /** The mutation takes the id of an existing object. */
  withId?: boolean;
  input?: { type: GraphQLInputObjectType; schema: Input };
  args?: { schema: More; named?: Named };
  run: (
    context: GraphContext,
    given: { id: string; input: Static<Input>; args: Static<More> },
  ) => Promise<Record<string, unknown>>;
}): GraphqlField {
  const { operation, description, type, withId, input, args, run } = options;
  const checkInput = compileBody(input?.schema ?? NO_INPUT);
  const checkArgs = compileBody(args?.schema ?? NO_INPUT);
  const checked = (check: typeof checkInput, value: unknown, schema?: TSchema): never => {
    const result = check(plain(value, schema as Shape | undefined));
    if ('error' in result) throw result.error;
    return result.value as never;
  };
  const more = args ? inputType(`${operation}Args`, args.schema, args.named).getFields() : {};
  return {
    // Nullable: a failure must not hide earlier results of the same request.
    type,
    description,
    extensions: { cost: COST },
    args: {
      ...(withId ? { id: { type: required(GraphQLID) } } : {}),
      ...(input ? { input: { type: required(input.type) } } : {}),
      ...Object.fromEntries(
        Object.values(more).map((arg) => [arg.name, { type: arg.type, description: arg.description }]),
      ),
    },
    resolve: async (_source, { id, input: given, ...rest }, context) => {
      context.allow(operation);
      const others = checked(checkArgs, rest);
      try {
        return await run(context, {
          id: String(id ?? ''),
          input: checked(checkInput, given ?? {}, input?.schema),
          args: others,
        });
      } catch (error) {
        throw input ? underInput(error) : error;
      }
    },
  };
}

/** Payload of a write: the object after it, and the fields of `others`. */
export const payloadType = (
  name: string,
  field: string,
  type: GraphQLObjectType,
  others: TProperties = {},
): GraphQLObjectType => outputType(name, Type.Object(others), { fields: { [field]: { type: required(type) } } });

export const DeletePayload = new GraphQLObjectType({
  name: 'DeletePayload',
  fields: {
    id: { type: required(GraphQLID), description: 'Id of the deleted object.' },
    done: { type: required(GraphQLBoolean), description: 'False while the stream is still going off air.' },
  },
});
