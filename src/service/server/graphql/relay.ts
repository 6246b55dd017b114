/**
 * Builds Relay's connections and nodes (https://relay.dev/graphql/connections.htm,
 * https://relay.dev/graphql/objectidentification.htm) from the lists and records of services.
 */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLObjectType,
} from 'graphql';
import { AppError, type ErrorCode, type FieldError, validationFailed } from '../../lib/errors.ts';
import type { ListArgs } from '../../lib/list-page.ts';
import { type Connection, DEFAULT_PAGE, MAX_PAGE } from '../../lib/list-page.ts';
import { type ListWords, listSorts } from '../../lib/paging/noun-list.ts';
import type { Principal } from '../../lib/scopes.ts';
import type { Operation } from '../operations/list.ts';
import { Cursor, enumType, listType, required } from './scalars.ts';
import type { Where } from './where.ts';

export type GraphContext = {
  principal: Principal;
  /** Throws `insufficient_scope` if the principal may not run it. */
  allow(operation: Operation): void;
};

export type GraphqlField = GraphQLFieldConfig<unknown, GraphContext>;
export type GraphqlFields = Record<string, GraphqlField>;

/** Fields that each noun adds to the schema. */
export interface NounFields {
  queries: GraphqlFields;
  mutations: GraphqlFields;
  /** Returns the record of a node by its id, with its `__typename`. Throws `<noun>_not_found`. */
  node(context: GraphContext, id: string): unknown;
}

/** Reads objects whose ids all begin with `prefix`. */
interface NodeReader<T> {
  prefix: string;
  type: string;
  operation: Operation;
  notFound: ErrorCode;
  get(context: GraphContext, id: string): Promise<T>;
}

/** Reads `node` of a kind that needs a scope of its own. It may get any id, so an id of another kind is not found instead of forbidden. */
export const createNodeReader =
  <T extends object>({ prefix, type, operation, notFound, get }: NodeReader<T>): NounFields['node'] =>
  (context, id) => {
    if (!id.startsWith(`${prefix}-`)) throw new AppError(notFound, `The account has no ${type} ${id.slice(0, 100)}.`);
    context.allow(operation);
    return get(context, id).then((one) => ({ __typename: type, ...one }));
  };

export const Node = new GraphQLInterfaceType({
  name: 'Node',
  description: 'An object with an id of its own, by which it can be read.',
  fields: { id: { type: required(GraphQLID) } },
});

const PageInfo = new GraphQLObjectType({
  name: 'PageInfo',
  fields: {
    hasNextPage: { type: required(GraphQLBoolean) },
    hasPreviousPage: { type: required(GraphQLBoolean) },
    startCursor: { type: Cursor },
    endCursor: { type: Cursor },
  },
});

interface Given<By extends string> {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  orderBy?: { field: By; direction: 'ASC' | 'DESC' } | null;
  where?: Record<string, unknown> | null;
}

/** Validates the arguments of a list. */
function pageArgs<By extends string>({ first, after, last, before, orderBy }: Given<By>): ListArgs<By> {
  const wrong = Object.entries({ first, last }).flatMap(([name, size]): FieldError[] =>
    typeof size === 'number' && (size < 0 || size > MAX_PAGE)
      ? [{ path: `/${name}`, message: `must be from 0 to ${MAX_PAGE}` }]
      : [],
  );
  if (wrong.length > 0) throw validationFailed(wrong);
  return {
    first: first ?? undefined,
    last: last ?? undefined,
    after,
    before,
    afterPath: '/after',
    orderBy: orderBy ? { by: orderBy.field, descending: orderBy.direction === 'DESC' } : undefined,
  };
}

const OrderDirection = enumType('OrderDirection', ['ASC', 'DESC']);

/** Orders of a list by their names in GraphQL. */
export type OrderFields<By extends string> = Record<string, { value: By; description?: string }>;

const CREATED_AT: OrderFields<string> = { CREATED_AT: { value: 'createdAt' } };
const NOUN_ORDER: OrderFields<string> = { ...CREATED_AT, NAME: { value: 'name', description: 'Case-insensitive.' } };

const toConstantCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** Returns the orders of the list of a noun. */
export const nounOrder = (list: ListWords): OrderFields<string> => ({
  ...CREATED_AT,
  ...Object.fromEntries(
    listSorts(list).map((name): [string, OrderFields<string>[string]] => {
      const meaning = list.sorts?.[name]?.meaning;
      const description = meaning === undefined ? NOUN_ORDER[toConstantCase(name)]?.description : `Order: ${meaning}.`;
      return [toConstantCase(name), { value: name, ...(description !== undefined && { description }) }];
    }),
  ),
});

const orderInput = (name: string, values: OrderFields<string>) =>
  new GraphQLInputObjectType({
    name: `${name}Order`,
    fields: {
      direction: { type: required(OrderDirection), default: { value: 'ASC' } },
      field: {
        type: required(new GraphQLEnumType({ name: `${name}OrderField`, values })),
      },
    },
  });

export function connectionField<Node, By extends string = string>(options: {
  type: GraphQLObjectType;
  operation: Operation;
  description: string;
  where: Where<Node>;
  /** Orders by creation time or name by default. */
  order?: OrderFields<By>;
  args?: GraphQLFieldConfig<unknown, GraphContext>['args'];
  cost?: number;
  list: (
    context: GraphContext,
    page: ListArgs<By>,
    where: ((node: Node) => boolean) | undefined,
    args: Record<string, unknown>,
  ) => Connection<Node> | Promise<Connection<Node>>;
}): GraphqlField {
  const { type, operation, description, where, order = NOUN_ORDER, list } = options;
  const edge = new GraphQLObjectType({
    name: `${type.name}Edge`,
    fields: { cursor: { type: required(Cursor) }, node: { type: required(type) } },
  });
  const connection = new GraphQLObjectType({
    name: `${type.name}Connection`,
    fields: {
      totalCount: { type: required(GraphQLInt), description: 'Number of objects in all pages.' },
      pageInfo: { type: required(PageInfo) },
      edges: { type: listType(edge) },
    },
  });
  return {
    type: required(connection),
    description,
    extensions: { isPaged: true, cost: options.cost },
    args: {
      ...options.args,
      first: {
        type: GraphQLInt,
        description: `0 to ${MAX_PAGE}. Defaults to ${DEFAULT_PAGE} if last is not given either.`,
      },
      after: { type: Cursor, description: 'pageInfo.endCursor of an earlier response: returns what follows it.' },
      last: { type: GraphQLInt, description: `0 to ${MAX_PAGE}: returns the last ones, in the same order.` },
      before: { type: Cursor, description: 'pageInfo.startCursor of an earlier response: returns what precedes it.' },
      where: { type: where.type },
      orderBy: { type: orderInput(type.name, order) },
    },
    resolve: (_source, args, context) => {
      context.allow(operation);
      const given = args as Given<By>;
      return list(context, pageArgs(given), where.test(given.where), args);
    },
  };
}

/** Builds a root field that reads one object by its id; null, with an error, if that fails. */
export const byIdField = <Record>(options: {
  type: GraphQLObjectType;
  operation: Operation;
  description: string;
  cost?: number;
  args?: GraphQLFieldConfig<unknown, GraphContext>['args'];
  get: (context: GraphContext, id: string, args: { [name: string]: unknown }) => Record | Promise<Record>;
}): GraphqlField => ({
  type: options.type,
  description: options.description,
  extensions: { cost: options.cost },
  args: { id: { type: required(GraphQLID) }, ...options.args },
  resolve: (_source, args, context) => {
    context.allow(options.operation);
    return options.get(context, String(args.id), args);
  },
});
