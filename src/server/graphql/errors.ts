/**
 * Rewrites the errors of graphql-js for clients. Its messages repeat invalid values, which may be a stream key, and name the
 * invalid part of a variable only in prose. Pure: no I/O, no clock.
 */
import type { FieldError } from '../../lib/errors.ts';

/** Patterns of repeated values, and their replacements. */
const VALUES: readonly [RegExp, string][] = [
  [/[,;.]? found: .*$/is, ''],
  [/( cannot represent [^:]*value): .*$/s, '$1.'],
  [/Value ".*" does not exist in/s, 'The value does not exist in'],
  [/\b((?:Block)?String) ".*"/s, '$1'],
  // The message of graphql-http does not say how to fix the request.
  [
    /^Unable to detect operation AST$/,
    'The query has no operation with this name. Set `operationName` to one of its operations, or leave it out if there is only one.',
  ],
];

export const withoutValues = (message: string): string =>
  VALUES.reduce((text, [pattern, rest]) => text.replace(pattern, rest), message);

const VARIABLE = /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (.*)$/s;
/** REST's messages for the same mistakes. */
const FIELDS: readonly [RegExp, string][] = [
  [/ not to include unknown field "([^"]*)"/, 'is not known'],
  [/ to include required field "([^"]*)"/, 'is required'],
];

/** Returns the invalid part of a variable as a JSON pointer, without its value. */
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
