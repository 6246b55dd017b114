/** Relay connections for GraphQL (https://relay.dev/graphql/connections.htm) over the lists that services answer. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import { type Connection, DEFAULT_PAGE, MAX_PAGE, type PageArgs } from '../account/connection.ts';
import type { Operation, Principal } from '../auth/scopes.ts';
import { validationFailed } from '../errors.ts';

export type GraphContext = {
  principal: Principal;
  /** Throws `insufficient_scope` when the principal may not do it. */
  allow(operation: Operation): void;
};

export type Field = GraphQLFieldConfig<unknown, GraphContext>;

const textScalar = (name: string, description: string) =>
  new GraphQLScalarType<string, string>({
    name,
    description,
    coerceOutputValue: String,
    coerceInputValue: (value) => {
      if (typeof value === 'string') return value;
      throw new TypeError(`${name} must be a string.`);
    },
  });

export const Cursor = textScalar('Cursor', 'A place in a list. It stays right when things come and go around it.');
export const DateTime = textScalar('DateTime', 'A time as in RFC 3339, e.g. 2027-01-31T18:00:00Z.');

export const required = <T extends ConstructorParameters<typeof GraphQLNonNull>[0]>(type: T) =>
  new GraphQLNonNull(type);

const PageInfo = new GraphQLObjectType({
  name: 'PageInfo',
  fields: {
    hasNextPage: { type: required(GraphQLBoolean) },
    hasPreviousPage: { type: required(GraphQLBoolean) },
    startCursor: { type: Cursor },
    endCursor: { type: Cursor },
  },
});

/** `first` as GraphQL hands it over, checked. */
function pageArgs(args: { first?: number | null; after?: string | null }): PageArgs {
  const first = args.first ?? DEFAULT_PAGE;
  if (first < 1 || first > MAX_PAGE)
    throw validationFailed([{ path: '/first', message: `must be from 1 to ${MAX_PAGE}` }]);
  return { first, after: args.after };
}

/** A root field that lists nodes of `type`. `list` gets checked page arguments and `where` as it was given. */
export function connectionField<Node, Where = undefined>(options: {
  type: GraphQLObjectType;
  operation: Operation;
  description: string;
  where?: GraphQLInputObjectType;
  list: (context: GraphContext, args: PageArgs, where: Where | undefined) => Connection<Node>;
}): Field {
  const { type, operation, description, where, list } = options;
  const edge = new GraphQLObjectType({
    name: `${type.name}Edge`,
    fields: { cursor: { type: required(Cursor) }, node: { type: required(type) } },
  });
  const connection = new GraphQLObjectType({
    name: `${type.name}Connection`,
    fields: {
      totalCount: { type: required(GraphQLInt) },
      pageInfo: { type: required(PageInfo) },
      edges: { type: required(new GraphQLList(required(edge))) },
    },
  });
  return {
    type: required(connection),
    description,
    args: {
      first: { type: GraphQLInt, default: { value: DEFAULT_PAGE }, description: `1 to ${MAX_PAGE}.` },
      after: { type: Cursor, description: 'pageInfo.endCursor of an earlier answer.' },
      ...(where ? { where: { type: where } } : {}),
    },
    resolve: (_source, args, context) => {
      context.allow(operation);
      const { where: filter } = args as { where?: Where | null };
      return list(context, pageArgs(args), filter ?? undefined);
    },
  };
}

/** A root field that reads one thing by its id. */
export const byIdField = <Node>(options: {
  type: GraphQLObjectType;
  operation: Operation;
  get: (context: GraphContext, id: string) => Node;
}): Field => ({
  type: required(options.type),
  args: { id: { type: required(GraphQLString) } },
  resolve: (_source, args, context) => {
    context.allow(options.operation);
    return options.get(context, String(args.id));
  },
});
