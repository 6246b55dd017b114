/**
 * Builds the results of tools in MCP's form: structured output for programs, and text for other clients. A failure is a result too,
 * so that an agent can correct its call (MCP, Tools, "Error Handling"). Pure: no I/O, no clock.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ReadinessIssue } from '../../domain/streams/record.ts';
import type { AppError, FieldError } from '../../lib/errors.ts';
import { toProblem } from '../http/problem.ts';
import { nextStep } from './advice.ts';
import type { Answer } from './tool.ts';

const text = (content: string) => ({ type: 'text' as const, text: content });

/** Repeats the JSON as text: clients may not support structured content (MCP, Tools, "Structured Content"). */
export const success = ({ output, sentence }: Answer): CallToolResult => ({
  content: [text(sentence), text(JSON.stringify(output))],
  structuredContent: output,
});

const lines = ({ errors = [], issues = [] }: { errors?: FieldError[]; issues?: ReadinessIssue[] }): string[] => [
  ...errors.map(({ path, message }) => `- ${path || 'arguments'} ${message}`),
  ...issues.map(({ message, fix }) => `- ${message} ${fix}`),
];

/** Key of the problem document in a failed result, for programs (MCP, Basic, "_meta"). */
export const PROBLEM_META = 'loopstream.dev/problem';

/**
 * Builds the result of a failed call. Its text is complete for an agent. `_meta` contains REST's problem document, with the next
 * tool as `fix`. It has no `structuredContent`: that must match the tool's output schema, and clients that validate it would show
 * their own error in place of the text.
 */
export function failure(error: AppError): CallToolResult {
  const { title, detail, ...problem } = toProblem(error);
  const fix = nextStep(error.code);
  const details = lines(problem);
  const summary = details.length > 0 ? [`${title}:`, ...details] : [`${title}: ${detail}`];
  return {
    isError: true,
    content: [text([...summary, `Code: ${error.code}`, fix].join('\n'))],
    _meta: { [PROBLEM_META]: { title, detail, ...problem, fix } },
  };
}
