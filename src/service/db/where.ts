/** Turns the conditions of a list, as GraphQL's `where` has them, to SQL. Pure: no I/O, no clock. */
import { type RawBuilder, sql } from 'kysely';

/** Conditions on rows: all that are given must hold; null equals left out. */
export type RowWhere = { [field: string]: unknown };
/** The column of each field that may be asked for. */
export type WhereColumns = Readonly<Record<string, RawBuilder<unknown>>>;

const OPERATORS: Record<string, string> = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' };

const joined = (parts: readonly RawBuilder<unknown>[], word: 'and' | 'or'): RawBuilder<unknown> =>
  parts.length > 0 ? sql`(${sql.join(parts, sql.raw(` ${word} `))})` : sql.raw(String(word === 'and'));

function condition(column: RawBuilder<unknown>, operator: string, wanted: unknown): RawBuilder<unknown> {
  if (operator === 'isNull') return sql`(${column} is null) = ${wanted}`;
  if (operator === 'in') return sql`coalesce(${column} = any (${wanted}::text[]), false)`;
  return sql`coalesce(${column} ${sql.raw(OPERATORS[operator] ?? '=')} ${wanted}, false)`;
}

const isGiven = ([, value]: [string, unknown]): boolean => value !== null && value !== undefined;

/** GraphQL's schema admits no field that is not in `columns`. */
export function compileWhere(where: RowWhere, columns: WhereColumns): RawBuilder<unknown> {
  const parts = Object.entries(where)
    .filter(isGiven)
    .map(([field, asked]) => {
      if (field === 'and' || field === 'or')
        return joined(
          (asked as RowWhere[]).map((one) => compileWhere(one, columns)),
          field,
        );
      if (field === 'not') return sql`not ${compileWhere(asked as RowWhere, columns)}`;
      const column = columns[field];
      const operators = column ? Object.entries(asked as object).filter(isGiven) : [];
      return joined(
        operators.map(([operator, wanted]) => condition(column as RawBuilder<unknown>, operator, wanted)),
        'and',
      );
    });
  return joined(parts, 'and');
}
