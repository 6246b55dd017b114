/** Writes the table of tools in docs/agents.md from their descriptions for clients; the rest is written by hand. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Tool } from '../../src/service/server/mcp/tool.ts';
import { describedTools } from '../../src/service/server/mcp/tools.ts';
import { OPERATION_SCOPES } from '../../src/service/server/operations/scopes.ts';

const BEGIN = '<!-- Tools: made by `make generate`; a test fails when they are not current. -->';
const END = '<!-- End of the tools. -->';

const describeEffects = ({ listed: { annotations = {} } }: Tool): string =>
  [
    annotations.readOnlyHint && 'reads only',
    annotations.destructiveHint && 'takes away',
    !annotations.readOnlyHint && annotations.idempotentHint && 'safe to repeat',
    annotations.openWorldHint && 'reaches others',
  ]
    .filter(Boolean)
    .join(', ');

const listScopes = ({ operations }: Tool): string =>
  [...new Set(operations.map((operation) => `\`${OPERATION_SCOPES[operation]}\``))].join(', ');

function table(): string {
  const head = ['tool', 'what it does', 'scope', 'effects'];
  const rows = [...describedTools().values()].map((tool) => [
    `\`${tool.name}\``,
    tool.listed.title ?? '',
    listScopes(tool),
    describeEffects(tool),
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]?.length ?? 0)));
  return [head, widths.map((width) => '-'.repeat(width)), ...rows]
    .map((cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`)
    .join('');
}

/** The document with the tools as they now are. */
export function withTools(document: string): string {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('docs/agents.md has no markers for the table of tools.');
  return `${document.slice(0, begin)}${BEGIN}\n\n${table()}\n${document.slice(end)}`;
}

export async function generateAgents(path: string): Promise<void> {
  await writeFile(path, withTools(await readFile(path, 'utf8')));
}
