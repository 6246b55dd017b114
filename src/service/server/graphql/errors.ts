/**
 * Rewrites the errors of graphql-js for clients. Its messages repeat invalid values, which may be a stream key, and name the
 * invalid part of a variable only in prose. Pure: no I/O, no clock.
 */
import type { FieldError } from '../../lib/errors.ts';

/** Replaces what is between the first `begin` and the last `end`, and these. */
const replaceBetween = (begin: string, end: string, rest: string) => (message: string) => {
  const [from, to] = [message.indexOf(begin), message.lastIndexOf(end)];
  if (from < 0 || to < from + begin.length) return message;
  return message.slice(0, from) + rest + message.slice(to + end.length);
};

/** Patterns of repeated values, which are as long as a request, and their replacements. */
const VALUES: readonly [RegExp, string][] = [
  [/[,;.]? found: .*$/is, ''],
  [/( cannot represent [^:]{0,100}value): .*$/s, '$1.'],
  // The message of graphql-http does not say how to fix the request.
  [
    /^Unable to detect operation AST$/,
    'The query has no operation with this name. Set `operationName` to one of its operations, or leave it out if there is only one.',
  ],
];

const withoutName = replaceBetween('Value "', '" does not exist in', 'The value does not exist in');
const withoutText = replaceBetween('String "', '"', 'String');

export const withoutValues = (message: string): string =>
  VALUES.reduce((text, [pattern, rest]) => text.replace(pattern, rest), withoutText(withoutName(message)));

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
