/** Reads what GraphQL needs of a noun’s table of fields: its enums and its filters. Pure: no I/O, no clock. */
import type { GraphQLEnumType } from 'graphql';
import type { FieldTable } from '../../lib/fields.ts';
import { enumType } from './scalars.ts';

/** Returns the enums by the names of their fields: `StreamQuality` for the field `quality` of a stream, unless its line says otherwise. */
export function enumTypes(noun: string, table: FieldTable): Record<string, GraphQLEnumType> {
  const types = Object.entries(table).flatMap(([name, { output, graphqlType }]) => {
    const { enum: values, description } = output as { enum?: readonly string[]; description?: string };
    const title = graphqlType ?? `${noun}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return values ? [[name, enumType(title, values, description)] as const] : [];
  });
  return Object.fromEntries(types);
}

/** Returns the names of the fields that lists can be filtered by. */
export const filterNames = (table: FieldTable): string[] =>
  Object.entries(table).flatMap(([name, { isFilter }]) => (isFilter === false ? [] : [name]));
