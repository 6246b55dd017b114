/** Builds GraphQL root fields from declared operations: reads of one record, lists, and mutations with inputs and payloads. */
import { GraphQLBoolean, GraphQLID, GraphQLObjectType } from 'graphql';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Connection } from '../../lib/list-page.ts';
import { type Call, type GraphqlUse, type OperationOutput, readRoute } from '../../lib/operation.ts';
import { compileBody } from '../http/validation.ts';
import type { AnyOperation, ServicesOf } from '../operations/list.ts';
import { DeletePayload, inputType, mutationField, type Named, payloadType, plain } from './input.ts';
import {
  byIdField,
  connectionField,
  type GraphContext,
  type GraphqlField,
  type GraphqlFields,
  type OrderFields,
} from './relay.ts';
import { required } from './scalars.ts';
import type { Where } from './where.ts';

/** Types of one noun that the schemas of its records do not define. */
export interface NounTypes {
  /** Result types by the titles of their schemas. */
  outputs: Readonly<Record<string, GraphQLObjectType>>;
  /** Input enums and objects by the names of their properties. */
  inputs?: Named;
  /** Filters and orders of lists by the titles of their items. */
  lists?: Readonly<Record<string, { where: Where<never>; order?: OrderFields<string> }>>;
}

/** Builds the root fields of the `operations` that GraphQL shows; `services` are their dependencies. */
export function operationFields<const Declared extends readonly AnyOperation[]>(
  operations: Declared,
  services: ServicesOf<Declared>,
  types: NounTypes,
): { queries: GraphqlFields; mutations: GraphqlFields } {
  const payloads = createPayloads(types, operations);
  const fields = { queries: {} as GraphqlFields, mutations: {} as GraphqlFields };
  for (const operation of operations) {
    const { graphql } = operation;
    if (!graphql) continue;
    const make = { operation, graphql, types, run: runWith(operation, services) };
    if (readRoute(operation).method !== 'GET') fields.mutations[operation.id] = mutation(make, payloads);
    else fields.queries[graphql.field ?? readName(operation.id)] = query(make);
  }
  return fields;
}

interface Making {
  operation: AnyOperation;
  graphql: GraphqlUse;
  types: NounTypes;
  run: (context: GraphContext, given: Partial<Omit<Call, 'where'>> & { where?: unknown }) => unknown;
}

/** Returns `destination` for getDestination, `destinations` for listDestinations. */
const readName = (id: string): string => lowerFirst(id.replace(/^(get|list)/, ''));
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const readTitle = (schema: TSchema): string => String((schema as { title?: string }).title);

function runWith({ id, run }: AnyOperation, services: unknown): Making['run'] {
  if (!run) throw new Error(`The operation ${id} has no service to call.`);
  const nothing = { id: '', path: {}, query: {}, input: {}, page: {}, where: undefined, watch: {} };
  return ({ principal }, given) => {
    const call = { ...nothing, principal, accountId: principal.accountId, ...given };
    return run(services as never, call as never);
  };
}

function outputType({ outputs }: NounTypes, schema: TSchema): GraphQLObjectType {
  const type = outputs[readTitle(schema)];
  if (!type) throw new Error(`GraphQL has no type for ${readTitle(schema)}.`);
  return type;
}

function query({ operation, graphql, types, run }: Making): GraphqlField {
  const { id, object, http, output, path = {} } = operation;
  const { description, cost } = graphql;
  const hasId = http.includes('{id}');
  if (output.kind === 'page') {
    const list = types.lists?.[readTitle(output.item)];
    if (!list) throw new Error(`GraphQL has no filter for ${readTitle(output.item)}.`);
    const listing = listArguments(id, graphql.query ?? {}, types.inputs);
    return connectionField<never, string>({
      type: outputType(types, output.item),
      operation: id,
      description,
      ...list,
      args: {
        ...(hasId && { id: { type: required(GraphQLID), description: `${object?.idName}.` } }),
        ...listing.args,
      },
      ...(cost !== undefined && { cost }),
      list: (context, page, where, args) => {
        const call = { id: String(args.id ?? ''), page: page as never, query: listing.read(args) as never, where };
        return run(context, call) as Connection<never>;
      },
    });
  }
  const schemaOfRecord = readRecordSchema(output);
  if (!schemaOfRecord) throw new Error(`The operation ${id} is not a query.`);
  const type = outputType(types, schemaOfRecord);
  if (!hasId)
    return {
      type: graphql.isNullable ? type : required(type),
      description,
      resolve: (_source, _args, context) => {
        context.allow(id);
        return run(context, {});
      },
    };
  const schema = Type.Object({ ...path, ...(graphql.query ?? operation.query) });
  return byIdField({
    type,
    operation: id,
    description,
    ...(cost !== undefined && { cost }),
    args: buildArguments(id, schema, types.inputs),
    get: (context, objectId, args) => {
      const given = plain(args) as never;
      return run(context, { id: objectId, path: given, query: given });
    },
  });
}

/** Builds the arguments of a list from parameters of REST. `read` throws `validation_failed` for a wrong one. */
export function listArguments<Query extends TProperties>(id: string, query: Query, inputs?: Named) {
  const asked = Type.Object(query);
  const check = compileBody(asked);
  return {
    args: buildArguments(id, asked, inputs),
    read(args: Readonly<Record<string, unknown>>): Static<TObject<Query>> {
      const given = Object.entries(args).filter(([name]) => Object.hasOwn(query, name));
      const checked = check(plain(Object.fromEntries(given)));
      if ('error' in checked) throw checked.error;
      return checked.value as Static<TObject<Query>>;
    },
  };
}

/** A record that REST returns in other forms as well is one in GraphQL. */
function readRecordSchema(output: OperationOutput): TSchema | undefined {
  if (output.kind === 'record') return output.schema;
  return output.kind === 'content' ? output.types['application/json'] : undefined;
}

/** Converts the fields of a schema to arguments. */
const buildArguments = (id: string, schema: TObject, inputs: Named | undefined) =>
  Object.fromEntries(
    Object.values(inputType(`${id}Args`, schema, inputs).getFields()).map(({ name, type, description }) => [
      name,
      { type, description },
    ]),
  );

function mutation({ operation, graphql, types, run }: Making, payloads: Payloads): GraphqlField {
  const { id, http, input, output, query } = operation;
  const { description, isFlat = false, inputName } = graphql;
  const args: TProperties = graphql.query ?? query ?? {};
  const schema = isFlat ? (input as TObject) : Type.Object(args);
  const hasArgs = isFlat || Object.keys(args).length > 0;
  const { type, show } = payloads(output, graphql.payload);
  return mutationField<TSchema, TSchema>({
    operation: id,
    description,
    type,
    withId: http.includes('{id}'),
    ...(input &&
      !isFlat && {
        input: { type: inputType(inputName ?? `${readTitle(input)}Input`, input, types.inputs), schema: input },
      }),
    ...(hasArgs && { args: { schema, ...(types.inputs && { named: types.inputs }) } }),
    run: async (context, given) => {
      const call = { id: given.id, query: given.args as never, input: (isFlat ? given.args : given.input) as never };
      return show(await run(context, call), given.id);
    },
  });
}

type Payloads = ReturnType<typeof createPayloads>;

/** Creates the payloads of mutations: mutations with the same result share one type. */
function createPayloads(types: NounTypes, operations: readonly AnyOperation[]) {
  const made = new Map<string, GraphQLObjectType>();
  const once = (name: string, make: () => GraphQLObjectType): GraphQLObjectType => {
    const type = made.get(name) ?? make();
    made.set(name, type);
    return type;
  };
  return (output: OperationOutput, field?: string) => {
    switch (output.kind) {
      case 'record':
      case 'created': {
        const { schema, changed } = { changed: undefined, ...output };
        const record = changed ?? schema;
        const title = readTitle(record);
        const name = field ?? lowerFirst(title);
        const type = once(`${title}Payload`, () =>
          payloadType(`${title}Payload`, name, outputType(types, record), findEffect(operations, record)),
        );
        return { type, show: (result: unknown) => ({ ...(changed && (result as object)), [name]: result }) };
      }
      case 'progress': {
        const type = once(`${readTitle(output.schema)}Progress`, () =>
          progressPayload(output.field, outputType(types, output.schema)),
        );
        return { type, show: (result: unknown) => result as Record<string, unknown> };
      }
      case 'deleted':
        return { type: DeletePayload, show: (result: unknown, id: string) => ({ id, done: result !== false }) };
      default:
        throw new Error(`No mutation returns ${output.kind}.`);
    }
  };
}

/** The fields that changes of a record return beside it. All mutations with this record share a payload, so they may be null. */
function findEffect(operations: readonly AnyOperation[], record: TSchema): TProperties {
  const change = operations.find(({ output }) => output.kind === 'record' && output.changed === record);
  if (change?.output.kind !== 'record') return {};
  const { properties } = record as TObject;
  const effect = Object.entries((change.output.schema as TObject).properties);
  return Object.fromEntries(
    effect.flatMap(([name, field]) => (name in properties ? [] : [[name, Type.Optional(field)]])),
  );
}

const progressPayload = (field: string, type: GraphQLObjectType): GraphQLObjectType =>
  new GraphQLObjectType({
    name: `${type.name}Progress`,
    fields: {
      [field]: { type: required(type) },
      done: { type: required(GraphQLBoolean), description: 'False while the change is still in progress.' },
    },
  });
