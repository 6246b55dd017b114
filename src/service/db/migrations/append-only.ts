/** Makes a table append-only, for every writer: with triggers and with rights. Pure: no I/O, no clock. */

/**
 * A trigger's function that refuses with LS001. `sentence` is one of PL/pgSQL's `raise`, whose each % is the next of `values`
 * (expressions).
 */
export const refusal = (name: string, sentence: string, ...values: string[]): string =>
  `create function loopstream.${name}() returns trigger language plpgsql as $$
  begin
    raise exception '${sentence}', ${values.join(', ')} using errcode = 'LS001';
  end $$`;

/** Nothing in the table is changed or taken away: a trigger of this name, which calls the function, sees to it. */
export const addedToOnly = (table: string, trigger: string, refuse: string): string[] => [
  // By statement: TRUNCATE has no rows.
  `create trigger ${trigger} before update or delete or truncate on loopstream.${table}
    for each statement execute function loopstream.${refuse}()`,
  `alter table loopstream.${table} enable always trigger ${trigger}`,
  `revoke update, delete, truncate on loopstream.${table} from public`,
];
