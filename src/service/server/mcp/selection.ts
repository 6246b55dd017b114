/**
 * Reads which tools a client wants, from the query of the address: `/mcp?toolsets=streams,uploads&readOnly=true`. A model with fewer tools
 * chooses better, and a client that only reads cannot be talked into a change. Pure: no I/O, no clock.
 */
import { validationFailed } from '../../lib/errors.ts';
import type { Tool } from './tool.ts';

export interface ToolSelection {
  /** Undefined selects all. */
  toolsets: ReadonlySet<string> | undefined;
  readOnly: boolean;
}

const readOne = (value: unknown): string | undefined =>
  value === undefined ? undefined : (Array.isArray(value) ? value : [value]).join(',');

/** Throws `validation_failed` with the list of what is allowed. Other parameters are ignored. */
export function readSelection(query: unknown, known: readonly string[]): ToolSelection {
  const { toolsets, readOnly = 'false' } = (query ?? {}) as Record<string, unknown>;
  const named = readOne(toolsets)
    ?.split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const mistakes = [
    ...(named && (named.length === 0 || named.some((name) => !known.includes(name)))
      ? [{ path: '/toolsets', message: `must be a list of these names, separated by commas: ${known.join(', ')}` }]
      : []),
    ...(readOnly === 'true' || readOnly === 'false' ? [] : [{ path: '/readOnly', message: 'must be true or false' }]),
  ];
  if (mistakes.length > 0) throw validationFailed(mistakes);
  return { toolsets: named && new Set(named), readOnly: readOnly === 'true' };
}

export const isSelected = ({ toolsets, readOnly }: ToolSelection, { toolset, listed }: Tool): boolean =>
  (toolsets?.has(toolset) ?? true) && (!readOnly || listed.annotations?.readOnlyHint === true);
