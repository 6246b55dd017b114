/**
 * What graphql-js says of a request, made fit for clients: it repeats values that it does not understand, and one of them
 * may be a stream key; and it tells which part of a variable is wrong only in words. Pure: no I/O, no clock.
 */
import type { FieldError } from '../../lib/errors.ts';

/** Where graphql-js repeats a value, and what is left of the sentence. */
const VALUES: readonly [RegExp, string][] = [
  [/[,;.]? found: .*$/is, ''],
  [/( cannot represent [^:]*value): .*$/s, '$1.'],
  [/Value ".*" does not exist in/s, 'The value does not exist in'],
  [/\b((?:Block)?String) ".*"/s, '$1'],
  // The words of graphql-http, which say nothing of what to do.
  [
    /^Unable to detect operation AST$/,
    'The query has no operation with this name. Set `operationName` to one of its operations, or leave it out if there is only one.',
  ],
];

export const withoutValues = (message: string): string =>
  VALUES.reduce((text, [pattern, rest]) => text.replace(pattern, rest), message);

const VARIABLE = /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (.*)$/s;
/** The sentences of REST for the same mistakes. */
const FIELDS: readonly [RegExp, string][] = [
  [/ not to include unknown field "([^"]*)"/, 'is not known'],
  [/ to include required field "([^"]*)"/, 'is required'],
];

/** A variable that is not of its type: which part of it, as a JSON pointer into the variables. Takes no values with it. */
export function variableErrors(message: string): FieldError[] | undefined {
  const [, name, within = '', problem] = VARIABLE.exec(message) ?? [];
  if (name === undefined || problem === undefined) return undefined;
  const path = `/${name}${within.replace(/\.|\[(\d+)\]/g, (_part, index) => `/${index ?? ''}`)}`;
  for (const [pattern, sentence] of FIELDS) {
    const field = pattern.exec(problem)?.[1];
    if (field !== undefined) return [{ path: `${path}/${field}`, message: sentence }];
  }
  return [{ path, message: withoutValues(problem) }];
}
