/**
 * Filters GraphQL lists by `where`: defines the input of each field and tests records. All conditions must hold; null counts as
 * missing. Pure: no I/O, no clock.
 */
import {
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  GraphQLString,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
} from 'graphql';
import { memoize } from '../../../core/lib/memoize.ts';
import { validationFailed } from '../../lib/errors.ts';
import { DateTime } from './scalars.ts';

/** Conditions in one `where`, counting each value of `in`: each runs for every record. */
export const MAX_CONDITIONS = 100;

type Asked = Record<string, unknown>;

/** Operators of conditions; `value` is the field's, null if it has none. */
const OPERATORS: Record<string, (wanted: never, value: never) => boolean> = {
  eq: (wanted: unknown, value: unknown) => value === wanted,
  in: (wanted: unknown[], value: unknown) => wanted.includes(value),
  isNull: (wanted: boolean, value: unknown) => (value === null) === wanted,
  contains: (wanted: string, value: string) => value.toLowerCase().includes(wanted.toLowerCase()),
  has: (wanted: unknown, value: unknown[]) => value.includes(wanted),
  gt: (wanted: number, value: number) => value > wanted,
  gte: (wanted: number, value: number) => value >= wanted,
  lt: (wanted: number, value: number) => value < wanted,
  lte: (wanted: number, value: number) => value <= wanted,
};

const listType = (type: GraphQLScalarType | GraphQLEnumType) => new GraphQLList(new GraphQLNonNull(type));

function filter(name: string, description: string, types: Record<string, GraphQLInputType>): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description,
    fields: Object.fromEntries(Object.entries(types).map(([operator, type]) => [operator, { type }])),
  });
}

const range = (type: GraphQLScalarType) => ({ eq: type, gt: type, gte: type, lt: type, lte: type });

export const IDFilter = filter('IDFilter', 'Conditions on an id.', {
  eq: GraphQLID,
  in: listType(GraphQLID),
  isNull: GraphQLBoolean,
});
export const IDListFilter = filter('IDListFilter', 'Conditions on a list of ids.', { has: GraphQLID });
export const TextFilter = filter('TextFilter', 'Conditions on a string. `contains` is case-insensitive.', {
  eq: GraphQLString,
  in: listType(GraphQLString),
  contains: GraphQLString,
});
export const NumberFilter = filter('NumberFilter', 'Conditions on a number. Null is neither greater nor less.', {
  ...range(GraphQLFloat),
  isNull: GraphQLBoolean,
});
export const TimeFilter = filter('TimeFilter', 'Conditions on a time. Null is neither before nor after.', {
  ...range(DateTime),
  isNull: GraphQLBoolean,
});
export const FlagFilter = filter('FlagFilter', 'Conditions on a boolean.', { eq: GraphQLBoolean });
export const enumFilter = memoize(
  (type: GraphQLEnumType): GraphQLInputObjectType =>
    filter(`${type.name}Filter`, `Conditions on a ${type.name}.`, { eq: type, in: listType(type) }),
);

/** Filters by field name; `value` reads a field that the record has under another name. */
export interface WhereFields<T> {
  [name: string]: { type: GraphQLInputObjectType; value?: (record: T) => unknown };
}

const SCALAR_FILTERS: Readonly<Record<string, GraphQLInputObjectType>> = {
  ID: IDFilter,
  String: TextFilter,
  Int: NumberFilter,
  Float: NumberFilter,
  Boolean: FlagFilter,
  DateTime: TimeFilter,
};

function findFilter(type: GraphQLOutputType): GraphQLInputObjectType | undefined {
  const plain = getNullableType(type);
  if (isListType(plain)) return getNamedType(plain) === GraphQLID ? IDListFilter : undefined;
  return isEnumType(plain) ? enumFilter(plain) : SCALAR_FILTERS[getNamedType(plain).name];
}

/** Returns the filters of the fields of `type` that are in `names`. Objects have none. */
export function filtersOf<T>(type: GraphQLObjectType<T>, names: readonly string[]): WhereFields<T> {
  const fields = type.getFields();
  return Object.fromEntries(
    names.flatMap((name) => {
      const filter = fields[name] && findFilter(fields[name].type);
      return filter ? [[name, { type: filter }]] : [];
    }),
  );
}

export interface Where<T> {
  type: GraphQLInputObjectType;
  /** Builds the test of an input. Throws `validation_failed` if it has too many conditions. */
  test(input: Asked | null | undefined): ((record: T) => boolean) | undefined;
}

export function whereInput<T>(name: string, fields: WhereFields<T>): Where<T> {
  const type: GraphQLInputObjectType = new GraphQLInputObjectType({
    name,
    description: 'All given conditions must hold.',
    fields: () => ({
      and: { type: new GraphQLList(new GraphQLNonNull(type)), description: 'All of these conditions must hold.' },
      or: {
        type: new GraphQLList(new GraphQLNonNull(type)),
        description: 'At least one of these conditions must hold. An empty list matches nothing.',
      },
      not: { type, description: 'This condition must not hold.' },
      ...Object.fromEntries(Object.entries(fields).map(([field, { type: filter }]) => [field, { type: filter }])),
    }),
  });

  const holds = (asked: Asked, record: T): boolean =>
    Object.entries(asked).every(([key, wanted]) => {
      if (wanted === null || wanted === undefined) return true;
      if (key === 'and') return (wanted as Asked[]).every((one) => holds(one, record));
      if (key === 'or') return (wanted as Asked[]).some((one) => holds(one, record));
      if (key === 'not') return !holds(wanted as Asked, record);
      const field = fields[key];
      const value = field?.value ? field.value(record) : (record as Asked)[key];
      const isTime = field?.type === TimeFilter;
      return Object.entries(wanted as Asked).every(([operator, operand]) =>
        compare(operator, isTime ? time(operand) : operand, isTime ? time(value) : value),
      );
    });

  return {
    type,
    test(input) {
      if (!input) return undefined;
      if (count(input) > MAX_CONDITIONS)
        throw validationFailed([{ path: '/where', message: `must have at most ${MAX_CONDITIONS} conditions` }]);
      return (record) => holds(input, record);
    },
  };
}

function compare(operator: string, wanted: unknown, value: unknown): boolean {
  if (wanted === null || wanted === undefined) return true;
  if (value === null && operator !== 'isNull') return false;
  return OPERATORS[operator]?.(wanted as never, value as never) ?? false;
}

/** Times have several notations; only their instant counts. */
const time = (value: unknown): unknown => (typeof value === 'string' ? Date.parse(value) : value);

const count = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.values(value).reduce((sum, part) => sum + count(part), 1) : 1;
