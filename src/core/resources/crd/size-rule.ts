/**
 * Writes the CEL expression that measures a value about as JSON.stringify does: bounds of single texts and lists multiply, and their
 * product is no bound. Pure: no I/O, no clock.
 *
 * https://kubernetes.io/docs/reference/using-api/cel/
 */
import type { Structural } from './schema.ts';

/** Quotes and a comma of a text; brackets and a comma of a list or an object. */
const AROUND = 3;
/** Quotes, a colon and a comma of a member's name. */
const AROUND_NAME = 4;
/** A number, `true` or `false`. */
const SHORT = 8;

/** Returns an expression for the characters of the value of `schema` at `value`. `depth` keeps the variables of macros apart. */
export function measureText(schema: Partial<Structural>, value: string, depth = 0): string {
  const each = `v${depth}`;
  const sumOf = (size: string) => `${value}.map(${each}, ${size}).sum() + ${AROUND}`;
  if (schema['x-kubernetes-int-or-string']) return String((schema.maxLength ?? 0) + AROUND);
  if (schema.enum) return String(Math.max(...schema.enum.map((one) => String(one).length)) + AROUND);
  if (schema.type === 'string') return `${value}.size() + ${AROUND}`;
  if (schema.items) return sumOf(measureText(schema.items, each, depth + 1));
  if (schema.additionalProperties) {
    const inner = measureText(schema.additionalProperties, `${value}[${each}]`, depth + 1);
    return sumOf(`${each}.size() + ${AROUND_NAME} + ${inner}`);
  }
  if (!schema.properties) return String(SHORT);
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const size = `${name.length + AROUND_NAME} + ${measureText(member, `${value}.${name}`, depth)}`;
    return schema.required?.includes(name) ? size : `(has(${value}.${name}) ? ${size} : 0)`;
  });
  return [...members, String(AROUND)].join(' + ');
}
