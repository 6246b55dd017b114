/**
 * Parses texts that programs wrote for programs: annotations, termination messages of containers, files. Pure: no I/O,
 * no clock.
 */
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';

/** Parses a JSON text; undefined when there is none, it is no JSON, or `schema` refuses it. */
export function parseAs<T extends TSchema>(schema: T, text: string | undefined): Static<T> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(schema, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
